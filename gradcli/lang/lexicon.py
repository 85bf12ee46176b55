"""The words and signs of the language, and replacements for foreign ones.

Every table here is data for the tokenizer and the parser, which define no words and
signs themselves.

    FOREIGN_CHARACTERS["×"]      # "*"
    FOREIGN_WORDS["lambda"]      # what to do without it
"""

import re

KEYWORDS = frozenset(
    {
        *("if", "elif", "else", "for", "in", "while", "break", "continue", "pass"),
        *("with", "and", "or", "not", "True", "False", "None"),
        *("def", "class", "import", "from", "lambda", "return", "yield", "try"),
        *("except", "finally", "raise", "assert", "global", "nonlocal", "del"),
        *("async", "await", "is", "as"),
    }
)

AUGMENTED = {f"{sign}=": sign for sign in ("+", "-", "*", "/", "//", "%", "**", "@")}

SAME_SIGN = {
    "^": "**",
    "^=": "**=",
    **dict.fromkeys("−–—‐‑‒﹣－", "-"),
    **dict.fromkeys("×·⋅∙∗•＊⊙✕✖⨯", "*"),
    **dict.fromkeys("÷∕⁄／", "/"),
    **dict.fromkeys("≤⩽≦", "<="),
    **dict.fromkeys("≥⩾≧", ">="),
    "≠": "!=",
    **dict(zip("＝＋（）［］，：；．＜＞", "=+()[],:;.<>", strict=True)),
}
"""Operators, by other signs for them that books and word processors use."""

ROOTS = {"√": "sqrt", "∛": "cbrt"}
"""Names of functions, by the signs that call them on the operand that follows."""

BAR = "|"
"""Sign on both sides of the operand of an absolute value."""

SIGNS_OF_NAMES = {"∞": "inf"}

BLANKS = "\u00a0\u2002\u2003\u2007\u2009\u202f\u3000\u200b\u200c\u200d\u2060\ufeff"
"""Characters of word processors that are as blank as a space."""

SUPERSCRIPTS = {"⁻": "-", "⁺": "+"} | {
    digit: str(value) for value, digit in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")
}

CLOSING = {"(": ")", "[": "]"}

DOTTED = frozenset({"linalg", "masked"})

GRAD_MODES = {"no_grad": False, "enable_grad": True, "inference_mode": False}

FOREIGN_WORDS = {
    "def": "a function is defined by a statement: def f(x): return x**2",
    "class": "classes cannot be defined here; use 'import gradcli' from Python",
    "import": "drop it: every function is already there",
    "from": "drop it: every function is already there",
    "lambda": "give it a name: f = lambda x: x**2",
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

FOREIGN_SIGNS: dict[str, tuple[str, str | None]] = {
    "===": ("write '=='", "=="),
    "<>": ("write '!='", "!="),
    "=<": ("write '<='", "<="),
    "=>": ("write '>='", ">="),
    ":=": ("write 'name = value' as a statement of its own", "="),
    "->": ("drop it", None),
    "&&": ("write 'and'", None),
    "||": ("write 'or'; a norm is norm(x)", None),
    "<<": ("write '*2**n'", None),
    ">>": ("write '//2**n'", None),
    "&": ("write 'and'; for masks multiply them: (a > 0)*(b > 0)", None),
    "|": ("write 'or'; an absolute value is abs(x)", None),
    "~": ("write 'not'; for a mask write 'mask == 0'", None),
    "!": ("write 'not'; a factorial is factorial(n)", None),
    "!!": (
        "write 2**(n/2)*factorial(n/2) for an even n, "
        "factorial(n)/(2**((n - 1)/2)*factorial((n - 1)/2)) for an odd n",
        None,
    ),
    "{": ("write a list: [ ... ]", None),
    "}": ("write a list: [ ... ]", None),
    "$": ("drop it: names are written without a sign", ""),
    "?": ("write 'a if condition else b'", None),
    "`": ("drop it", ""),
    "\\": ("only at the end of a line, to continue on the next", None),
}
"""Hints by signs of other languages, each with the language's own sign for it: empty if
it means nothing, None if no sign alone can take its place."""

DERIVATIVE = re.compile(
    r"\s*+(?:[d∂]\s*+(?P<output>\w*+)\s*/\s*[d∂]\s*\w+"
    r"|(?:the )?(?:derivative|gradient|slope)\s+of\b"
    r"|(?:differentiate|derive|evaluate|compute|calculate|plot)\b)\s*"
)
"""Pattern of words and signs that ask for a derivative or a value, before a formula or
on the left of a claim."""

MISPLACED = {
    "=": "to compare, write '=='",
    "for": "write x^2 if x > 0 else 0; a value x=3 is written outside the quotes",
}
"""Hints by signs and words that cannot stand behind a whole expression."""

CONDITIONAL = frozenset(
    {"for", "if", "when", "für", "fuer", "wenn", "falls", "pour", "si", "lorsque",
     "quand", "para", "cuando"}
)  # fmt: skip
"""Words between a formula and the condition that it holds under."""

OTHERWISE = ("otherwise", "else", "sonst", "sinon")
"""Words beside the formula that holds where no condition does."""

WORDS_BETWEEN = {
    **dict.fromkeys(("mod", "rem"), "%"),
    "div": "//",
    "times": "*",
    "over": "/",
    "plus": "+",
    "minus": "-",
}
"""Operators, by words that stand for them between operands."""

BESIDE = frozenset({"where", "at", "when", "given"})
"""Words that precede the value of an input, as in `x^2 where x=3`."""

NO_PRODUCTS = frozenset(
    {
        *("km", "cm", "mm", "nm", "kg", "lb", "oz", "ft", "ms", "hz", "pa", "ml"),
        *("db", "kb", "mb", "gb", "lr", "of", "to", "at", "by", "on", "an", "it"),
        *("we", "be", "do", "so", "no", "up", "he", "me", "my", "us", "am", "go"),
    }
)
"""Units and words of two letters, which are no products of variables."""

_LINE_BREAK = r"\\n(?!(?:abla|u|e|eq|eg|ot|otin|i|ewline|onumber)\b)"
"""Pattern of ``\\n`` written as two characters, unless it begins a LaTeX command."""

BROKEN_LINE = "\\n ends no line"

FOREIGN_PHRASES = (
    (_LINE_BREAK, BROKEN_LINE, "write ';', or press Enter inside the quotes"),
    (r"\\[A-Za-z]+|\\\||(?<=[\^_])\{", "LaTeX is not read here", "write sqrt(x)"),
    (r"\\\s*\Z", "nothing follows to be joined to this line", "delete it"),
    (r"```\w*", "a fence of Markdown is not part of a program", "leave its lines out"),
    (r">>>", "a prompt is not part of a program", "leave it out"),
    (r"∫", "integrals are not computed", "write what is integrated, to derive it"),
    (
        r"∇(?=\s*[^\W\d_])",
        "a gradient is that of a function of named inputs",
        "define f(x, y) = ... before it, or ask gradcli grad for all gradients",
    ),
    (
        r"[∂∇]",
        "derivatives are written as functions",
        "as in diff(f, x), div(F), curl(F) or lap(f)",
    ),
    (r"′", "a prime is not part of a name", "write it in letters: x_prime"),
)
"""Triples of a pattern, the message for text that matches it, and the hint; the first
pattern that matches counts."""

FOREIGN_CHARACTERS = {
    **dict.fromkeys("“”„«»″＂", '"'),
    **dict.fromkeys("‘’‚＇", "'"),
    **dict(zip("…⌊⌈⌋⌉‖∣∑∏∧∨¬⊤ᵀ°¶", (
        *("...", "floor(", "ceil(", ")", ")", "||", "|", "sum(...)", "prod(...)"),
        *("and", "or", "not", ".T", ".T", "*pi/180", "pi"),
    ), strict=True)),
}  # fmt: skip
"""Spellings in the language, by signs that it does not read."""

LOOKALIKES = dict(
    zip(
        "асеіјорѕухһԁАВЕІЈКМНОРЅСТХУΑΒΕΖΗΙΚΜΝΟΡΤΥΧονϲ",
        "aceijopsyxhdABEIJKMHOPSCTXYABEZHIKMNOPTYXovc",
        strict=True,
    )
)
"""Latin letters, by the Cyrillic and Greek letters that look like them."""

STRING_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", "'": "'", '"': '"'}

CALLS_LEFT_OUT = {
    "print": "leave it out: the last value is printed",
    "list": "write the items in brackets: [a, b]",
    "tuple": "write the items in parentheses: (a, b)",
    "enumerate": "count in the loop: i = i + 1",
    "zip": "loop over an index: for i in range(len(x))",
    "map": "write a 'for' statement",
    "filter": "write a 'for' statement with an 'if'",
    "sorted": "use sort(x)",
    "reversed": "use flip(x, 0)",
    "str": "results are printed as they are",
    "type": "values are tensors and numbers",
    "isinstance": "values are tensors and numbers",
    "input": "bind the value on the command line: name=VALUE",
    "eval": "write the expression itself",
    "exec": "write the statements themselves",
    "dropout": "multiply by a mask: x*(rand(3) > 0.5)/0.5",
    "open": "bind the file's content on the command line: name=@file",
    "backward": "leave it out: gradients of the last value are computed for you",
    "grad": "leave it out: gradients of the last value are computed for you",
}

METHODS_LEFT_OUT = {"backward": "leave it out: the command line runs backward for you"}

MISSING_METHODS = {
    "requires_grad_": "leave it out: every input is differentiated",
    "retain_grad": "leave it out: name the value and ask for it",
    "zero_grad": "leave it out: gradients start from zero in every run",
    "numpy": "leave it out: results are printed as numbers",
    "tolist": "leave it out: results are printed as numbers",
    "cuda": "leave it out: choose the device with --device cuda",
    "cpu": "leave it out: choose the device with --device cpu",
}

MISSING_ATTRIBUTES = {
    "grad": "leave it out: 'gradcli grad' prints the gradients",
    "grad_fn": "leave it out: 'gradcli graph' draws it",
}

SYNONYMS = {
    **dict.fromkeys(("array", "asarray", "vector", "matrix", "Variable"), "tensor"),
    **dict.fromkeys(("Tensor", "FloatTensor", "DoubleTensor", "LongTensor"), "tensor"),
    **dict.fromkeys(("Infinity", "infinity", "oo"), "inf"),
    "NaN": "nan",
    "PI": "pi",
    "sgn": "sign",
    "identity": "eye",
}
"""Names in the language, by other words for them; synonyms of rows are in the table."""

UNSEEN = {
    "newline": "the end of the line",
    "end": "the end of the program",
    "indent": "an indented line",
    "dedent": "the end of the body",
}
"""Words for the kinds of tokens that are not seen in a text."""
