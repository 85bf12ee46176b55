"""Forms that programs write with lists of their own: choices, sums, derivatives, cells.

Invariant: a form that is not read whole is refused.

    D[x^4, {x, 2}] in Mathematica is diff(x^4, x, x)
"""

import re

from .dialects import DialectReader
from .errors import Span
from .grammars import COMPARE
from .notation import ATOM, SUM, NotationPiece, NotationToken, chosen

_FORMS = {
    "Mathematica": {"Piecewise": "choice", "Sum": "sum", "Product": "prod", "D": "diff",
                    "Integrate": "integral", "NIntegrate": "integral"},
    "Maple": {"piecewise": "choice", "sum": "sum", "add": "sum", "Sum": "sum",
              "mul": "prod", "product": "prod", "diff": "diff", "Diff": "diff",
              "int": "integral", "Int": "integral"},
    "SymPy": {"Piecewise": "choice", "Sum": "sum", "Product": "prod",
              "Derivative": "diff", "diff": "diff",
              "Integral": "integral", "integrate": "integral"},
}  # fmt: skip
"""Functions that read lists or bound names, by titles."""

_UP_TO = re.compile(
    r",\s*+[{(]\s*+([^\W\d]\w*+)\s*+,\s*+-?[\d.]++\s*+,"
    r"\s*+([^\W\d]\w*+)\s*+[})]"
)
"""Pattern of the bounds of an integral up to a name, behind what is integrated."""

MAX_CELLS = 1000
"""Largest number of cells between two of Excel."""


class FormReader(DialectReader):
    """The reader of expressions with their forms."""

    def form(self, name: str) -> NotationPiece | None:
        """Return a choice, a sum, a product or a derivative; None for other calls."""
        if self.title not in _FORMS or name not in _FORMS[self.title]:
            return None
        kind = _FORMS[self.title][name]
        if kind == "choice":
            return self._piecewise()
        if kind == "diff":
            return self._derived()
        if kind == "integral":
            token = self.tokens[self.at - 2]
            text = self.expression().text
            hint = f"to derive what is integrated, write {text}"
            bounds = _UP_TO.match(self.source, self.token.start)
            if bounds is not None:
                by, end = bounds.groups()
                slope = re.sub(rf"\b{by}\b", end, text)
                hint = f"its derivative by {end}: write {slope}"
            at = Span(token.start, token.end)
            raise self.refused(at, "integrates, and is not computed", hint)
        return self._over(kind)

    def _piecewise(self) -> NotationPiece:
        other = NotationPiece("nan" if self.title == "SymPy" else "0", ATOM, 0)
        pairs: list[tuple[NotationPiece, NotationPiece]] = []
        if self.title == "Maple":
            items = self.items(")")[0]
            pairs = [*zip(items[1::2], items[::2], strict=False)]
            other = items[-1] if len(items) % 2 else other
        else:
            opens, closes = "{}" if self.title == "Mathematica" else "()"
            if self.title == "Mathematica":
                self.expect("{")
            while self.take_if(opens):
                value = self.expression()
                self.expect(",")
                pairs.append((value, self.expression()))
                self.expect(closes)
                if self.take_if(",") is None:
                    break
            if self.title == "Mathematica":
                self.expect("}")
                if self.take_if(","):
                    other = self.expression()
            self.expect("]", ")")
        for value, test in reversed(pairs):
            other = value if test.text == "True" else chosen(value, test, other)
        return other

    def _over(self, kind: str) -> NotationPiece:
        """Return a sum or a product over integers."""
        body = self.expression()
        self.expect(",")
        opens = self.take_if("{", "(") if self.title != "Maple" else None
        index = self.take()
        if index.kind != "name":
            self.at -= 1
            raise self.refused()
        self.expect("=", ",")
        first, last = self.read(COMPARE + 1), None
        if self.take_if(",", ".."):
            last = self.read(COMPARE + 1)
        elif self.title == "Mathematica":
            first, last = NotationPiece("1", ATOM, 0), first
        if last is None:
            raise self.refused()
        if opens is not None:
            self.expect("}", ")")
        self.expect("]", ")")
        for end in (first, last):
            if "inf" in end.text:
                at = Span(index.start, self.tokens[self.at - 1].end)
                raise self.refused(at, "is an infinite sum, which is not computed")
        ends = f"{first.text}, {last.at(SUM)} + 1"
        if last.text.isdecimal():
            ends = f"{first.text}, {int(last.text) + 1}"
        text = f"{kind}([{body.text} for {index.text} in range({ends})])"
        return NotationPiece(text, ATOM, body.rank)

    def _derived(self) -> NotationPiece:
        names: list[str] = []
        piece = self.expression()
        while self.take_if(","):
            opened = self.take_if("{", "(")
            token = self.take()
            names.append(token.text)
            if token.kind != "name":
                self.at -= 1
                raise self.refused()
            if opened is not None:
                self.expect(",")
                times = self.take()
                if not times.text.isdecimal() or not 0 < int(times.text) <= 9:
                    raise self.refused(Span(times.start, times.end))
                names += [token.text] * (int(times.text) - 1)
                self.expect("}", ")")
        self.expect("]", ")")
        if not names:
            raise self.refused()
        return NotationPiece(f"diff({piece.text}, {', '.join(names)})", ATOM, 0)

    def matrix(self, opened: NotationToken) -> NotationPiece:
        """Return a list of MATLAB or Julia: a row, a column or a matrix."""
        rows: list[list[NotationPiece]] = [[]]
        listing, self.listing, commas = self.listing, True, False
        while not self.take_if("]"):
            if self.take_if(";", "\n"):
                rows.append([])
            elif self.take_if(","):
                commas = True
            else:
                rows[-1].append(self.expression())
        self.listing = listing
        rows = [row for row in rows if row]
        at = Span(opened.start, self.tokens[self.at - 1].end)
        if any(item.rank for row in rows for item in row):
            raise self.refused(at, "joins vectors, which is not read")
        if len({len(row) for row in rows}) != 1:
            raise self.refused(at, "has rows of different lengths, and is not read")
        lines = [f"[{', '.join(item.text for item in row)}]" for row in rows]
        if len(rows) == 1 and (commas or self.title == "MATLAB"):
            return NotationPiece(lines[0], ATOM, 1, row=self.title == "MATLAB")
        if len(rows[0]) == 1 and len(rows) > 1:
            listed = ", ".join(row[0].text for row in rows)
            return NotationPiece(f"[{listed}]", ATOM, 1)
        return NotationPiece(f"[{', '.join(lines)}]", ATOM, 2)

    def cells(self, first: NotationToken) -> NotationPiece:
        """Return the cells from one to another in Excel: each is a name."""
        self.take()
        last = self.take()
        ends = [
            re.fullmatch(r"\$?([A-Za-z]{1,2})\$?(\d{1,4})", t.text)
            for t in (first, last)
        ]
        if None in ends:
            raise self.refused(Span(first.start, last.end))
        columns, rows = zip(
            *((_column(e[1]), int(e[2])) for e in ends if e), strict=True
        )
        if (columns[1] - columns[0] + 1) * (rows[1] - rows[0] + 1) > MAX_CELLS:
            raise self.refused(Span(first.start, last.end), "has too many cells")
        names = [
            [f"{_letters(c)}{r}" for c in range(columns[0], columns[1] + 1)]
            for r in range(rows[0], rows[1] + 1)
        ]
        if not names or not names[0]:
            raise self.refused(Span(first.start, last.end))
        if 1 in (len(names), len(names[0])):
            text = ", ".join(name for row in names for name in row)
            return NotationPiece(f"[{text}]", ATOM, 1)
        text = ", ".join(f"[{', '.join(row)}]" for row in names)
        return NotationPiece(f"[{text}]", ATOM, 2)


def _column(letters: str) -> int:
    """Return the number of a column of Excel, from 0."""
    number = 0
    for letter in letters.upper():
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1


def _letters(column: int) -> str:
    """Return the letters of a column of Excel."""
    first, last = divmod(column, 26)
    return (chr(ord("A") + first - 1) if first else "") + chr(ord("A") + last)
