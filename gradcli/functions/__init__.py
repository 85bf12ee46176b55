"""Work on users' Python: functions are verified, and PyTorch scripts are run.

Invariant: a function runs unchanged on the checker's number systems, because tensors
carry theirs. Only this room executes users' files, and only files named to it.
"""
