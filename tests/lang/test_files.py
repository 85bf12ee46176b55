"""Files: what they give, and that none of them is trusted."""

from __future__ import annotations

import contextlib
import io
import json
import os
import struct
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from gradcli.lang.errors import ProgramError
from gradcli.tables.files import read_file
from gradcli.tables.filesystem import refusal


def problem(place: object, **options: int) -> ProgramError:
    with pytest.raises(ProgramError) as caught:
        read_file(str(place), **options)
    return caught.value


finite = arrays.arrays(
    np.float64,
    arrays.array_shapes(max_dims=3, max_side=4),
    elements=st.floats(allow_nan=False, allow_infinity=False),
)


@given(array=finite)
def test_json_round_trips(tmp_path_factory, array) -> None:
    path = tmp_path_factory.mktemp("json") / "a.json"
    path.write_text(json.dumps(array.tolist()))
    np.testing.assert_array_equal(read_file(str(path)), array)


@given(array=arrays.arrays(np.float64, (3, 2), elements=st.floats(allow_nan=False)))
@pytest.mark.parametrize(
    ("suffix", "mark"), [("csv", ","), ("tsv", "\t"), ("txt", " ")]
)
def test_tables_round_trip(tmp_path_factory, array, suffix, mark) -> None:
    path = tmp_path_factory.mktemp("table") / f"a.{suffix}"
    rows = [mark.join(map(repr, row)) for row in array.tolist()]
    path.write_text("\n".join(rows) + "\n")
    np.testing.assert_array_equal(read_file(str(path)), array)


@pytest.mark.parametrize("dtype", ["<f4", ">f8", "<i2", "u1", "?", "<f2"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_real_dtype_and_order_is_read_as_float64(tmp_path, dtype, order) -> None:
    array = np.asarray(np.arange(6).reshape(2, 3) % 2, dtype=dtype, order=order)
    np.save(tmp_path / "a.npy", array)
    got = read_file(str(tmp_path / "a.npy"))
    assert got.dtype == np.float64
    np.testing.assert_array_equal(got, array.astype(float))


def test_standard_input_may_be_numpy_s_format(monkeypatch) -> None:
    buffer = io.BytesIO()
    np.save(buffer, np.eye(2))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(buffer.getvalue())))
    np.testing.assert_array_equal(read_file("-"), np.eye(2))


def header(shape: str, descr: str = "'<f8'") -> bytes:
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}"
    padded = text.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(padded)) + padded.encode()


def test_a_header_that_claims_petabytes_is_refused_before_allocating(tmp_path) -> None:
    (tmp_path / "a.npy").write_bytes(header("(1000000000, 1000000)"))
    told = problem(tmp_path / "a.npy")
    assert told.code == "E515"
    assert "8,000 TB" in told.message


@pytest.mark.parametrize("shape", ["(-1,)", "'x'", "(2.5,)", "(" * 500])
def test_a_header_of_nonsense_is_refused(tmp_path, shape) -> None:
    (tmp_path / "a.npy").write_bytes(header(shape) if len(shape) < 20 else b"\x93NUMPY")
    assert problem(tmp_path / "a.npy").code == "E513"


def test_an_archive_that_unpacks_to_much_more_is_refused(tmp_path) -> None:
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", header("(4000000,)") + bytes(32_000_000))
    assert path.stat().st_size < 100_000
    told = problem(f"{path}:a", limit=1 << 20)
    assert told.code == "E515"


class Trap:
    """Unpickling this would leave a mark."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("unpickled",)


@pytest.mark.parametrize("kind", ["npy", "npz"])
def test_pickles_are_refused_and_not_run(tmp_path, monkeypatch, kind) -> None:
    monkeypatch.chdir(tmp_path)
    trap = np.array([Trap()], dtype=object)
    if kind == "npy":
        np.save("a.npy", trap, allow_pickle=True)
        told = problem("a.npy")
    else:
        np.savez("a.npz", x=trap)
        told = problem("a.npz:x")
    assert told.code == "E514"
    assert not Path("unpickled").exists()


@pytest.mark.parametrize(
    "array", [np.array([1j]), np.array(["a"]), np.zeros(1, "i4,f8")]
)
def test_values_that_are_not_real_numbers_are_refused(tmp_path, array) -> None:
    np.save(tmp_path / "a.npy", array)
    assert problem(tmp_path / "a.npy").code == "E514"


def test_a_member_of_an_archive_is_read_by_its_key(tmp_path: Path) -> None:
    np.savez(tmp_path / "one.npz", weights=np.ones(2))
    np.testing.assert_array_equal(read_file(f"{tmp_path}/one.npz"), np.ones(2))
    np.savez(tmp_path / "a.npz", weight=np.eye(2), bias=np.ones(3))
    np.testing.assert_array_equal(read_file(f"{tmp_path}/a.npz:bias"), np.ones(3))
    told = problem(tmp_path / "a.npz")
    assert told.code == "E518"
    assert "weight, bias" in told.message
    told = problem(f"{tmp_path}/a.npz:wieght")
    assert (told.code, told.hint) == ("E518", "did you mean 'weight'?")


def test_a_name_that_no_file_can_have_is_told(tmp_path: Path) -> None:
    path = tmp_path / "gone" / "a.csv"
    folder = str(path.parent)
    wanted = f"{str(path)!r} cannot be read: there is no folder {folder!r}"
    assert problem(path).message == wanted
    message, _ = refusal("a\0b", ValueError("embedded null byte"), "another way")
    assert message == "'a\\x00b' cannot be read: embedded null byte"


def test_a_file_larger_than_the_limit_is_not_read(tmp_path) -> None:
    (tmp_path / "a.csv").write_text("1\n" * 1000)
    assert problem(tmp_path / "a.csv", limit=100).code == "E515"


def test_standard_input_is_read_up_to_the_limit(monkeypatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1\n" * 1000)))
    assert problem("-", limit=100).code == "E515"


@pytest.mark.parametrize("name", ["a.npy", "a.npz", "a.csv", "a.json", "a.txt"])
@given(data=st.binary(max_size=200))
def test_no_bytes_let_another_exception_out(tmp_path_factory, name, data) -> None:
    path = tmp_path_factory.mktemp("any") / name
    path.write_bytes(data)
    place = f"{path}:a" if name == "a.npz" else str(path)
    with contextlib.suppress(ProgramError):
        assert read_file(place).dtype == np.float64


def test_a_closed_standard_input_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert problem("-").code == "E512"
