"""Random programs of gradcli's language, drawn from the table.

A program grows statement by statement: each one is run at once, so that the shapes of
all names are known without a rule of shapes, and one that is refused is dropped, or,
now and then, kept as the program's last word. Which functions there are, and with what
they can be called, is read off the table's cases.

    program = random_program(7)
    print(program.text, program.inputs, program.dtype)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from gradcli.engine import NUMPY, Tensor
from gradcli.engine.dtypes import default_dtype
from gradcli.lang.compiler import compile_program
from gradcli.lang.errors import ProgramError
from gradcli.lang.factory import Factory
from gradcli.lang.machine import Machine
from gradcli.lang.parser import parse
from gradcli.lang.tensor_library import TensorLibrary
from gradcli.ops import Case
from tests.random.calls import (
    Argument,
    Call,
    Given,
    Several,
    Slot,
    Written,
    calls_of,
    functions,
)
from tests.random.program import Block, Line, Program, Statement
from tests.random.values import Numbers, kinds, listed, ordinary

Shape = tuple[int, ...]

NAMES = ("x", "w", "A", "b", "θ")
SHAPES: tuple[Shape, ...] = ((3,), (4,), (2, 3), (3, 3), (3, 1), (1,), (), (2, 2, 3))
SIZES = (0, 1, 1, 2, 3, 4)

MOST_STEPS = 6
MOST_ENTRIES = 150
"""A value with more entries is not kept: a difference should be small to read."""

REFUSED_KEPT = 0.06
"""How often a statement that is refused ends a program."""

OPERATORS = ("+", "-", "*", "/", "*", "+", "**", "@", "//", "%")
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
AUGMENTED = ("+=", "-=", "*=", "/=", "**=", "+=", "*=", "//=", "%=")
NUMBERS = ("2", "0.5", "-1", "3", "1e-3", "1", "-2.5")
WILD_NUMBERS = (*NUMBERS, "0", "1e200", "inf", "-0.0")
ATTRIBUTES = ("T", "mT", "H", "mH")


Has = Callable[[str, bool], bool]
"""Whether a function of a name is to be used, and whether as a method."""


class Refused(Exception):
    """A statement that gradcli does not run, or, if not ``read``, cannot even read."""

    def __init__(self, read: bool) -> None:
        super().__init__()
        self.read = read


@dataclass(slots=True)
class Draft:
    """Statements so far, and what every name holds after them."""

    random: Random
    dtype: str
    numbers: Numbers
    refusals: float
    has: Has
    in_place: bool
    small: tuple[int, ...]
    typed: tuple[str, ...]
    names: Sequence[str]
    inputs: dict[str, Any] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    statements: list[Statement] = field(default_factory=list)
    ended: bool = False

    # What stands in a statement

    def pick(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def tensors(self, kind: str = "f") -> dict[str, Tensor]:
        return {
            name: value
            for name, value in self.values.items()
            if isinstance(value, Tensor) and value.raw.dtype.kind in kind
        }

    def any_tensor(self) -> str:
        """A name of floats: one of the last more often than one of the first."""
        names = list(self.tensors())
        if not names or (len(self.inputs) < 2 and self.chance(0.15)):
            return self.new_input(self.pick(*SHAPES), None)
        return self.pick(*names, *names[-2:])

    def shape(self, name: str) -> Shape:
        return tuple(self.values[name].raw.shape)

    def new_input(self, shape: Shape, case: Case | None) -> str:
        name = next((n for n in self.names if n not in self.inputs), None)
        numbers = self.numbers
        if name is None or (case is not None and case.make != "uniform"):
            numbers = ordinary
        drawn = listed(numbers(self.random, shape, case), self.dtype)
        if name is None:
            return f"tensor({drawn})"
        self.inputs[name] = drawn
        # No list tells (0, 3) from (0,): the values are those of the list.
        self.values[name] = self.factory.leaf(np.array(drawn))
        return name

    @property
    def factory(self) -> Factory:
        return Factory(NUMPY, self.dtype, 0)

    def fresh(self) -> str:
        """A name to assign to: mostly a new one."""
        made = [n for n in self.tensors("fbi") if n not in self.inputs]
        if made and self.chance(0.1):
            return self.pick(*made)
        return f"v{sum(len(s.lines) for s in self.statements)}"

    # Whether it runs

    def run(self, statement: Statement) -> dict[str, Any]:
        """The values after the statement.

        Raises:
            Refused: gradcli does not run it, or a value is too large to be read.
        """
        text = "\n".join(statement.lines)
        try:
            code = compile_program(parse(text, self.values))
        except ProgramError as error:
            raise Refused(read=False) from error
        try:
            library = TensorLibrary(self.factory)
            with np.errstate(all="ignore"), default_dtype(self.dtype):
                result = Machine(code, self.values, library, max_steps=2000).run()
        except ProgramError as error:
            raise Refused(read=True) from error
        after = dict(result.environment)
        if any(isinstance(getattr(v, "raw", None), Tensor) for v in after.values()):
            raise Refused(read=True)
        return after

    def add(self, statement: Statement) -> bool:
        """Keep the statement if it runs, or, seldom, as the last one if it does not."""
        try:
            after = self.run(statement)
        except Refused as refused:
            kept = refused.read and isinstance(statement, Line)
            if kept and self.chance(self.refusals):
                self.statements.append(statement)
                self.ended = True
            return False
        if any(large(value) for value in after.values()):
            return False
        self.values = after
        self.statements.append(statement)
        return True

    # Statements

    def step(self) -> None:
        before, count = (dict(self.inputs), dict(self.values)), len(self.statements)
        choice = self.random.choices(STEPS, WEIGHTS)[0]
        if not self.in_place and choice in CHANGING:
            choice = Draft.call
        if not choice(self) and not self.ended:
            self.inputs, self.values = before
            del self.statements[count:]

    def assign(self, text: str) -> bool:
        """``name = text``, and one of several where it gives several."""
        name = self.fresh()
        if not self.add(Line(f"{name} = {text}", name)):
            return False
        value = self.values[name]
        if isinstance(value, tuple | list) and value:
            self.statements.pop()
            at = self.random.randrange(len(value))
            return self.add(Line(f"{name} = {text}[{at}]", name))
        return True

    def call(self) -> bool:
        return self.assign(self.called(self.drawn_call()))

    def drawn_call(self) -> Call:
        """A case of a function: each function is as frequent as any other."""
        while True:
            name = self.pick(*functions())
            if self.has(name, False):
                return self.pick(*calls_of(name))

    def called(self, call: Call) -> str:
        """The call's text: as a function, or as a method of its first argument."""
        sizes = self.sizes()
        count = len(call.positional)
        bare = self.random.randint(1, count) if count and self.chance(0.5) else count
        texts = [
            self.named(name if at >= bare or is_word(a) else "", a, sizes)
            for at, (name, a) in enumerate(call.positional)
        ]
        texts += [f"{name}={self.argument(a, sizes)}" for name, a in call.named]
        if self.chance(0.03):
            self.random.shuffle(texts)
        if self.chance(0.02):
            texts = texts[:-1]
        first = call.positional[0][1] if call.positional else None
        on_name = isinstance(first, Slot) and texts[:1] and texts[0].isidentifier()
        if on_name and self.chance(0.25) and self.has(call.name, True):
            return f"{texts[0]}.{call.name}({', '.join(texts[1:])})"
        return f"{call.name}({', '.join(texts)})"

    def named(self, name: str, argument: Argument, sizes: dict[int, int]) -> str:
        text = self.argument(argument, sizes)
        return f"{name}={text}" if name else text

    def sizes(self) -> dict[int, int]:
        """Other sizes in the place of a case's own; mostly none."""
        if self.chance(0.7):
            return {}
        return {n: self.pick(n, *self.small) for n in range(1, 6)}

    def argument(self, argument: Argument, sizes: dict[int, int]) -> str:
        if isinstance(argument, Several):
            inner = [self.argument(slot, sizes) for slot in argument.slots]
            return f"[{', '.join(inner)}]"
        if isinstance(argument, Given):
            return f"tensor({argument.value!r})"
        if isinstance(argument, Slot):
            shape = tuple(sizes.get(n, n) for n in argument.shape)
            return self.fitting(shape, argument.case)
        return self.written(self.other(argument.value))

    def written(self, value: Any) -> str:
        """A parameter's value as text; lists inside a tuple may be tensors."""
        lists = isinstance(value, tuple) and any(isinstance(v, list) for v in value)
        if not lists or self.chance(0.5):
            return repr(value)
        parts = [f"tensor({v!r})" if isinstance(v, list) else repr(v) for v in value]
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"

    def other(self, value: Any) -> Any:
        """The value of a parameter, or now and then another of its kind."""
        if type(value) is bool and self.chance(0.2):
            return not value
        if type(value) is int and self.chance(0.15):
            return value + self.pick(-2, -1, 1)
        if type(value) is float and self.chance(0.15):
            return self.pick(0.0, 1.0, -value, 2 * value)
        return value

    def fitting(self, shape: Shape, case: Case | None) -> str:
        """A tensor of a shape: a name's, a part of one, an input, or numbers."""
        tensors = self.tensors()
        exact = [n for n in tensors if self.shape(n) == shape]
        if exact and self.chance(0.7):
            return self.squared(self.pick(*exact[-3:]), shape, case)
        if tensors and self.chance(0.06):
            return self.pick(*tensors)
        count = int(np.prod(shape))
        larger = [n for n in tensors if int(np.prod(self.shape(n))) >= count > 0]
        if larger and self.chance(0.35):
            return f"{self.pick(*larger)}.flatten()[:{count}].reshape({shape})"
        return self.squared(self.new_input(shape, case), shape, case)

    def squared(self, name: str, shape: Shape, case: Case | None) -> str:
        """For a case of positive definite matrices, one that depends on the name."""
        matrix = len(shape) >= 2 and shape[-1] == shape[-2]
        made = case.make if case is not None and matrix else ""
        if made != "symmetric" and (made != "spd" or self.chance(0.3)):
            return name
        return f"({name} @ {name}.mT + 3*eye({shape[-1]}))"

    def operator(self) -> bool:
        a, sign = self.any_tensor(), self.pick(*OPERATORS)
        b = self.beside(a)
        left, right = (a, b) if self.chance(0.75) else (b, a)
        text = f"{left} {sign} {right}" if sign != "**" else f"({left})**({right})"
        return self.assign(text)

    def beside(self, a: str) -> str:
        """A second operand: a number, the same tensor, or one that may broadcast."""
        if self.chance(0.3):
            return self.pick(*self.typed)
        if self.chance(0.1):
            return a
        names = [n for n in self.tensors("fb") if broadcasts(self, n, a)]
        if names and self.chance(0.8):
            return self.pick(*names)
        shape = self.shape(a) if a in self.values else ()
        return self.new_input(self.pick(shape, shape[-1:], (), (*shape[:-1], 1)), None)

    def unary(self) -> bool:
        a = self.any_tensor()
        return self.assign(self.pick(f"-{a}", f"abs({a})", f"{a}.detach()", f"+{a}",
                                     f"{a}*1", f"{a} + 0"))  # fmt: skip

    def attribute(self) -> bool:
        return self.assign(f"{self.any_tensor()}.{self.pick(*ATTRIBUTES)}")

    def compare(self) -> bool:
        a = self.any_tensor()
        return self.assign(f"{a} {self.pick(*COMPARISONS)} {self.beside(a)}")

    def augment(self) -> bool:
        """In place, mostly on what has just been made."""
        made = [n for n in self.tensors() if n not in self.inputs]
        if not made or self.chance(0.2):
            a = self.any_tensor()
            name = self.fresh()
            copied = self.pick(a + "*1", a + ".clone()")
            if not self.add(Line(f"{name} = {copied}", name)):
                return False
            made = [name]
        name = self.pick(*made)
        line = Line(f"{name} {self.pick(*AUGMENTED)} {self.beside(name)}", name)
        return self.add(line)

    def index(self) -> bool:
        names = [n for n in self.tensors() if self.shape(n)] or [self.any_tensor()]
        a = self.pick(*names)
        return self.assign(f"{a}[{self.key(a)}]")

    def key(self, a: str) -> str:
        """A key of the tensor: one item for each of its first dimensions."""
        masks = [n for n in self.tensors("b") if self.shape(n) == self.shape(a)]
        if masks and self.chance(0.4):
            return self.pick(*masks)
        if self.chance(0.15):
            return f"{a} {self.pick(*COMPARISONS)} {self.pick('0', '1', '0.5')}"
        items = []
        for n in self.shape(a) if a in self.values else ():
            items.append(self.item(n))
            if self.chance(0.35):
                break
        if self.chance(0.15):
            at = self.random.randrange(len(items) + 1)
            items.insert(at, self.pick("None", "..."))
        return ", ".join(items) or "..."

    def item(self, n: int) -> str:
        inside = self.random.randrange(-n, n) if n else 0
        start = self.pick("", "0", "1", "-1", "-2")
        stop = self.pick("", "", str(n), str(n - 1), "2", "-1", str(n + 3))
        step = self.pick("", "", "", ":2", ":1", f":{n}")
        chosen = [self.random.randrange(-n, n) if n else 0 for _ in range(2)]
        parts = f"{start}:{stop}{step}"
        return self.pick(str(inside), str(inside), parts, parts, parts, ":",
                         f"tensor({chosen})", f"{chosen}")  # fmt: skip

    def branch(self) -> bool:
        a = self.any_tensor()
        test = f"{a}.{self.pick('sum', 'mean', 'max')}() {self.pick(*COMPARISONS)} 0.5"
        if self.chance(0.4):
            then, otherwise = (
                self.pick(f"{a}*2", f"sin({a})"),
                self.pick(f"-{a}", "2.0"),
            )
            return self.assign(f"{then} if {test} else {otherwise}")
        name = self.fresh()
        line = Line(f"{name} = {self.pick(f'{a}*2', f'exp({a})')}", name)
        other = Line(f"{name} = {self.pick(f'{a}**2', a, f'{a} - 1')}", name)
        return self.add(Block(f"if {test}:", (line,), (other,)))

    def loop(self) -> bool:
        a, b = self.any_tensor(), self.any_tensor()
        name = self.fresh()
        if not self.add(Line(f"{name} = {self.pick(f'{a}*1', f'sin({a})')}", name)):
            return False
        times = self.pick(2, 3)
        body = self.pick(
            f"{name} = {name}*{b} + i", f"{name} += {b}", f"{name} *= {b}",
            f"{name} = sin({name}) - i*{b}", f"{name} -= {b}*i",
        )  # fmt: skip
        if self.chance(0.2) and not self.shape(name):
            return self.add(
                Block(
                    f"while abs({name}) < 4:",
                    (Line(f"{name} = {name}*1.7 + 0.6", name),),
                )
            )
        return self.add(Block(f"for i in range({times}):", (Line(body, name),)))

    def without_gradient(self) -> bool:
        a, name = self.any_tensor(), self.fresh()
        made = [n for n in self.tensors() if n not in self.inputs]
        line = Line(f"{name} = {self.pick(f'{a}*2', f'{a}.sum()', a)}", name)
        if made and self.chance(0.4):
            parts = (self.pick(*each) for each in (made, AUGMENTED, self.typed))
            line = Line(" ".join(parts))
        return self.add(Block("with no_grad():", (line,)))

    def unpack(self) -> bool:
        call = self.drawn_call()
        name = self.fresh()
        text = self.called(call)
        try:
            value = self.run(Line(f"{name} = {text}", name))[name]
        except Refused:
            return False
        if not isinstance(value, tuple) or not 2 <= len(value) <= 4:
            return False
        names = [f"{name}_{i}" for i in range(len(value))]
        return self.add(Line(f"{', '.join(names)} = {text}"))

    def finish(self, scalar: bool) -> None:
        """The last statement: a sum over some of the names, or one of them."""
        names = list(self.tensors())
        if not names:
            names = [self.new_input((), None)]
        last = names[-1]
        made = [n for n in names if n not in self.inputs][-4:]
        some = self.random.sample(made, self.random.randint(0, len(made)))
        terms = {last, *some, self.pick(*names)}
        if not scalar and self.chance(0.35):
            self.statements.append(Line(self.pick(last, last, f"{last}*{last}")))
            return
        forms = self.pick(
            ["{0}.sum()"], ["({0}*{0}).sum()", "{0}.sum()"], ["{0}.mean()", "{0}.sum()"]
        )
        texts = [self.pick(*forms).format(name) for name in sorted(terms)]
        self.statements.append(Line(" + ".join(texts)))


Step = Callable[[Draft], bool]

WEIGHTED: dict[Step, float] = {
    Draft.call: 50, Draft.operator: 12, Draft.unary: 3, Draft.attribute: 2,
    Draft.compare: 2, Draft.augment: 12, Draft.index: 10, Draft.branch: 3,
    Draft.loop: 3, Draft.without_gradient: 1.5, Draft.unpack: 3,
}  # fmt: skip
CHANGING = (Draft.augment, Draft.loop, Draft.without_gradient)
"""Steps that may change a value in place."""

STEPS, WEIGHTS = list(WEIGHTED), list(WEIGHTED.values())


def random_program(
    seed: int,
    *,
    wild: bool = True,
    dtype: str | None = None,
    scalar: bool = False,
    in_place: bool = True,
    names: Sequence[str] = NAMES,
    has: Has = lambda name, method: not method or "." not in name,
) -> Program:
    """The program of a number.

    Args:
        wild: whether inputs may hold ties, infinities, NaN and the like, and whether a
            program may be one that gradcli refuses or has tensors without entries.
        dtype: ``float64`` or ``float32``; None: now one, now the other.
        scalar: whether the output is always one number.
        in_place: whether values may be changed in place.
        names: the inputs' names, in order of need.
        has: the functions to use; others are not drawn.
    """
    random = Random(seed)
    drawn = random.choice(("float64", "float64", "float32"))
    dtype = dtype or drawn
    numbers = random.choice(kinds(dtype))
    draft = Draft(
        random,
        dtype,
        numbers if wild else ordinary,
        REFUSED_KEPT if wild else 0.0,
        has,
        in_place,
        SIZES if wild else SIZES[1:],
        WILD_NUMBERS if wild else NUMBERS,
        names,
    )
    for _ in range(random.randint(1, MOST_STEPS)):
        for _ in range(3):
            before = len(draft.statements)
            if not draft.ended:
                draft.step()
            if len(draft.statements) > before:
                break
    if not draft.ended:
        draft.finish(scalar)
    read = {n: v for n, v in draft.inputs.items() if reads(draft, n)}
    return Program(tuple(draft.statements), read, dtype)


def reads(draft: Draft, name: str) -> bool:
    from gradcli.lang.run import input_names

    text = "\n".join(line for s in draft.statements for line in s.lines)
    return name in input_names(parse(text, draft.inputs), draft.inputs)


def is_word(argument: Argument) -> bool:
    """Whether an argument is a word, as a reduction is: such are given by name."""
    return isinstance(argument, Written) and isinstance(argument.value, str)


def large(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return any(large(part) for part in value)
    return isinstance(value, Tensor) and value.numel() > MOST_ENTRIES


def broadcasts(draft: Draft, a: str, b: str) -> bool:
    if b not in draft.values:
        return True
    try:
        np.broadcast_shapes(draft.shape(a), draft.shape(b))
    except ValueError:
        return False
    return True
