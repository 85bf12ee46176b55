"""The relation between tensors and their views, which an in-place change has to follow.

Invariant: a view refers to its base, the tensor at the bottom of its chain of views; a
base refers to its views only weakly. A *fragile* view is one of several outputs of an
operation, or was made while nothing was recorded: a change of its memory cannot be
recorded, since its new place in the graph is not known.
"""

from __future__ import annotations

from typing import Any
from weakref import ref

from .errors import EngineError
from .limits import MIN_VIEWS_TO_SWEEP
from .modes import MODE
from .node import Node, output_at
from .tensor import Tensor
from .versions import is_lent, owner

ONE_OF_SEVERAL = (
    "This view is the output of a function that returns multiple views. Such functions "
    "do not allow the output views to be modified inplace. You should replace the "
    "inplace operation by an out-of-place one."
)
_UNCLEAR = (
    "Given that this use case is ambiguous and error-prone, it is forbidden. You can "
    "clarify your code by moving both the view and the inplace either both inside the "
    "{} block (if you don't want the inplace to be tracked) or both outside (if you "
    "want the inplace to be tracked)."
)
UNRECORDED = _UNCLEAR.format("no_grad")
INFERRED = _UNCLEAR.format("inference_mode")
ITSELF = "is being modified inplace"
ANOTHER = "its base or another view of its base has been modified inplace"


class LostView(Tensor):
    """A fragile view whose memory was changed; reading its edge raises an error."""

    __slots__ = ()

    edge: Any = property(lambda self: _refused(self))
    requires_grad: Any = property(lambda self: True)


def _refused(view: LostView) -> None:
    if MODE.enabled:
        raise EngineError(view.__dict__["_lost"])


def note_view(source: Tensor, out: Tensor, several: bool = False) -> None:
    """Remember that an operation's output is a view of its input, if it is one.

    For values without memory, such as symbols, every output of an operation that gives
    views counts as a view.

    Args:
        several: the operation has more than one output.
    """
    raw, y = source.raw, out.raw
    if y is not raw:
        base = getattr(y, "base", None)
        if base is not raw and base is not getattr(raw, "base", None):
            seen = base is not None or is_lent(y)
            base = owner(y) if seen and owner(y) is owner(raw) else None
        if base is None and source.xp.writeable:
            return
    below = getattr(source, "view_of", None)
    if not MODE.enabled:
        out.fragile = INFERRED if MODE.inference else UNRECORDED
    elif several:
        out.fragile = ONE_OF_SEVERAL
    elif below is not None and source.fragile:
        out.fragile = source.fragile
    else:
        out.fragile = ""
    base = out.view_of = source if below is None else below
    views = getattr(base, "views", None)
    if views is None:
        base.views = [ref(out)]
    else:
        note(views, out)


def note_sharer(source: Tensor, out: Tensor) -> None:
    """Note that a tensor shares the memory of another without being a view of it."""
    base = base_of(source)
    group = getattr(base, "group", None)
    if group is None:
        group = base.group = [ref(base)]
    note(group, out)
    out.group = group


def sharers(t: Tensor) -> list[Tensor]:
    """Return all tensors known to lie in the memory of a tensor, itself included."""
    base = base_of(t)
    found = [held() for held in getattr(base, "group", ())] or [base]
    bases = [each for each in found if each is not None]
    return [each for base in bases for each in (base, *live_views(base))]


def base_of(t: Tensor) -> Tensor:
    """Return the tensor that ``t`` is a view of; itself if it is none."""
    below: Tensor | None = getattr(t, "view_of", None)
    return t if below is None else below


def live_views(base: Tensor) -> list[Tensor]:
    """Return the views of a tensor that still exist."""
    found = [held() for held in getattr(base, "views", None) or ()]
    return [view for view in found if view is not None]


def demand_sturdy(t: Tensor) -> None:
    """Raise an error if a tensor whose change is to be recorded is a fragile view.

    Raises:
        EngineError: in PyTorch's words.
    """
    if getattr(t, "view_of", None) is not None and t.fragile:
        raise EngineError(_why(t, ITSELF))


def lose(view: Tensor) -> None:
    """Mark a fragile view as lost, because its memory was changed."""
    if type(view) is Tensor:
        view.__dict__["_lost"] = _why(view, ANOTHER)
        view.__class__ = LostView


def lose_views(t: Tensor) -> None:
    """Mark the fragile views of a changed tensor's memory as lost."""
    base = base_of(t)
    if getattr(base, "views", None) and base.edge is not None:
        for view in live_views(base):
            if view.fragile:
                lose(view)


def _why(view: Tensor, change: str) -> str:
    if isinstance(view, LostView):
        return str(view.__dict__["_lost"]).replace(ANOTHER, change)
    edge = view.edge
    if view.fragile == INFERRED:
        what = "A view was created in inference mode"
        change = f"{change} in normal mode"
    elif edge is None:
        what = "A view was created in no_grad mode"
        change = f"{change} with grad mode enabled"
    else:
        node, nr = output_at(edge)
        assert isinstance(node, Node)
        what = f"Output {nr} of {node.operation()} is a view"
    return f"{what} and {change}. {view.fragile}"


def note(held_weakly: list[Any], t: Tensor) -> None:
    """Add a weak reference to a list; at times drop the dead ones from it."""
    count = len(held_weakly)
    if count >= MIN_VIEWS_TO_SWEEP and not count & (count - 1):
        held_weakly[:] = [held for held in held_weakly if held() is not None]
    held_weakly.append(ref(t))
