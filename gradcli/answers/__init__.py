"""Questions and their answers: frozen dataclasses, and functions that compute them.

Invariant: what is wrong with a program, a value or an option is a `ProgramError`,
raised where it is found.
"""
