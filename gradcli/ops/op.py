"""The table of operations, and the functions that enter rows and composites in it.

Invariant: a fact about an operation is only in its row, unless it is a name that
others give it (`spellings`, `saved_names`). A row is written against a namespace ``xp``
that is handed in, so that one formula serves arrays, recording tensors, SymPy
expressions and balls. Modules here import only the standard library and one another.

    row("tanh", node="TanhBackward0", latex=r"\\tanh {0}",
        fwd=lambda xp, x: xp.tanh(x),
        partials=(lambda xp, y, x: 1 - y * y,),
        cases=[case((3, 4)), case(())])

A *row* is one node of the graph. A *composite* is a public function made of other
functions; it leaves the nodes of those it calls. A formula of several lines is a
function that ``@row(...)`` or ``@function(...)`` decorates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, field, replace
from functools import partial, wraps
from typing import Any, Final, Never, ParamSpec, TypeAlias, TypeVar

from .checks import UnknownSlope
from .families import Table
from .records import record
from .types import Jvp, Partial, Shape, Vjps

Formula = Callable[..., Any]
"""A rule of the table; its first argument is the namespace ``xp``."""


class Marker:
    """A named constant that stands for a derived rule."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


LINEAR: Final = Marker("LINEAR")
"""Marker of rows linear in all inputs jointly: the jvp is ``fwd`` of the tangents."""

MULTILINEAR: Final = Marker("MULTILINEAR")
"""Marker of rows linear in each single input: the jvp is the product rule."""

TRANSPOSED: Final = Marker("TRANSPOSED")
"""Marker of rows whose jvp is the transpose of the reverse rules, which are linear in
the cotangent."""


PROMOTED: Final = Marker("PROMOTED")
"""Result type: that of all operands together; for integers that of the formula."""

WHOLE: Final = Marker("WHOLE")
"""Result type: that of all operands together, to which results for integers are
converted; numbers given as parameters do not count."""

FLOATS: Final = Marker("FLOATS")
"""Result type: that of all operands together; integers are first made floats."""

TRUTH: Final = Marker("TRUTH")
"""Result type: bool, or uint8 if the operand is uint8."""

AS_IS: Final = Marker("AS_IS")
"""Result type: that of all operands; plain numbers reach the formula unconverted."""

FIRST: Final = Marker("FIRST")
"""Result type: that of the first operand; the others are converted to it."""

GIVEN: Final = Marker("GIVEN")
"""Result type: the one that the row is given as a parameter."""

OWN: Final = Marker("OWN")
"""Memory of the result's own, in the order in which the formula leaves it."""

PACKED: Final = Marker("PACKED")
"""Memory of the result's own, in the order of the indices, not of the operands."""

KEPT: Final = Marker("KEPT")
"""Memory of the result's own, laid out like the first operand, whose shape it has."""

VIEW: Final = Marker("VIEW")
"""Memory of the first operand where that is possible: a change of the operand or of
the result then changes both."""

SHARED: Final = Marker("SHARED")
"""Memory of the first operand, where the graph does not record that it is a view."""

WHOLES: Final = "biu"
"""Letters of the kinds of bool, signed and unsigned integer dtypes."""

TRUTHS: Final = "b"
"""Letter of the kind of bool."""

HALF: Final = " float16"
"""Name of half floats for `Op.refuses`; the blank marks a name, not a letter."""

NOT_WIDE: Final = WHOLES + HALF
"""Kinds and names of all dtypes but single and double floats."""

MANY: Final = 0
"""Value of `Op.returns` for rows that return any number of outputs."""


def absent(*_: object, **__: object) -> Never:
    """Stand for the formula of an entry that is still to be given."""
    raise NotImplementedError


def node_of(name: str) -> str:
    """Return PyTorch's name of the node of a function: ``Log1PBackward0`` of log1p."""
    return "".join([word.title() for word in name.split("_")]) + "Backward0"


def unknown_slope(name: str) -> Formula:
    """Return a partial that raises `UnknownSlope`, for inputs without a derivative."""

    def partial(xp: object, y: object, *inputs: object, **params: object) -> Never:
        raise UnknownSlope(f"the derivative for '{name}' is not implemented.")

    return partial


@record
class Fixed:
    """A case's input given by value: an index, a mask, a target."""

    value: object


Sample = Shape | Fixed | None
"""An input of a case: a shape to draw, a fixed value, or None for an absent input."""


@record
class Case:
    """One input on which the laws are run.

    ``inputs`` holds a shape per input (a tuple of ints) or a ``Fixed`` value; entries
    of a shape are sampled uniformly from ``[low, high]``. ``make`` names a special kind
    of draw: ``"spd"`` (symmetric positive definite), ``"symmetric"`` (the same, with
    symmetric directions, for functions that read one triangle), ``"regular"`` (well
    conditioned), ``"distinct"`` (entries at least 0.1 apart).
    """

    inputs: tuple[Sample, ...]
    params: dict[str, object]
    low: float = -2.0
    high: float = 2.0
    make: str = "uniform"


def case(
    *inputs: Sample,
    low: float = -2.0,
    high: float = 2.0,
    make: str = "uniform",
    **params: object,
) -> Case:
    """Return a case of a shape per input, then parameters: ``case((3, 4), dim=1)``."""
    return Case(inputs, params, low, high, make)


RESULT: Final = -1
"""Number that stands for a row's output where its inputs are numbered from 0."""


@record
class Rule:
    """The single node that PyTorch records for a row's reverse rule in a second pass;
    its edges lead to the cotangent and to the other operands of the rule.

    node    PyTorch's name of the node
    given   the operands after the cotangent: inputs by number, or RESULT; None for one
            that never needs a gradient
    gives   the inputs whose cotangents the node computes; None: all
    zeros   a pass through the node gives ``given`` zeros; otherwise no gradient
    passes  the recorded formula depends on every operand already, so that none has to
            be joined to it
    turns   the input whose cotangent is computed comes first among the operands
    whole   the node is the whole rule; otherwise the formula's own nodes are
            before it
    """

    node: str
    given: tuple[int | None, ...] = (0,)
    gives: tuple[int, ...] | None = None
    zeros: bool = True
    passes: bool = False
    turns: bool = False
    whole: bool = True


@record
class NamedEntry:
    """An entry of the table: its name."""

    name: str


@record
class Entry(NamedEntry):
    """Facts about a public function other than its formula.

    name       public name, or ``base.Overload`` (PyTorch's overload name) where a
               public function chooses among several rows
    cases      inputs on which the laws are run
    kink       the derivative given, by convention, at points that have none
    slope      the result of the rules, if it is not the derivative of the value
    aliases    other spellings under which it is called: ``absolute`` of ``abs``
    also       words that find it in a search but do not call it: ``avg`` of ``mean``
    star       the parameter that takes all further positional arguments
    internal   it is a step of other functions, and is not offered to users
    special    its names in ``torch.special``, if it has one there
    ours       PyTorch has no such function: a program for PyTorch spells out the
               formula, with the arguments in place of the parameters
    in_place   it has a form that overwrites its first operand; None: it has one if
               it is elementwise
    casts      it takes ``dtype=``, to which its operand is converted first
    not_finite why a result may be ``nan``, ``inf`` or ``-inf``, by that result
    tame       per operand a number at which the function and its derivative are
               finite, if they are not finite everywhere; or empty
    domain     conditions under which it is defined and smooth, that compare operands
               with numbers: ``x > -1 and x < 1``; empty: there are none
    bounds     a function for the domain, if that depends on the operands' values:
               ``(xp, *operands)`` returns each condition as a `Relation`; ``domain``
               then says the same in words
    overflows  its value is finite for finite operands, but may be too large to hold
    roundings  units of rounding by which its value in floats may be off; None: the
               number that is assumed for functions of libraries
    inner_roundings  units of rounding by which the formula may alter its operand first
    literal    a number written as an operand is part of its formula: an order, an
               exponent
    further    the function that a formula calls by this name with two arguments:
               ``log(x, base)``; ``dot(A, x)`` of a matrix, as in NumPy
    of_number  the function that a program calls by this name with a tensor without
               dimensions and a plain number: ``max(x, 0)`` is ``maximum``
    sym        its SymPy expression, ``(sp, *operands)`` with SymPy as ``sp``, where the
               table of spellings names no function of SymPy
    family     the heading under which it is listed: its module, or a part of that
    """

    _: KW_ONLY
    cases: Sequence[Case] = ()
    doc: str = ""
    formula: str = ""
    kink: str = ""
    slope: str = ""
    aliases: Sequence[str] = ()
    also: Sequence[str] = ()
    star: str | None = None
    internal: bool = False
    special: str = ""
    ours: bool = False
    in_place: bool | None = None
    casts: bool = False
    not_finite: Mapping[str, str] = field(default_factory=dict)
    tame: Sequence[str] = ()
    domain: str = ""
    bounds: Formula | None = None
    overflows: bool = False
    roundings: int | None = None
    inner_roundings: int = 0
    literal: bool = False
    further: str = ""
    of_number: str = ""
    sym: Formula | None = None
    family: str = ""

    @property
    def base(self) -> str:
        """Return the public function's name: ``sum`` of ``sum.dim_IntList``."""
        return self.name.partition(".")[0]


@record
class Op(Entry):
    """A row of the table.

    node       PyTorch's node name, by default that of `node_of`; None: the row has no
               gradient
    turned     PyTorch's node name of the form in place, if that is another
    fwd        ``(xp, *inputs, **params)`` -> array, or a tuple of arrays
    partials   elementwise rows: per input the partial derivative
               ``(xp, y, *inputs, **params)``, a number, or None (not differentiable)
    masks      where a partial is 0 its product is 0 in both passes, even with an
               infinity or a NaN
    vjp        per input ``(xp, g, y, *inputs, **params)`` or None; if ``partials`` are
               given too, it replaces them in both passes, for rules that must mask
               rather than multiply. A variadic row has one callable that returns a
               tuple, one cotangent per input. If several outputs carry a gradient,
               ``g`` has one entry for each; where no cotangent arrived it is None,
               so that no term is computed from it, or zeros if ``returns`` is MANY
    together   the rules of ``vjp`` in one, where they share work: it is given flags,
               which of their results are ``wanted``, behind ``xp``, and lists them
    jvp        LINEAR, MULTILINEAR, TRANSPOSED (the default of rows with a vjp), or,
               for rows that save nothing,
               ``(xp, t, y, *inputs, **params)`` with ``t`` a tuple, a tangent per
               input: zeros where none arrives, None for an input that carries no
               gradient; derived where there are partials
    variadic   the inputs are a list of tensors of any length
    saves      values that its reverse rules, or PyTorch's, read: names of ``fwd``'s
               parameters in one text for all inputs, or one for each; ``y`` is the
               result, ``y.1`` its second output; empty: only shapes. None: all inputs,
               or, in a linear row, those that carry no gradient
    always_saves  a second backward pass is refused even where the rules read nothing:
               PyTorch saves something all the same, or they read parameters
    rule       PyTorch's node of the reverse rule itself, where a pass is recorded; None
               where the rule consists of operations that have nodes of their own
    returns    outputs that ``fwd`` returns; more than one, or MANY: a tuple
    carries    how many outputs, counted from the first, carry a gradient
    result     the type of the result: PROMOTED, WHOLE, FLOATS, AS_IS, TRUTH, FIRST or
               GIVEN
    wide       half floats are computed with in single precision, and rounded once
    exact_other  a second operand without dimensions is not rounded to half floats
    memory     where the result lies: OWN, PACKED, KEPT, VIEW or SHARED; for the
               first three, a result in an operand's memory is copied
    one_type   the operands have to be of one type
    refuses    the types that the row refuses if all operands have one of them: letters
               of kinds and, behind spaces, names
    no_truths  the message of the error if any operand is a tensor of bools
    fractions  the parameters may be fractions where all operands are integers
    jumps_at   the value jumps where the rounded quantity is this far above an integer
    smooth_at_zero  the value does not jump where the rounded quantity is 0
    steps_at   the only operand at which the value jumps; it is constant on both sides
    taught     the name of its derivative's rule in textbooks
    onto_zeros  PyTorch adds or writes to zeros, which its nodes show as an input before
               the others
    fixed      PyTorch's name of the function, then of the operands that the value
               depends on but that have no rule; a gradient for one of them is refused
    stops      the gradient ends here on purpose: ``detach``
    query      the row answers a question about its operand: in a composite, `call`
               returns the plain answer, not a tensor

    Raises:
        ValueError: the row contradicts itself.
    """

    _: KW_ONLY
    fwd: Formula = absent
    node: str | None = None
    turned: str = ""
    partials: tuple[Partial | float | None, ...] | None = None
    masks: bool = False
    vjp: Vjps | None = None
    together: Formula | None = None
    jvp: Jvp | Marker | None = None
    variadic: bool = False
    saves: str | tuple[str, ...] | None = None
    always_saves: bool = False
    rule: Rule | None = None
    returns: int = 1
    carries: int = 1
    result: Marker = PROMOTED
    wide: bool = False
    exact_other: bool = False
    memory: Marker = OWN
    one_type: bool = False
    refuses: str = ""
    no_truths: str = ""
    fractions: bool = True
    jumps_at: float | None = None
    smooth_at_zero: bool = False
    steps_at: int | None = None
    fixed: str = ""
    stops: bool = False
    query: bool = False
    onto_zeros: bool = False
    latex: str = ""
    taught: str = ""

    def __post_init__(self) -> None:
        rules = self.vjp or any(rule is not None for rule in self.partials or ())
        if rules and self.node is None:
            object.__setattr__(self, "node", node_of(self.base))
        if self.vjp is not None and self.partials is None and self.jvp is None:
            object.__setattr__(self, "jvp", TRANSPOSED)
        if self.node is not None and self.partials is None and self.vjp is None:
            raise ValueError(f"row {self.name!r} needs partials or vjp")
        if not self.cases:
            raise ValueError(f"row {self.name!r} has no cases")

    @property
    def keeps_shapes(self) -> bool:
        """Return whether its rules need only the shapes of differentiable inputs."""
        return self.jvp is LINEAR or (self.saves == "" and self.partials is None)

    @property
    def elementwise(self) -> bool:
        return self.partials is not None

    @property
    def lists_live_edges(self) -> bool:
        """Return whether its nodes have edges only to inputs that need a gradient: this
        is so for functions for which PyTorch has no derivative."""
        return self.node == "NotImplemented"

    @property
    def owns(self) -> bool:
        """Return whether the result has memory of its own, apart from the operands'."""
        return self.memory is not VIEW and self.memory is not SHARED


Rules: TypeAlias = dict[str, Any]
"""Fields shared by rows whose rules are alike, by name; see `Op`."""


@record
class Composite(Entry):
    """A public function written in terms of others.

    build      ``(call, *args, **kwargs)``, where ``call(name, *args, **kwargs)`` runs
               a row or a public function in the number system of its arguments
    operands   the parameters that ``build`` needs as tensors, because it reads their
               shapes; numbers and lists given there are converted

    either     the parameters that may be numbers or tensors; they have derivatives

    A missing ``doc`` or ``formula`` is that of the first row of the same name, in which
    a dot counts as an underscore: ``linalg.qr`` has those of ``linalg_qr``. A row has a
    ``doc`` only if it is public itself or such a function takes it.
    """

    build: Formula = absent
    operands: Sequence[str] = ()
    either: str = ""


Given = ParamSpec("Given")
Build = TypeVar("Build", bound=Formula)

OPS: Final[Table[Op]] = Table()
"""Every row, by its full name."""

_FIRST_ROWS: dict[str, Op] = {}
"""First row behind each public name."""

FUNCTIONS: Final[Table[Op | Composite]] = Table()
"""Every public function by name; a row without a dot in its name is public."""

ALIASES: Final[Table[str]] = Table()
"""Public names by their other spellings: ``absolute`` -> ``abs``."""

KEYWORDS: Final[dict[str, str]] = {"axis": "dim", "axes": "dims", "keepdims": "keepdim"}
"""Names of parameters in the table, by NumPy's names for them."""


def _entering(
    make: Callable[Given, Op | Composite], field: str
) -> Callable[Given, Callable[[Build], Build]]:
    """Return a function that makes an entry with ``make`` and puts it in the table; if
    called without the formula, the entry's ``field``, it returns a decorator of it."""

    @wraps(make)
    def enter(*args: Given.args, **kwargs: Given.kwargs) -> Callable[[Build], Build]:
        def of(formula: Build) -> Build:
            made: Any = partial(make, *args, **kwargs)
            _put(made(**{field: formula}), formula)
            return formula

        if field in kwargs or len(args) > 1:
            entry = make(*args, **kwargs)
            _put(entry, getattr(entry, field))
        return of

    return enter


def family_of(formula: Any) -> str:
    """Return the family that a formula's module names at this time as its ``FAMILY``,
    or else the one called like the module."""
    home = formula.__globals__
    named: str = home.get("FAMILY") or home["__name__"].rpartition(".")[2]
    return named


def _put(entry: Op | Composite, formula: Any) -> None:
    """Put an entry in the table."""
    own = _FIRST_ROWS.get(entry.name)
    first = own or _FIRST_ROWS.get(entry.name.replace(".", "_"))
    if first is not None and not (entry.doc and entry.formula):
        doc, text = entry.doc or first.doc, entry.formula or first.formula
        entry = replace(entry, doc=doc, formula=text)
    if entry.name in OPS.entered or entry.name in FUNCTIONS.entered:
        raise ValueError(f"{entry.name!r} is entered twice")
    if not entry.family:
        object.__setattr__(entry, "family", family_of(formula))
    if isinstance(entry, Op):
        OPS[entry.name] = entry
        _FIRST_ROWS.setdefault(entry.base, entry)
    if isinstance(entry, Composite) or "." not in entry.name:
        FUNCTIONS[entry.name] = entry
        ALIASES.update(dict.fromkeys(entry.aliases, entry.name))


row = _entering(Op, "fwd")
"""Enter a row in the table; without ``fwd``, return a decorator of it. See `Op`."""

ALL: Final = [case((3, 4)), case(())]
"""Cases of a function that is smooth everywhere: an array, and a scalar."""


def smooth(name: str, slope: Partial, **facts: Any) -> None:
    """Enter a row for a function of one operand that the namespace computes under the
    row's name.

    Args:
        slope: the derivative, ``(xp, y, x)``.
        facts: fields of the row; those that follow from the name may be left out.
    """
    usual = {"formula": f"{name}(x)", "latex": rf"\operatorname{{{{{name}}}}} {{0}}",
             "cases": ALL, "family": family_of(slope)}  # fmt: skip

    def fwd(xp: Any, x: Any) -> Any:
        return getattr(xp, name)(x)

    fwd.__module__ = slope.__module__
    row(name, fwd=fwd, partials=(slope,), **(usual | facts))


def jointly(rule: Formula, count: int, fixed: int = 0) -> Rules:
    """Return the fields of a row whose rules for ``count`` inputs are ``together`` in
    ``rule``; ``fixed`` further inputs have none."""

    def single(slot: int) -> Formula:
        wanted = [each == slot for each in range(count)]
        return lambda xp, *given, **params: rule(xp, wanted, *given, **params)[slot]

    return {"together": rule, "vjp": (*map(single, range(count)), *(None,) * fixed)}


of_numbers = partial(row, refuses=TRUTHS)
"""Enter a row that refuses bools; see `row`."""

of_floats = partial(row, refuses=WHOLES)
"""Enter a row that refuses bools and integers; see `row`."""

of_wide = partial(row, refuses=NOT_WIDE)
"""Enter a row that takes only single and double floats; see `row`."""

function = _entering(Composite, "build")
"""Enter a composite; without ``build``, return its decorator. See `Composite`."""


def offered() -> list[str]:
    """Return the names of the functions that users are offered, without aliases."""
    return [name for name, entry in FUNCTIONS.items() if not entry.internal]


def parameters(entry: Op | Composite) -> tuple[str, ...]:
    """Return the names of a function's parameters, inputs first, without ``xp``."""
    code = (entry.fwd if isinstance(entry, Op) else entry.build).__code__
    count = code.co_argcount + code.co_kwonlyargcount
    return code.co_varnames[1:count]


def defaults(entry: Op | Composite) -> dict[str, Any]:
    """Return the default values of a function's parameters, by name."""
    formula = entry.fwd if isinstance(entry, Op) else entry.build
    code, given = formula.__code__, formula.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(given) : code.co_argcount]
    return dict(zip(names, given, strict=True)) | (formula.__kwdefaults__ or {})


def plain_types(entry: Op | Composite) -> dict[str, type]:
    """Return, by name, the type in `PLAIN` of each parameter whose default and values
    in the cases are all of that type; integers mixed with floats count as float."""
    types: dict[str, set[type]] = {}
    for params in (defaults(entry), *(case.params for case in entry.cases)):
        for name, value in params.items():
            kind = float if isinstance(value, float) else type(value)
            if kind in PLAIN:
                types.setdefault(name, set()).add(kind)
    return {
        name: float if float in found else next(iter(found))
        for name, found in types.items()
        if len(found) == 1 or found == {float, int}
    }


def plain_values(entry: Composite) -> list[str]:
    """Return a composite's parameters that are plain numbers or truth values, which
    have no derivative."""
    kinds = plain_types(entry)
    either = {*entry.operands, *entry.either.split()}
    named = [name for name, kind in kinds.items() if kind is not str]
    return [name for name in named if name not in either]


PLAIN: Final = (float, int, bool, str)
"""Types of plain values: parameters may have them, operands are tensors instead."""


def overloads(name: str) -> list[Op]:
    """Return the rows behind a public function: its own, or ``name.overload``."""
    return OPS.overloads(name)
