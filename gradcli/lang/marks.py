"""Marks that say in which language a text was written that was copied from elsewhere.

A mark is a word or a sign that the language does not have: a type, an arrow, the head
of a function. Comments bear no mark. A text of the language has none.

Invariant: a name that has a value is no mark.

    language_of("double f(double x) { return x*x; }", ())     # "C"
    language_of("x -> x^2", ())                               # "Julia"
"""

import re
from collections.abc import Container

from .foreign import names_of
from .maxima import MAX_TYPED_CHARACTERS

_PERHAPS = re.compile(
    r"->|=>|\.\.|<-|%|\[-?\d|:=|::|\?|\.\(|\.[-+]\s|@\(|\*\^|\\\[|_\]|_,|&\s*$"
    r"|\b(?:double|float|let|const|var|fn|public|private|return|function|abs2|std|Eq|proc"
    r"|[dpq]norm|[dp](?:exp|logis|unif|gamma)|ifelse|piecewise|Piecewise|zero|one|Rational|Integer"
    r"|Derivative|Heaviside|Integral|Sum|fabs|powi|powf|int|long)\b|\dL?f\b|_f\d\d"
    r"|\b(?:pow|sqrt|exp|log|sin|cos|tan|tanh|fabs)f\("
)
"""Pattern of what may be a mark; few texts of the language match it."""

MARKS = (
    ("Java", r"\b(?:public|private)\s(?:static\s)?(?:double|float|int|long)\s"
             r"|\b(?:double|float|int|long|Integer|Long)\s\w{1,30}\s?=[^=\n]{0,200}\bMath\.[a-zA-Z]"
             r"|\bdouble\s\w{1,30}\s?\([^)\n]{0,80}\)\s?\{[^}]{0,300}\bMath\.[a-zA-Z]"
             r"|\b(?:Integer|Long)\s\w{1,30}\s?=[^=]"),
    ("JavaScript", r"^\s{0,8}(?:(?:export|const|let|var)\s){1,2}\w{1,30}\s?=\s?"
                   r"(?:\w{1,30}|\([^()\n]{0,80}\)(?:\s?:\s?\w{1,20})?)\s?=>"
                   r"|^\s{0,8}(?:\w{1,30}\s?=\s?)?\([^()\n]{0,80}\)(?:\s?:\s?\w{1,20})?\s?=>"
                   r"|^\s{0,8}(?:\w{1,30}\s?=\s?)?(\w{1,30})\s?=>[^\n]{0,200}\b\1\b"
                   r"|\bfunction\s\w{1,30}\s?\([^)\n]{0,80}\)(?:\s?:\s?\w{1,20})?\s?\{"
                   r"|\bfunction\s?\([^)\n]{0,80}\)\s?\{[^<]{0,300}?\breturn\s[^(\s]"
                   r"|\b(?:const|let|var)\s\w{1,30}(?:\s?:\s?number)?\s?=[^=][\s\S]{0,200}?\bMath\.[a-zA-Z]"),
    ("Java", r"(?:\breturn\b|->)[^;\n]{0,200}\bMath\.[a-zA-Z]"),
    ("Rust", r"\bfn\s\w+\s?\(|\blet\s(?:mut\s)?\w+\s?[:=]|\d_?f(?:64|32)\b"
             r"|\.(?:powi|powf|ln_1p|exp_m1|mul_add|recip)\(|\.ln\(\)"
             r"|\bf(?:64|32)::|\|\w+:\s?f(?:64|32)"),
    ("C", r"\b(?:double|float)\s\w+\s?[=(]|\bstd::|\b(?:int|long)\s\w+\s?[=(]"
          r"|(?<![.\w])(?:fabs|(?:pow|sqrt|exp|log|sin|cos|tan|tanh|fabs)f)\("
          r"|\breturn\b(?=[^\n;]{1,300};\s?$)|\[[&=]?\]\s?\((?:const\s)?(?:double|float|int|auto)\s\w"),
    ("Mathematica", r"\d\*\^-?\d|\\\[[A-Z][A-Za-z]{1,20}\]"
                    r"|\b\w{1,20}\[\w{1,20}_[],]"),
    ("MATLAB", r"(?:^|[=(,])\s?@\([\w, ]{0,40}\)|^\s{0,8}function\s\w{1,30}\s?=\s?\w"
               r"|=\s?\[-?[\d.]{1,20}\s-?[\d.]{1,20}[\s\]]|;\s?%|^\s{0,8}%\s?[A-Za-z]"
               r"|[ \t]%[ \t][A-Za-z]{1,20}[ \t]"
             r"(?!(?:if|for|else|and|or|in|is)\b)[A-Za-z]"),
    ("Maple", r":=[^;\n]{0,80}->|(?<![.\w])piecewise\(|:=\s?proc\b"
              r"|,\s?\w{1,20}\s?=\s?[^\s,]{1,9}\s?\.\.\s?\w"),
    ("SymPy", r"(?<![.\w])(?:Piecewise\((?=\()"
              r"|(?:Rational|Derivative|Eq|Heaviside|Integral|Integer)\()"),
    ("R", r"(?<![.\w])(?:[dpq]norm|[dp]exp|[dp]logis|dunif|dgamma|ifelse)\("
          r"|(?:^|;)\s?[A-Za-z]\w{0,20}\s<-\s|<-\s?\\\(\w"
          r"|\bfunction\s?\([\w, ]{0,60}\)"),
    ("Julia", r"\w\.\(|\s\.[-+]\s|->|^\s{0,8}function\s\w{1,30}\(|\(abs2,"
              r"|(?<![.\w])(?:zero|one)\("
              r"|^\w{1,20}\([\w, ]{0,40}\)\s?=[^?\n]{1,200}\?\s"
              r"|::(?:Float64|Float32|Real|Number|Int|Vector|Matrix|Abstract)"),
    ("JavaScript", r"\b(?:const|var)\s\w{1,30}(?:\s?:\s?number)?\s?=[^=]"),
    ("C", r"\?[^:\n?]{1,200}:"),
)  # fmt: skip
"""Marks by languages; the first one that a text has counts."""


_QUOTED = r"#(?!include)[^\n]*|\"[^\"\n]*\"|(?<=[(,=\s])'[^'\n]{1,60}'"
"""Pattern of comments and strings, which bear no mark."""


def language_of(source: str, given: Container[str]) -> str | None:
    """Return the language that a text is written in, by its marks; None without one."""
    if len(source) > MAX_TYPED_CHARACTERS or not _PERHAPS.search(source):
        return None
    from .notation import IN_LATEX

    text = re.sub(_QUOTED, " ", source)
    if re.search(
        r"\b(?:def|import|class|elif|torch|np)\b|\blambda\b[^:;\n]{0,80}:(?!:)", text
    ):
        return None
    for title, pattern in MARKS:
        found = re.search(pattern, text, re.MULTILINE)
        if found is None or found[0].rstrip("(") in given:
            continue
        if title == "Julia" and "'" in found[0]:
            continue
        if title == "Mathematica" or not IN_LATEX.search(text):
            return title
    if re.search(r":=[^;\n]{1,300};\s?$", text) and not IN_LATEX.search(text):
        called = {*re.findall(r"(?<![.\w])([A-Za-z]\w*)\(", text)}
        return "Maple" if called and called <= names_of("Maple") else None
    return None
