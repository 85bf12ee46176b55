"""Work in parts, on threads or on one, gives what it gives in one piece."""

from threading import Event, Thread, get_ident

import numpy as np
import pytest

import gradcli
from gradcli.engine import NUMPY, parts

ENTRIES = parts.MIN_BYTES_TO_CUT // 8


@pytest.fixture(params=[1, 2, 5])
def threads(request, monkeypatch):
    monkeypatch.setattr(parts, "threads", lambda: request.param)
    monkeypatch.setattr(parts, "_pool", [])
    yield request.param
    for pool in parts._pool:
        pool.shutdown()


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_parts_are_joined_in_order(threads, count):
    x = np.arange(count * 6.0).reshape(count, 6)
    sizes = []

    def run(a, b):
        sizes.append(len(a))
        return a * 2 + b

    found = parts.over_parts(run, (x, x[::-1]), ENTRIES)
    assert (found == x * 2 + x[::-1]).all()
    assert sum(sizes) == count


def test_no_part_is_small_however_many_threads_there_are(monkeypatch):
    monkeypatch.setattr(parts, "threads", lambda: 1000)
    monkeypatch.setattr(parts, "_pool", [])
    sizes = []
    x = np.ones((parts.MIN_BYTES_TO_CUT // 8, 1))
    parts.over_parts(lambda a: sizes.append(a.nbytes) or a, (x,), 1)
    assert len(sizes) > 1
    assert min(sizes) >= parts.MIN_PART_BYTES - x.itemsize
    parts._pool[0].shutdown()


def test_little_is_done_in_one_piece(threads):
    x = np.ones((8, 3))
    seen = []
    parts.over_parts(lambda a: seen.append(len(a)) or a, (x,), 3)
    assert seen == [8]


def test_a_failure_in_any_part_is_raised(threads):
    def run(a):
        if a[0, 0] == 5:
            raise ValueError("five")
        return a

    with pytest.raises(ValueError, match="five"):
        parts.over_parts(run, (np.arange(8.0).reshape(8, 1),), ENTRIES)


def test_nobody_waits_for_a_thread_that_has_not_begun(monkeypatch):
    monkeypatch.setattr(parts, "threads", lambda: 2)
    monkeypatch.setattr(parts, "_pool", [])
    held, mine = Event(), []
    parts._helped(held.wait, 1)  # the only helper is busy

    def run(a):
        mine.append(get_ident())
        return a

    found = []
    call = Thread(target=lambda: found.append(
        parts.over_parts(run, (np.ones((4, 1)),), ENTRIES)))  # fmt: skip
    call.start()
    call.join(timeout=60)
    held.set()
    parts._pool[0].shutdown()
    assert len(found) == 1
    assert len(set(mine)) == 1


def convolved():
    x = gradcli.randn(9, 4, 12, 12, requires_grad=True)
    w = gradcli.randn(6, 2, 3, 3, requires_grad=True)
    return gradcli.conv2d(x, w, padding=1, groups=2), x, w


def along(name, shape, dim):
    def made():
        x = gradcli.randn(*shape, requires_grad=True)
        return getattr(gradcli, name)(x, dim), x

    return made


@pytest.mark.parametrize(
    "made",
    [convolved]
    + [
        along(name, shape, dim)
        for name in ("softmax", "log_softmax")
        for shape, dim in (((601, 20), -1), ((601, 20), 0), ((37, 3, 200), 1))
    ],
)
@pytest.mark.usefixtures("threads")
def test_a_batch_in_parts_is_the_same_to_the_last_bit(monkeypatch, made):
    def outcome():
        gradcli.manual_seed(0)
        y, *leaves = made()
        (y * y).sum().backward()
        return [t.detach().numpy() for t in (y, *[x.grad for x in leaves])]

    whole = outcome()
    monkeypatch.setattr(parts, "MIN_BYTES_TO_CUT", 1)
    monkeypatch.setattr(parts, "PART_BYTES", 1 << 15)
    monkeypatch.setattr(parts, "MIN_BYTES_TO_SHARE", 1)
    monkeypatch.setattr(parts, "MIN_PART_BYTES", 1 << 14)
    for a, b in zip(whole, outcome(), strict=True):
        assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize(
    "shape", [(8, 300, 64), (64, 300, 8), (16, 256, 64), (130, 200, 30)]
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_with_a_transposed_matrix(shape, dtype):
    rows, inner, columns = shape
    draw = np.random.default_rng(0)
    a, b = draw.normal(size=(rows, inner)), draw.normal(size=(columns, inner))
    y = NUMPY.matmul(a.astype(dtype), b.astype(dtype).T)
    assert y.dtype == dtype
    assert y.flags.c_contiguous
    np.testing.assert_allclose(y, a @ b.T, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    ("a", "b", "alone"),
    [
        ((3, 100, 100), (3, 100, 100), True),
        ((200, 200), (200, 200), False),
        ((600, 600), (600,), True),
        ((600,), (600, 600), True),
        ((300, 300), (300,), False),
        ((20_000,), (20_000,), True),
        ((5_000,), (5_000,), False),
    ],
)
def test_a_product_of_little_work_runs_in_one_thread(monkeypatch, a, b, alone):
    said = [4]
    bound = parts._Bound(lambda: said[-1], said.append)
    monkeypatch.setattr(parts, "library", lambda: bound)
    made = parts.product(np.ones(a), np.ones(b))
    assert (made == a[-1]).all()
    assert said == ([4, 1, 4] if alone else [4])


@pytest.mark.parametrize("shapes", [((), ()), ((), (3,)), ((3,), ())])
def test_a_number_is_no_factor_of_a_product(shapes):
    a, b = map(np.ones, shapes)
    with pytest.raises(ValueError, match="enough dimensions"):
        parts.product(a, b)


@pytest.mark.parametrize(
    ("shape", "alone"),
    [((100, 100), True), ((2, 40, 40), True), ((3, 3), False), ((600, 600), False)],
)
def test_a_small_matrix_is_factored_in_one_thread(monkeypatch, shape, alone):
    said = [4]
    bound = parts._Bound(lambda: said[-1], said.append)
    monkeypatch.setattr(parts, "library", lambda: bound)
    y = NUMPY.det(np.broadcast_to(np.eye(shape[-1]), shape))
    assert (y == 1).all()
    assert said == ([4, 1, 4] if alone else [4])


def test_a_matrix_that_is_refused_puts_the_number_back(monkeypatch):
    said = [4]
    bound = parts._Bound(lambda: said[-1], said.append)
    monkeypatch.setattr(parts, "library", lambda: bound)
    with pytest.raises(np.linalg.LinAlgError):
        NUMPY.cholesky(-np.eye(50))
    assert said == [4, 1, 4]


def test_products_in_several_threads_put_the_number_back_once():
    said = [4]
    bound = parts._Bound(lambda: said[-1], said.append)
    with bound:
        with bound:
            assert said[-1] == 1
        assert said[-1] == 1
    assert said == [4, 1, 4]


def test_threads_are_those_that_stood_before(monkeypatch):
    said = [4]
    bound = parts._Bound(lambda: said[-1], said.append)
    monkeypatch.setattr(parts, "library", lambda: bound)
    with bound:
        assert parts.threads() == 4
    assert parts.threads() == 4
    monkeypatch.setattr(parts, "library", lambda: None)
    assert parts.threads() == 1
