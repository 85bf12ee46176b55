"""What is done with people's Python: functions are verified, PyTorch's scripts are run.

Invariant: a function is run on the checker's number systems because tensors carry their
own; its text is never rewritten. Files are executed here alone, and only by name.
"""
