"""Questions and their answers: a frozen dataclass a result, and what computes it.

Invariant: nothing here knows an option or prints; what is worth knowing beside an
answer is told to the question (`Question.tell`).
"""
