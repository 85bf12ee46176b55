"""The command line: each command parses, calls the library, and passes a view to a
renderer.

Invariant: importing a command's module imports neither NumPy nor SymPy nor rich; what
a command needs is imported when it runs.
"""
