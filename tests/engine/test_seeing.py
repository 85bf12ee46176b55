"""Views that are made at once are those that the general way makes."""

import numpy as np
import pytest

import gradcli
from gradcli.engine.modes import MODE

SEEN = {
    "select": lambda x: x[1],
    "select from the end": lambda x: x[-1],
    "select twice": lambda x: x[0][1],
    "slice": lambda x: x[1:3],
    "open slice": lambda x: x[:-1],
    "all": lambda x: x[:],
    "steps": lambda x: x[::2],
    "empty slice": lambda x: x[3:1],
    "T": lambda x: x.T,
    "T twice": lambda x: x.T.T,
    "transpose": lambda x: x.transpose(0, 1),
    "transpose from the end": lambda x: x.transpose(-1, -2),
    "transpose of itself": lambda x: x.transpose(0, 0),
    "reshape": lambda x: x.reshape(2, -1),
    "reshape by a tuple": lambda x: x.reshape((-1,)),
    "reshape of a view": lambda x: x[1:].reshape(-1),
    "reshape of a transpose": lambda x: x.T.reshape(-1),
    "in-place sum": lambda x: x.detach().__iadd__(2),
    "product": lambda x: x * x,
    "quotient": lambda x: x / (x + 3),
}
REFUSED = [
    lambda x: x[4], lambda x: x[-5], lambda x: x[::-1], lambda x: x[::0],
    lambda x: x.reshape(5), lambda x: x.reshape(-1, -1), lambda x: x.reshape(-2, 6),
    lambda x: x.reshape(), lambda x: x.sum()[0], lambda x: x.transpose(0, 2),
]  # fmt: skip


def generally(see, x):
    """What a call gives while somebody looks at each."""
    with MODE.having(on_node=(), on_call=(lambda *_: None,)):
        return see(x)


def chain(t):
    names, node = [], t.grad_fn
    while node is not None:
        params = getattr(node, "params", None)
        names.append((node.name(), params))
        nexts = node.next_functions
        node = nexts[0][0] if nexts else None
    return names


@pytest.mark.parametrize("see", SEEN.values(), ids=list(SEEN))
@pytest.mark.parametrize(
    ("graph", "dtype"), [(True, "float32"), (False, "float32"), (False, "int64")]
)
def test_the_same_as_where_somebody_looks(see, graph, dtype):
    made = gradcli.tensor(np.arange(12).reshape(4, 3).astype(dtype))
    x = made.requires_grad_() * 1 if graph else made
    wanted, found = generally(see, x), see(x)
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    assert found.stride() == wanted.stride()
    assert (found == wanted).all()
    assert chain(found) == chain(wanted)
    assert found._is_view() == wanted._is_view()
    assert found._base is wanted._base or not graph


@pytest.mark.parametrize("see", REFUSED)
def test_refused_in_the_same_words(see):
    x = gradcli.ones(4, 3, requires_grad=True) * 1
    with pytest.raises(Exception) as wanted:  # noqa: PT011  # of any class, compared
        generally(see, x)
    with pytest.raises(type(wanted.value)) as found:
        see(x)
    assert str(found.value) == str(wanted.value)


def test_a_change_by_a_number_is_counted_and_reaches_views():
    x = gradcli.zeros(4)
    seen = x[1:]
    x += 1
    assert x._version == seen._version == 1
    assert (seen == 1).all()
    seen *= 3
    assert x.tolist() == [1, 3, 3, 3]
    assert x._version == 2


def test_a_change_by_a_tensor_that_is_itself_reads_what_was_there():
    x = gradcli.arange(4.0)
    x += x
    assert x.tolist() == [0, 2, 4, 6]


def test_a_change_to_a_wider_type_is_refused():
    x = gradcli.arange(4)
    with pytest.raises(RuntimeError, match="can't be cast"):
        x += 0.5
    assert x.tolist() == [0, 1, 2, 3]
