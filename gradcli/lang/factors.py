r"""Factors of mathematical notation: names and entries, functions, sums and matrices.

What is between operators is read here; `gradcli.lang.mathematics` reads the operators.
"""

import re
from abc import abstractmethod

from .derivatives import FIELDS
from .foreign import is_prefix
from .lexicon import CONDITIONAL, FOREIGN_CHARACTERS, KEYWORDS, OTHERWISE, ROOTS
from .notation import (
    ATOM,
    CLOSING,
    COMPARISON,
    LOGIC,
    PRODUCT,
    SUM,
    Doubt,
    NotationPiece,
    NotationToken,
    call,
    chosen,
    heads,
    joined,
    multiplied,
    negative,
    on_the_line,
    raised,
)  # fmt: skip
from .suggest import greek
from .tensor_library import CONSTANTS
from .written_derivatives import DerivativeReader

_STYLES = frozenset(
    (r"\mathbf", r"\boldsymbol", r"\mathrm", r"\mathit", r"\mathsf", r"\mathtt", r"\bf",
     r"\rm", r"\it", r"\text", r"\textrm", r"\textit", r"\textbf", r"\mathcal", r"\bm",
     r"\operatorname", r"\vec", r"\mathbb", r"\mbox")
)  # fmt: skip

_ACCENTS = {r"\hat": "hat", r"\widehat": "hat", r"\bar": "bar", r"\overline": "bar",
            r"\tilde": "tilde", r"\widetilde": "tilde", r"\dot": "dot"}  # fmt: skip

_INDEX = re.compile(r"-?\d+|(?:-?\d+)?:(?:-?\d+)?")

_BESIDE_LISTS = frozenset({"(", "[", ",", "@", ")", "]"})

_OTHERWISE = re.compile(rf"\W*(?:{'|'.join(OTHERWISE)})\b")

_WORDED = frozenset((r"\text", r"\textrm", r"\mbox", r"\mathrm"))

FACTORS = frozenset({*"([{∑∏√∛⌊⌈", "fraction"})

NO_FACTORS = frozenset(rf"\{name}" for name in ("end", "\\", "&", "in", "to", "int"))


DERIVED = re.compile(
    r"\\[dt]?frac\s*\{\s*(?:d(?!_)|\\partial)[^{}]*\}\s*\{\s*(?:d(?!_)|\\partial)[^{}]*\}"
)

OF_WHAT = "derivatives are taken of what is written"


def _named(sign: str) -> str:
    """Return the function that a sign means, as ``sum`` for ∑."""
    return ROOTS.get(sign) or FOREIGN_CHARACTERS[sign].partition("(")[0]


class FactorReader(DerivativeReader):
    """A reader of factors; a subclass reads what operators make of them."""

    @abstractmethod
    def choice(self) -> NotationPiece: ...

    @abstractmethod
    def logic(self) -> NotationPiece: ...

    def taken(self, *words: str) -> str | None:
        """Return the word or the sign that was taken, if it is one of ``words``."""
        word = self.token.text if self.kind == "word" else self.kind
        return word if word in words and self.take() else None

    def is_applied(self, word: str, behind: str) -> bool:
        """Return whether a word means a function here: the name of a Greek letter does
        so only before brackets."""
        return bool(self.meant(word)) and (not greek(word) or behind == "(")

    def factor(self) -> NotationPiece:
        kind = self.kind
        if self.token.text[:1] in ("d", "∂", "(") and (
            derived := self.plain_derivative()
        ):
            return derived
        if kind in CLOSING:
            return self._brackets()
        if kind in _STYLES:
            return self._styled()
        if kind == r"\frac" and (derived := self.derivative()):
            return derived
        if kind == "∇":
            return self.nabla()
        token = self.take()
        if kind == "number":
            if self.kind == "fraction" and not self.token.spaced:
                part = on_the_line(self.take().text)
                return NotationPiece(f"({token.text} + {part})", ATOM, 0)
            return NotationPiece(token.text, ATOM, 0)
        if kind == "fraction":
            return NotationPiece(on_the_line(token.text), PRODUCT, 0)
        if kind == "string":
            return NotationPiece(token.text)
        if kind == "word":
            return self._word(token.text)
        if kind in ("|", "norm"):
            return self._between_bars(token)
        if kind in ("√", "∛", r"\sqrt"):
            return self._root(kind)
        if kind in ("∑", "∏"):
            return self._over_index(_named(kind))
        if kind in ("⌊", "⌈"):
            return call(_named(kind), [self._until(")")])
        if kind == r"\frac":
            return joined(self._argument(), "/", self._argument())
        if kind == r"\binom":
            return call("binom", [self._argument(), self._argument()])
        if kind == r"\begin":
            return self._environment()
        if kind in _ACCENTS:
            return self.subscripts(f"{self._letter()}_{_ACCENTS[kind]}")
        if kind == r"\infty":
            return NotationPiece("inf", ATOM, 0)
        word = kind.removeprefix("\\")
        if self.meant(word) and kind not in NO_FACTORS and not greek(word):
            return self.applied(word)
        if kind == word or not greek(word):
            self.at -= 1
            raise self.doubt()
        return self.subscripts(word.removeprefix("var"))

    def _until(self, *closing: str) -> NotationPiece:
        outside, self.bars = self.bars, 0
        piece = self.choice()
        self.bars = outside
        self.expect(*closing)
        return piece

    def group(self) -> NotationPiece:
        self.expect("{")
        return self._until("}")

    def _argument(self) -> NotationPiece:
        """Return an argument of a command: a group, or a single letter or digit."""
        token = self.token
        if token.kind == "number" and len(token.text) > 1:
            middle = token.start + 1
            self.tokens[self.at : self.at + 1] = [
                token._replace(text=token.text[0], end=middle),
                NotationToken("number", token.text[1:], middle, token.end, False),
            ]
        if self.kind == "word":
            return self._indexed(self.take().text, "")
        return self.group() if self.kind == "{" else self.factor()

    def _letter(self) -> str:
        name = self._argument().unbracketed
        if not name.isidentifier():
            raise self.doubt()
        return name

    def _styled(self) -> NotationPiece:
        r"""Return what a command of type stands around: `\mathbf{w}`, `\text{relu}`."""
        self.take()
        if self.kind != "{":
            return self.factor()
        start = self.at
        self.take()
        word = self.skip("}").replace(r"\_", "_").strip()
        if word == "e" and not self.bound("e"):
            return NotationPiece("e", ATOM, 0)
        if word in ("0", "1") and self.kind == "**":
            raise self.doubt()  # a vector of ones, whose length is not said
        if word in ("0", "1") and self.take_if("_"):  # an array of it, with its sizes
            self.expect("{")
            sizes = self.skip("}").replace(r"\times", ",").replace(" ", "")
            if not re.fullmatch(r"[\d,]+", sizes):
                raise self.doubt()
            return NotationPiece(
                f"full(({sizes},), {word})", ATOM, 1 + sizes.count(",")
            )
        if word.isidentifier():
            return self.applied(word) if self.meant(word) else self.subscripts(word)
        self.at = start
        return self.group()

    def _word(self, word: str) -> NotationPiece:
        if word in FIELDS and self._field_follows(word):
            return self.field(word)
        if self.kind == "(" and self.defined(word):
            return call(word, self.listed())
        if self.kind == "." and word not in self.ranks and is_prefix(word):
            while self.take_if("."):
                word += f".{self.expect('word').text}"
            if self.kind != "(":
                raise self.doubt()
            given = self.listed()
            if not given or self.kind == "(":
                raise self.doubt()  # a layer
            return call(word, given)
        if self.is_applied(word, self.kind) and (
            self.kind != "lowered" or word == "log"
        ):
            return self.applied(word)
        if word in KEYWORDS and not greek(word):
            raise self.doubt()
        return self._members(self.subscripts(word))

    def _field_follows(self, word: str) -> bool:
        """Return whether a name or brackets follow a word that derives fields."""
        if self.bound(word):
            return False
        known = self.kind == "word" and (self.defined(self.token.text) or
                                         self.bound(self.token.text))  # fmt: skip
        return bool(known) or (self.kind == "(" and word != "div")

    def _members(self, piece: NotationPiece) -> NotationPiece:
        """Return a value with the methods, attributes and indices behind it."""
        while not self.token.spaced and self.kind in (".", "["):
            if self.take().kind == "[":
                piece = NotationPiece(f"{piece.text}[{self.skip(']')}]")
                continue
            piece = NotationPiece(f"{piece.text}.{self.expect('word').text}")
            if self.kind == "(":
                piece = call(piece.text, self.listed())
        return piece

    def subscripts(self, base: str) -> NotationPiece:
        """Return a name with the subscript behind it, or an entry of a vector."""
        below = ""
        if self.kind == "lowered":
            below = on_the_line(self.take().text)
        elif self.kind == "_" and (self.latex or not self.token.spaced):
            self.take()
            if self.take_if("{"):
                below = re.sub(r"\\[a-z]+\s*\{(\w+)\}|\s+", r"\1", self.skip("}"))
            else:
                below = self.take().text.removeprefix("\\")
                while not self.latex and self.take_if("_"):
                    below += "_" + self.expect("word", "number").text
        if self.kind == "**" and self.after.kind == "'":
            self.take()
        own = f"{base}_{below}" if below else base
        while self.take_if("'"):
            own, base = f"{own}_prime", f"{base}_prime"
        free = not self.bound(own) and not self.bound(base)
        first, line, rest = own.partition("_")
        head = heads().get((greek(first) or first) + line + rest)
        if free and head is not None and self._calls() and (self.latex or own in "σΓ"):
            return self.applied(head)
        if free and "_prime" in own:
            raise self.doubt()
        return self._indexed(base, below)

    def _calls(self) -> bool:
        """Return whether brackets with an argument follow, perhaps after a power."""
        if self.kind != "**":
            return self.kind == "("
        start = self.at
        self.take()
        closing = CLOSING.get(self.take().kind)
        if closing:
            self.skip(closing)
        called, self.at = self.kind == "(", start
        return called

    def _indexed(self, base: str, below: str) -> NotationPiece:
        """Return the meaning of a name with a subscript, or without one."""
        name, how = self.bound(base), self.over.get(base)
        if not below:
            if how is not None:
                if how == "each":
                    raise self.doubt()
                return NotationPiece(
                    base if how == "zero" else f"({base} + 1)", ATOM, 0
                )
            if base in CONSTANTS and not name:
                return NotationPiece(base, ATOM, 0)
            return NotationPiece(
                name or self.spelling(base), ATOM, self.ranks.get(name or "")
            )
        joined = self.bound(f"{base}_{below}") or self.bound(base + below)
        if joined and self.ranks[joined] and below in self.over:
            return self.entry(joined, below)  # x_i is what the whole vector is called
        if joined:
            return NotationPiece(joined, ATOM, self.ranks[joined])
        parts = below.split(",")
        if name and self.ranks[name] == len(below) == 2 and below.isdecimal():
            parts = list(below)
        if len(parts) == 1 and below.isalpha() and {*below} <= self.over.keys():
            parts = list(below)
        if any(re.match(r"\w", p) and p[0] in self.over for p in parts):
            return self.entry(name or self.spelling(base), *parts)
        rank = self.ranks.get(name) if name else None
        numbers = all(_INDEX.fullmatch(part) for part in parts)
        if numbers and ((name and rank) or not base.isidentifier()):
            if "0" in parts:  # in notation the first entry has the index 1
                raise self.doubt()
            counted = lambda found: str(int(found[0]) - 1)
            where = re.sub(r"(?<![:\d-])\d+(?!\d)", counted, ", ".join(parts))
            whole = sum(":" not in part for part in parts)
            rank = None if rank is None else rank - whole
            return NotationPiece(f"{name or base}[{where}]", ATOM, rank)
        if name and rank == 1 and len(below) == 1:
            return NotationPiece(name, ATOM, rank, each=True)
        own = f"{self.spelling(base)}_{below}"
        if not own.isidentifier():
            raise self.doubt()
        return NotationPiece(own)

    def spelling(self, word: str) -> str:
        """Return a name without a value as the language spells it."""
        own = self.bound(word) or ("lam" if word == "lambda" else word)
        if own not in self.ranks and len(own) > 1 and not greek(own):
            self.unknown.add(own)
        return own

    def entry(self, base: str, *indices: str) -> NotationPiece:
        """Return the entry of a vector at variables of the sums around."""
        rank = self.ranks.get(base)
        if any(self.over.get(each) == "each" for each in indices):
            # All entries at once, if the indices are those of the innermost sum, each
            # of one dimension, and in the same order everywhere.
            if "".join(indices) != self.innermost or len(indices) != (rank or 1):
                raise self.doubt()
            return NotationPiece(base, ATOM, rank, each=True)
        shown = []
        for each in indices:
            found = re.fullmatch(r"([^\W\d]?)(?:([+-]?)(\d+))?", each)
            if not each or found is None:
                raise self.doubt()
            if self.over.get(found[1], found[1] and "each") == "each":
                raise self.doubt()
            name, sign, number = found[1], found[2], found[3] or ""
            if name:
                self.vectors.setdefault(name, base)
                shown.append(f"{name} {sign} {number}" if number else name)
            else:
                shown.append(str(int(number) - 1))
        left = None if rank is None else max(0, rank - len(indices))
        return NotationPiece(f"{base}[{', '.join(shown)}]", ATOM, left)

    def applied(self, word: str) -> NotationPiece:
        """Return the call of a function on what follows: in brackets, or the factors up
        to the next sign."""
        name, power, base = self.meant(word) or word, None, None
        while self.kind in ("**", "raised", "_", "lowered"):
            token = self.take()
            if token.kind == "raised":
                power = self.inside(on_the_line(token.text))
            elif token.kind == "lowered":
                base = NotationPiece(on_the_line(token.text))
            elif token.kind == "_":
                base = (
                    self._argument() if self.latex else NotationPiece(self.take().text)
                )
            elif self.kind in ("{", "("):
                opened = self.take().kind
                power = self._until(CLOSING[opened])
            else:
                minus = self.taken("-")
                power = NotationPiece(self.expect("number", "word").text)
                power = negative(power) if minus else power
        if power and power.text == "-1":
            spelled = (f"a{name}", f"{name}inv", f"{name}i")
            inverse = next((each for each in spelled if self.meant(each)), None)
            if inverse is None:
                raise self.doubt()
            name, power = self.meant(inverse) or "", None
        # Derivatives of digamma are written as powers of it.
        if name in ("digamma", "psi") and power:
            base, power, name = power, None, "polygamma"
        if name == "sqrt" and self.take_if("["):
            degree = self._until("]")
            return call("root", [self._operand(), degree])
        if self.kind == "(" or (self.kind in ("[", "{") and not self.latex):
            square = self.kind == "["
            given = self.listed()
            if not given or (square and len(given) > 1):  # as Log[2, x], base first
                raise self.doubt()
        else:
            given = [self.group() if self.kind == "{" else self._operand()]
            if self.kind == "*" and re.fullmatch(r"[\d.]+", given[0].text):
                self.guessed(f"it is not clear where the argument of {name} ends")
        if base is not None and name == "log":
            own = f"{name}{base.unbracketed}"
            whole = self.meant(own) == own
            made = call(own if whole else name, given if whole else [*given, base])
        elif base is not None and name in ("polygamma", "li"):
            made = call(name.replace("li", "polylog"), [base, *given])
        elif base is not None and not (
            len(base.unbracketed) == 1 and base.unbracketed.isalpha()
        ):
            raise self.doubt()
        else:
            made = call(name, given)
        return raised(made, power) if power else self._members(made)

    def _operand(self) -> NotationPiece:
        """Return the argument of a function that has no brackets."""
        if self.kind == "-" and not self.after.spaced:
            self.take()
            return negative(self._operand())
        if self._begins_function():
            return self.power()
        alone = self.kind in (r"\frac", r"\sqrt", "norm", "|", "[", "√")
        piece = self.power()
        while not alone and self.joins():
            if self.kind in ("∑", "∏", r"\frac") or self._begins_function():
                break
            if self.kind in CLOSING and self.tokens[self.at - 1].kind != "number":
                raise self.doubt()  # in sin x (x + 1), is the bracket in the argument?
            piece = multiplied(piece, self.power(), "")
        return piece

    def _begins_function(self) -> bool:
        if self.kind in (r"\operatorname", r"\text", r"\mathrm"):
            return True
        named = self.kind == "word" or self.kind[:1] == "\\"
        word = self.token.text.removeprefix("\\")
        return named and self.is_applied(word, self.after.kind)

    def listed(self) -> list[NotationPiece]:
        """Return what stands between the commas in brackets, with keywords."""
        opened = self.take().kind
        closing = CLOSING[opened]
        found: list[NotationPiece] = []
        outside, self.bars = self.bars, 0
        while self.kind != closing:
            start, name = self.at, ""
            if self.kind in _STYLES and self.after.kind == "{":
                self.at += 2
                name = self.skip("}")
            elif self.kind == "word":
                name = self.take().text
            if not name or opened != "(" or not self.take_if("="):
                self.at, name = start, ""
            piece = self.choice()
            found.append(piece if not name else NotationPiece(f"{name}={piece.text}"))
            if not self.take_if(",", ";"):
                break
        self.bars = outside
        self.expect(closing)
        return found

    def _brackets(self) -> NotationPiece:
        """Return what is in brackets: a value, or a list if there are commas."""
        alone = self.at == 0 and not self.latex
        opened, before = self.kind, self.tokens[self.at - 1].kind if self.at else ""
        beside = before == "word" and not self.token.spaced
        outside = self.listing
        self.listing = opened == "[" and before in ("", *_BESIDE_LISTS)
        ends = ("end", *_BESIDE_LISTS)
        self.listing = self.listing and self._behind_brackets() in ends
        pieces = self.listed()
        self.listing = outside
        if not pieces:
            raise self.doubt()
        if opened == "{" and len(pieces) == 1:
            return pieces[0]
        if len(pieces) > 1 and opened == "(" and beside:
            raise self.doubt()  # several values behind a name are not a factor
        if len(pieces) > 1 or (opened == "[" and alone and self.kind == "end"):
            rank = pieces[0].rank
            text = f"[{', '.join(piece.text for piece in pieces)}]"
            return NotationPiece(text, ATOM, None if rank is None else rank + 1)
        (piece,) = pieces
        test = piece.level in (LOGIC, COMPARISON) or f"[{piece.text}]" in self.ranks
        if opened == "[" and test and self.latex:
            return NotationPiece(f"where({piece.text}, 1, 0)", ATOM, piece.rank)
        if opened == "(" and self.kind == "_" and self.latex:
            return self.subscripts(f"({piece.text})")
        if piece.level < ATOM:
            piece = piece._replace(text=f"({piece.text})", level=ATOM)
        return self._members(piece)

    def _behind_brackets(self) -> str:
        """Return the kind of the token behind the brackets that begin here."""
        start = self.at
        closing = CLOSING[self.take().kind]
        self.skip(closing)
        behind, self.at = self.kind, start
        return behind

    def _between_bars(self, opened: NotationToken) -> NotationPiece:
        outside, self.bars = self.bars, self.bars + 1
        piece = self.choice()
        self.bars = outside
        self.expect(opened.kind)
        if opened.kind == "|":
            matrix = piece.rank == 2
            made = call("det" if matrix else "abs", [piece])
            return made._replace(rank=0) if matrix else made
        kind = ""
        if self.take_if("_"):
            kind = self._argument().text
        elif self.kind == "lowered":
            kind = on_the_line(self.take().text)
        if piece.rank == 2 and kind not in ("", "F"):
            self.guessed("it is not clear which norm of a matrix is meant")
        which = [] if kind in ("", "2", "F") else [NotationPiece(kind)]
        return call("norm", [piece, *which])._replace(rank=0)

    def _root(self, kind: str) -> NotationPiece:
        if kind == r"\sqrt":
            degree = [self._until("]")] if self.take_if("[") else []
            return call("root" if degree else "sqrt", [self._argument(), *degree])
        word = self.kind == "word"
        inner = self.factor()
        while word and self.kind == "word" and not self.token.spaced:
            inner = multiplied(inner, self.factor(), "")
        if self.kind in ("**", "raised"):
            raise self.doubt()  # is the power of the root, or under it?
        return call(_named(kind), [inner])

    # Sums and products over an index, matrices and cases.

    def _over_index(self, name: str) -> NotationPiece:
        """Return a sum or a product over an index, or over all entries.

        Over all entries, or up to a bound that has no value, names with the index are
        whole vectors; with bounds it goes over the index, from 0.
        """
        index, lower, upper = "", None, None
        for _ in range(2):
            if self.take_if("_"):
                index, lower = self._lower_bound()
            elif self.kind == "lowered":
                index, _, first = on_the_line(self.take().text).partition("=")
                lower = first or None
            elif self.kind == "raised":
                upper = self.inside(on_the_line(self.take().text))
            elif self.take_if("**"):
                upper = self._argument()
        if lower is None or upper is None:
            body = self._summed(index, "each")
            return call(name, [body])._replace(rank=0, each=False)
        start, end = self.at, upper.text
        unknown = end.isidentifier() and end not in self.ranks
        if unknown and lower == "1":
            outside, around = self.over, self.innermost
            try:
                body = self._summed(index, "each")
            except Doubt:
                self.at, self.over, self.innermost = start, outside, around
            else:
                vector = next((n for n in re.findall(r"[^\W\d]\w*", body.text)
                               if self.ranks.get(n) == 1), None)  # fmt: skip
                if vector is not None and body.each:
                    self.lengths[end] = f"len({vector})"
                    return call(name, [body])._replace(rank=0, each=False)
                self.at = start
        body = self._summed(index, "zero" if lower == "0" else "entry")
        if unknown and index in self.vectors:
            self.lengths[end] = f"len({self.vectors[index]})"
        first = "" if lower == "1" else f"{lower} - 1, "
        first = f"{int(lower) - 1}, " if lower.isdecimal() and lower != "1" else first
        ends = f"{upper.at(SUM)} + 1" if lower == "0" else f"{first}{end}"
        loop = NotationPiece(f"[{body.text} for {index} in range({ends})]")
        return call(name, [loop])._replace(rank=body.rank)

    def _lower_bound(self) -> tuple[str, str | None]:
        """Return the index of a sum, and its first value if it has one."""
        grouped, lower = self.take_if("{"), None
        index = self.expect("word").text
        if grouped:
            while self.kind in ("word", ","):
                index += self.take().text.strip(",")
            if self.take_if("="):
                lower = self.choice().text
            self.expect("}")
        return index, lower

    def _summed(self, index: str, how: str) -> NotationPiece:
        """Return the product behind a sum's sign, with the terms behind it that have
        the index, too."""
        outside, around = self.over, self.innermost
        self.over, self.innermost = {**outside, **dict.fromkeys(index, how)}, index
        body = self.product()
        while self.kind in ("+", "-") and self._in_next_term(index):
            body = joined(body, f" {self.take().kind} ", self.product(), SUM, PRODUCT)
        self.over, self.innermost = outside, around
        return body

    def _in_next_term(self, index: str) -> bool:
        depth = 0
        for at in range(self.at + 1, len(self.tokens)):
            kind, text = self.tokens[at].kind, self.tokens[at].text
            depth += (kind in CLOSING) - (kind in (")", "]", "}"))
            if depth < 0 or (not depth and kind in ("+", "-", "end", ",")):
                return False
            if kind in ("∑", "∏"):
                return False  # it has an index of its own
            if text in {*index} and (depth or self.tokens[at - 1].kind == "_"):
                return True
        return False

    def _environment(self) -> NotationPiece:
        r"""Return `cases` as a choice, and a matrix as a list of rows."""
        self.expect("{")
        kind = self.skip("}").rstrip("*")
        if kind == "array" and self.take_if("{"):
            self.skip("}")
            kind = "cases"
        rows: list[list[NotationPiece | None]] = [[]]
        while self.kind != r"\end":
            if self.take_if(r"\\"):
                rows.append([])
            elif not self.take_if("&"):
                rows[-1].append(self._cell())
        self.take()
        self.expect("{")
        self.skip("}")
        if kind in ("vmatrix", "Vmatrix"):
            raise self.doubt()
        if kind == "cases":
            return self._cases([row for row in rows if row])
        cells = [[cell.text for cell in row if cell] for row in rows if row]
        if all(len(row) == 1 for row in cells):
            return NotationPiece(f"[{', '.join(row[0] for row in cells)}]", ATOM, 1)
        lines = [f"[{', '.join(row)}]" for row in cells]
        return NotationPiece(f"[{', '.join(lines)}]", ATOM, 2)

    def _cell(self) -> NotationPiece | None:
        """Return one cell; None for the word of a case that is left over."""
        while _WORDED & {self.kind, self.after.kind if self.kind == "{" else ""}:
            start, braced = self.at, self.take_if("{")
            self.take()
            self.expect("{")
            word = self.skip("}")
            if braced is not None:
                self.expect("}")
            if _OTHERWISE.match(word):
                self.take_if(",", ".")
                return None
            if word.strip(" ,:") not in {*CONDITIONAL, ""}:
                self.at = start
                break
        self.taken("if", "for")
        if self.kind == "word" and _OTHERWISE.match(self.text, self.token.start):
            while self.kind == "word":
                self.take()
            return None
        piece = self.logic()
        self.take_if(",", ".", ";")
        return piece

    def _cases(self, rows: list[list[NotationPiece | None]]) -> NotationPiece:
        value = NotationPiece("nan", ATOM, 0)
        for row in reversed(rows):
            then, test = [*row, None][:2]
            if then is None or len(row) > 2:
                raise self.doubt()
            value = then if test is None else chosen(then, test, value)
        return NotationPiece(f"({value.text})", ATOM, value.rank)
