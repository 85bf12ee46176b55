"""Recording: a row becomes a callable on tensors that runs it and adds its node.

Invariant: the recorded graph is PyTorch's. ``FUNCTIONS_ON_TENSORS[name]`` is what the
language, the methods and the recording namespace all call, so each function exists
once. A node is added if grad mode is on and an input that can carry a gradient has an
edge.

    y = apply(OPS["tanh"], (x,), {})
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ops import FUNCTIONS, OPS, VIEW, Composite, Formula, Op
from ..ops.checks import LIMIT, broadcast_shape, check_size, demand_fixed
from ..ops.types import Dtype
from . import devices, dtypes
from .call import Signature, class_of, class_of_row
from .custom import visible_edge
from .errors import (
    OVERFLOW,
    CallError,
    DeviceError,
    EngineError,
    LimitError,
    LinAlgError,
    ShapeError,
    ValueRangeError,
)
from .fast import binary, unary
from .methods import named
from .modes import MODE
from .namespace import NumberSystem
from .node import (
    ConstantNode,
    PlainNode,
    Port,
    carried,
    differentiable_slots,
    node_class,
)
from .promote import (
    in_floats,
    in_one_type,
    in_result_type,
    narrowed,
    rounds_integers,
    whole_parameters,
    widen_halves,
)
from .raw import Params, Raw, Run
from .rules import placed, reverse_rules
from .tensor import (
    Tensor,
    constant,
    note_sharer,
    note_view,
    with_edge,
)
from .versions import copy_if_shared

SINGULAR = {
    "inverse": "linalg.inv: The diagonal element {} is zero, the inversion could not "
    "be completed because the input matrix is singular.",
    "solve": "torch.linalg.solve: The solver failed because the input matrix is "
    "singular.",
}
INDEFINITE = (
    "linalg.cholesky: The factorization could not be completed because the input is "
    "not positive-definite (the leading minor of order {} is not positive-definite)."
)


def explain_failure(op: Op, raw: tuple[Raw, ...], error: Exception) -> Any:
    """Return the engine's error for an exception that a forward formula raised."""
    if isinstance(error, EngineError) or _is_table_error(error):
        return error
    shapes = [r.shape for r in raw if hasattr(r, "shape")]
    if op.elementwise:
        try:
            broadcast_shape(*shapes)
        except ShapeError as clash:
            return clash
    listed = " and ".join(str(list(s)) for s in shapes)
    text = str(error)
    if "ingular matrix" in text:
        template = SINGULAR.get(op.base, f"{op.base}: the matrix is singular")
        return LinAlgError(template.format(_first("zero_pivots", raw[0])))
    if "positive definite" in text:
        return LinAlgError(INDEFINITE.format(_first("indefinite_minors", raw[0])))
    if "negative integer powers" in text:
        return ValueRangeError(text)
    if isinstance(error, OverflowError) and "out of bounds for" in text:
        return _out_of_bounds(text)
    if isinstance(error, IndexError | ValueError):
        kind = IndexError if isinstance(error, IndexError) else ShapeError
        return kind(f"{op.base}: {text}" + (f" (shapes {listed})" if listed else ""))
    if isinstance(error, MemoryError):
        return LimitError(f"{op.base}: not enough memory ({text or listed})")
    return error


def _out_of_bounds(text: str) -> ValueRangeError:
    """Return the error on a plain number that NumPy found too large for a dtype."""
    number, name = text.split()[2], text.split()[-1]
    if number.startswith("-") and name.startswith("u"):
        return ValueRangeError("Integers to negative integer powers are not allowed.")
    return ValueRangeError(OVERFLOW.format("int" if name == "int32" else f"{name}_t"))


def _is_table_error(error: Exception) -> bool:
    """Return whether a statement of the table raised the error, in PyTorch's words."""
    from opcode import opmap

    trace: Any = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    frame = trace.tb_frame
    where = str(frame.f_globals.get("__name__", ""))
    raising = frame.f_code.co_code[trace.tb_lasti] == opmap["RAISE_VARARGS"]
    return raising and where.startswith(TABLE)


TABLE = f"{__name__.partition('.')[0]}.ops."


def _first(name: str, a: Raw) -> int:
    """Return the first nonzero number that a function finds, else 1."""
    floats: Any = np.array(devices.host(a), np.result_type(a.dtype.str, "f4"))
    found = getattr(devices.NUMPY, name)(floats)
    return next((int(number) for number in found.reshape(-1) if number), 1)


PLAIN = (PlainNode, ConstantNode)
"""Classes of nodes that the fast recorders of one and two operands can make."""


class Recorder:
    """A row as a callable on tensors; its node class is made on the first call."""

    def __init__(self, op: Op) -> None:
        self.op = op
        self.asks = op.query
        self.fwd = placed(op)
        signature = Signature(op)
        self.bind = signature.bind
        differentiable = op.node is not None
        self.cls: Any = node_class(op) if differentiable else None
        self.slots = differentiable_slots(op) if differentiable else ()
        lone = signature.inputs == 1
        self.of_two = binary(self) if self.is_plain and not lone else None

    @property
    def is_plain(self) -> bool:
        """Return whether the fast recorders of one and two operands can run the row."""
        if self.cls is None or not issubclass(self.cls, PLAIN):
            return False
        # Only `general` refuses half floats, and operands that need a missing rule.
        return "float16" not in self.op.refuses and not self.op.fixed

    def __call__(self, inputs: tuple[Any, ...], params: Params) -> Any:
        if self.of_two is not None and isinstance(inputs[0], Tensor):
            return self.of_two(*inputs)
        return self.general(inputs, params)

    def general(self, inputs: tuple[object, ...], params: Params) -> Any:
        """Return the row's result for any inputs, observed and recorded."""
        op = self.op
        if op.fixed:
            _demand_fixed(op, inputs)
        first = inputs[0] if inputs else None
        if not op.owns and isinstance(first, Tensor) and first.xp.plain:
            first._shareable()
        xp, raw = _raw(op, inputs)
        home, given = MODE.home, raw
        raw, params, y = _computed(op, self.fwd, xp, inputs, raw, params)
        if home is not None and home.takes_numbers and _are_rounded(xp, given, y):
            xp, raw = home, tuple(map(home.array, given))
            y = _formula(op, self.fwd, xp, raw, params)
        node = self._node(inputs, xp, raw, y, params)
        out: Any
        if op.returns == 1:
            out = with_edge(y, xp, node)
        else:
            count = 0 if node is None else carried(op, y)
            parts = [
                with_edge(part, xp, Port(node, i) if i < count else None)
                for i, part in enumerate(y)
            ]
            out = (class_of_row(op) or tuple)(parts)
        if not op.owns and isinstance(inputs[0], Tensor):
            remember = note_view if op.memory is VIEW else note_sharer
            for part in out if op.returns != 1 else (out,):
                remember(inputs[0], part)
        if MODE.looked_at:
            if MODE.made is not None and op.owns:
                MODE.made.note(*(y if isinstance(y, tuple) else (y,)))
            for look in MODE.on_node if node is not None else ():
                look(node)
            for look in MODE.on_call:
                look(op, inputs, params, raw, out)
        return out

    def _node(
        self,
        inputs: tuple[object, ...],
        xp: NumberSystem,
        raw: tuple[object, ...],
        y: object,
        params: Params,
    ) -> Any:
        """Return the node of the result; None if nothing is to be recorded."""
        if self.cls is None or not MODE.enabled:
            return None
        chosen = inputs if self.op.variadic else [inputs[i] for i in self.slots]
        edges = [visible_edge(t) if isinstance(t, Tensor) else None for t in chosen]
        if edges.count(None) == len(edges):
            return None
        return self.cls.create(edges, xp, raw, y, params)


def _are_rounded(xp: NumberSystem, raw: tuple[Any, ...], y: Any) -> bool:
    """Return whether the result is of floats, and the inputs of integers or bools."""
    if xp.symbolic or isinstance(y, tuple) or y.dtype.kind != "f":
        return False
    kinds = [r.dtype.kind for r in raw if hasattr(r, "dtype")]
    numbers = all(isinstance(r, int | float) or hasattr(r, "dtype") for r in raw)
    return numbers and set(kinds) <= set("biu")


def _demand_fixed(op: Op, inputs: tuple[object, ...]) -> None:
    """Raise an error if a gradient would need a rule that the row lacks."""
    function, *names = op.fixed.split()
    slots = [slot for slot, rule in enumerate(reverse_rules(op)) if rule is None]
    for name, slot in zip(names, slots, strict=True):
        demand_fixed(function, name, inputs[slot] if slot < len(inputs) else None)


def _computed(
    op: Op,
    fwd: Formula,
    xp: NumberSystem,
    inputs: tuple[object, ...],
    raw: tuple[Raw, ...],
    params: Params,
) -> tuple[tuple[Raw, ...], Params, Any]:
    """Return the inputs' arrays and the parameters in fitting types, and the result of
    the row's formula."""
    whole, written = False, (raw, params)
    try:
        if not xp.symbolic:
            raw, params, whole = in_one_type(op, raw, params, inputs)
            if whole:
                params = whole_parameters(op, params)
        given = raw if xp.symbolic else narrowed(op, raw)
        if op.elementwise and len(raw) > 1:
            _check_broadcast(raw)
        exact = widen_halves(op, raw, written[0], params)
        if exact is None:
            y = _formula(op, fwd, xp, given, params)
        else:
            y = _formula(op, fwd, xp, *exact).astype(raw[0].dtype)
        if whole and rounds_integers(y, raw, params, *written):
            y = _formula(op, fwd, xp, in_floats(written[0]), written[1])
    except Exception as error:
        # Neither NumPy's words nor those of a fast way tell a caller anything.
        raise explain_failure(op, raw, error) from None
    if whole:
        y = in_result_type(op, raw, y)
    if op.owns and xp.writeable:
        several = isinstance(y, tuple)
        y = (
            tuple([copy_if_shared(part, raw) for part in y])
            if several
            else copy_if_shared(y, raw)
        )
    return raw, params, y


def _check_broadcast(operands: tuple[Raw, ...]) -> None:
    """Raise an error if the broadcast result of operands is larger than allowed."""
    most = 1
    for operand in operands:
        most *= getattr(operand, "size", 1)
    if most > LIMIT.entries:
        check_size(broadcast_shape(*[getattr(o, "shape", ()) for o in operands]))


def _formula(
    op: Op, fwd: Formula, xp: NumberSystem, raw: tuple[Raw, ...], params: Params
) -> Any:
    whole_row = xp.whole_row
    if whole_row is None:
        return fwd(xp, *raw, **params)
    return whole_row(op, raw, params)


def _raw(op: Op, inputs: tuple[object, ...]) -> tuple[Any, tuple[Any, ...]]:
    xp: Any = None
    first: Tensor
    raw = []
    mixed = False
    for value in inputs:
        if isinstance(value, Tensor):
            raw.append(value.raw)
            if xp is None:
                xp, first = value.xp, value
            elif value.xp is not xp:
                first = _leading(first, value)
                xp = first.xp
                mixed = True
        else:
            raw.append(value)
    if mixed and not xp.symbolic:
        # A number on the host becomes Python's where it meets a GPU's arrays.
        raw = [
            r.item() if isinstance(v, Tensor) and v.xp.device != xp.device else r
            for v, r in zip(inputs, raw, strict=True)
        ]
    if xp is None:
        first = constant(inputs[0])
        return first.xp, (first.raw, *raw[1:])
    return xp, tuple(raw)


def _leading(a: Tensor, b: Tensor) -> Tensor:
    """Return the operand in whose namespace both are computed with: a symbolic one, one
    beside the other's arrays, or that of the other operand of a number on the host."""
    for one, other in ((a, b), (b, a)):
        plain = not other.xp.symbolic
        lone = plain and other.xp.device == "cpu" and not other.raw.shape
        lone = lone or other.xp is getattr(one.xp, "base", None)
        lifted = one.xp.symbolic and plain
        at_home = one.xp is MODE.home
        if (lifted or lone) and (other.edge is None or (lifted and at_home)):
            return one
    raise DeviceError(
        "Expected all tensors to be on the same device, but found at "
        f"least two devices, {a.xp.device} and {b.xp.device}!"
    )


RECORDERS: dict[str, Recorder] = {}
FUNCTIONS_ON_TENSORS: dict[str, Run] = {}


def apply(op: Op, inputs: tuple[object, ...], params: Params) -> Any:
    """Return the result of a row on tensors and numbers, with its node recorded."""
    return recorder(op)(inputs, params)


def recorder(op: Op) -> Recorder:
    found = RECORDERS.get(op.name)
    if found is None:
        found = RECORDERS[op.name] = Recorder(op)
    return found


def call(name: str, /, *args: object, **kwargs: object) -> Any:
    """Return the result of a row (by its full name) or a public function on tensors."""
    record = RECORDERS.get(name)
    if record is None:
        run = FUNCTIONS_ON_TENSORS.get(name)  # a row's has a recorder
        op = OPS.get(name) if run is None else None
        if op is None:
            return (run or function(name))(*args, **kwargs)
        record = recorder(op)
    if record.asks:
        return ask(record.op, *args)
    return record(*record.bind(args, kwargs))


def ask(op: Op, x: object, *args: object) -> Any:
    """Return the plain Python value of a row that answers a question on a tensor."""
    t = x if isinstance(x, Tensor) else constant(x)
    return op.fwd(t.xp, t.raw, *args)


def function(name: str) -> Run:
    """Return the public function ``name`` on tensors; KeyError if there is none."""
    found = FUNCTIONS_ON_TENSORS.get(name)
    if found is None:
        found = FUNCTIONS_ON_TENSORS[name] = _as_public(name)
    return found


def _as_public(name: str) -> Run:
    """Return a public function on tensors."""
    entry = FUNCTIONS[name]
    run = _composite(entry) if isinstance(entry, Composite) else _row(entry)
    found: Run = named(run, name, entry.doc or entry.formula)
    return found


def _row(op: Op) -> Run:
    record = recorder(op)
    bind = record.bind

    def bound(*args: object, **kwargs: object) -> Any:
        try:
            given = bind(args, kwargs)
        except CallError as error:
            # How a call is bound tells its caller nothing.
            raise error.with_traceback(None) from None
        return record(*given)

    if not record.is_plain:
        return bound
    alone = record.of_two is None
    count = 1 if alone else 2
    fast: Any = unary(record) if alone else record.of_two

    def run_plain(*args: object, **kwargs: object) -> Any:
        fits = len(args) == count and not kwargs and isinstance(args[0], Tensor)
        if fits and (alone or isinstance(args[1], Tensor | int | float)):
            return fast(*args)
        return bound(*args, **kwargs)

    return run_plain


def _composite(entry: Composite) -> Run:
    arguments, build = Signature(entry).arguments, entry.build

    def run(*args: object, **kwargs: object) -> Any:
        try:
            args, kwargs = arguments(args, kwargs)
        except CallError as error:
            raise error.with_traceback(None) from None
        return build(call, *args, **kwargs)

    kind = class_of(entry.name)
    if kind is None:
        return run
    return lambda *args, **kwargs: kind(run(*args, **kwargs))


def moved(t: Tensor, type_: str | None, target: object, back: object = None) -> Tensor:
    """Return a recorded copy of a tensor in a type and a namespace; None keeps its own.

    Only floats carry a gradient: a copy in integers or truth values has no edge.
    """
    if type_ is not None and not dtypes.named(type_).is_floating_point:
        t = t.detach()
    if back is None:
        back = (t.raw.dtype.name, None if target is None else t.xp)
    params = {"dtype": type_, "device": target, "back": back}
    out: Tensor = apply(OPS["to_copy.default"], (t,), params)
    if target is not None:
        out.xp = target
    return out


def in_type(g: Any, type_: Dtype) -> Any:
    """Return a cotangent, an array or a tensor, in a type; a tensor keeps its graph.

    Where floats of two widths meet, a cotangent has the type of the value it belongs to
    wherever a user sees it: at leaves, at hooks, in custom functions.
    """
    if not isinstance(g, Tensor):
        return g if g.dtype == type_ else g.astype(type_)
    if g.raw.dtype == type_:
        return g
    return moved(g, type_.name, None)


class RecordingNamespace(NumberSystem):
    """The namespace of recording tensors: rules that run in it are differentiable."""

    device = "recording"
    call = staticmethod(call)

    @property
    def symbolic(self) -> bool:  # type: ignore[override]
        """Return whether tensors are symbolic: `MODE.home` takes plain numbers."""
        return MODE.home is not None and MODE.home.takes_numbers

    def to_copy(
        self, x: Any, dtype: str | None, device: object, back: object = None
    ) -> Any:
        return moved(x, dtype, device, back)

    def __getattr__(self, name: str) -> Run:
        try:
            found = function(name)
        except KeyError:
            raise AttributeError(f"no function {name!r} in the table") from None
        setattr(self, name, found)
        return found


RECORDING = RecordingNamespace()
