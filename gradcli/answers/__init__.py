"""Questions and their answers: frozen dataclasses, functions that compute them, and
functions that yield their lines.

Invariants: what is wrong with a program, a value or an option is a `ProgramError`,
raised where it is found. A function that yields lines computes no value; user text
reaches a terminal only with its control characters escaped and never through markup.
"""
