"""Writes the type stubs: of the table's functions, and of what is declared by a line.

Invariant: names, parameters and results are read from the table and from the signatures
of what was made; a stub is never edited by hand.

    python -m gradcli.stubs             # write them anew
    python -m gradcli.stubs --check     # exit 1 if one is not what it should be
"""
