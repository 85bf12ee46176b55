"""The words and signs of the language, and what to type instead of foreign ones.

Every table here is data for the tokenizer and the parser; neither holds a sign or a
word of its own.

    FOREIGN_CHARACTERS["×"]      # "*"
    FOREIGN_WORDS["lambda"]      # what to do without it
"""

KEYWORDS = frozenset(
    "if elif else for in while break continue pass with and or not True False None"
    " def class import from lambda return yield try except finally raise assert"
    " global nonlocal del async await is as".split()
)

AUGMENTED = {
    "+=": "+",
    "-=": "-",
    "*=": "*",
    "/=": "/",
    "//=": "//",
    "%=": "%",
    "**=": "**",
    "@=": "@",
}

SAME_SIGN = {"^": "**", "^=": "**="}

CLOSING = {"(": ")", "[": "]"}

PREFIXES = frozenset(
    {
        ("F",),
        ("functional",),
        ("math",),
        ("nn", "functional"),
        ("np",),
        ("np", "random"),
        ("numpy",),
        ("numpy", "random"),
        ("special",),
        ("torch",),
        ("torch", "functional"),
        ("torch", "nn", "functional"),
        ("torch", "random"),
        ("torch", "special"),
    }
)
PREFIX_HEADS = frozenset(path[0] for path in PREFIXES) | {"linalg"}
DOTTED = "linalg"

GRAD_MODES = {"no_grad": False, "enable_grad": True, "inference_mode": False}

FOREIGN_WORDS = {
    "def": "write the body where it is used: functions cannot be defined here",
    "class": "classes cannot be defined here; use 'import gradcli' from Python",
    "import": "drop it: every function is already there",
    "from": "drop it: every function is already there",
    "lambda": "write its body where it is used; a variable can be called 'lam'",
    "return": "end with the value itself, or name it with --of",
    "yield": "end with the value itself",
    "try": "there are no exceptions to catch: the first error ends the program",
    "except": "there are no exceptions to catch",
    "finally": "there are no exceptions to catch",
    "raise": "drop it: the first error ends the program",
    "assert": "drop it, or end with the condition itself",
    "global": "drop it: all names are global",
    "nonlocal": "drop it: all names are global",
    "del": "drop it: values are freed when the program ends",
    "async": "drop it: a program runs from top to bottom",
    "await": "drop it: a program runs from top to bottom",
    "is": "write '==' instead",
    "as": "drop it: names are given with '='",
    "in": "only 'for name in ...' uses it",
}

FOREIGN_SIGNS = {
    "===": "write '=='",
    "<>": "write '!='",
    "=<": "write '<='",
    "=>": "write '>='",
    ":=": "write 'name = value' as a statement of its own",
    "->": "drop it",
    "&&": "write 'and'",
    "||": "write 'or'",
    "<<": "write '*2**n'",
    ">>": "write '//2**n'",
    "&": "write 'and'; for masks multiply them: (a > 0)*(b > 0)",
    "|": "write 'or'; an absolute value is abs(x)",
    "~": "write 'not'; for a mask write 'mask == 0'",
    "!": "write 'not'; a factorial is exp(lgamma(n + 1))",
    "{": "write a list: [ ... ]",
    "}": "write a list: [ ... ]",
    "$": "drop it: names are written without a sign",
    "?": "write 'a if condition else b'",
    "`": "drop it",
    "\\": "only at the end of a line, to continue on the next",
}

_SUPERSCRIPTS = {digit: f"**{value}" for value, digit in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}
_SUBSCRIPTS = {digit: f"_{value}" for value, digit in enumerate("₀₁₂₃₄₅₆₇₈₉")}

FOREIGN_CHARACTERS = {
    **_SUPERSCRIPTS,
    **_SUBSCRIPTS,
    **dict.fromkeys("−–—‐‑‒﹣－", "-"),
    **dict.fromkeys("×·⋅∙∗•＊", "*"),
    **dict.fromkeys("÷∕⁄／", "/"),
    **dict.fromkeys("“”„«»″＂", '"'),
    **dict.fromkeys("‘’‚′＇", "'"),
    **dict.fromkeys("≤⩽≦", "<="),
    **dict.fromkeys("≥⩾≧", ">="),
    **dict.fromkeys("\u00a0\u2002\u2003\u2007\u2009\u202f\u3000", "an ordinary space"),
    **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff", "nothing: delete it"),
    "≠": "!=",
    "＝": "=",
    "＋": "+",
    "（": "(",
    "）": ")",
    "［": "[",
    "］": "]",
    "，": ",",
    "：": ":",
    "；": ";",
    "．": ".",
    "＜": "<",
    "＞": ">",
    "…": "...",
    "∞": "inf",
    "√": "sqrt(...)",
    "∑": "sum(...)",
    "∏": "prod(...)",
    "∧": "and",
    "∨": "or",
    "¬": "not",
    "⊙": "*",
    "⊤": ".T",
    "ᵀ": ".T",
}

STRING_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", "'": "'", '"': '"'}
