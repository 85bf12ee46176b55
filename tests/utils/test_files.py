"""Saved tensors come back as they were, and nothing else is saved."""

from __future__ import annotations

import io
import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import gradcli as torch
from gradcli import nn, optim

TYPES = "bool uint8 int8 int16 int32 int64 float16 float32 float64"

tensors = st.sampled_from(TYPES.split()).flatmap(
    lambda name: arrays.arrays(name, arrays.array_shapes(min_dims=0, min_side=0))
)


def there_and_back(state: Any) -> Any:
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return torch.load(file)


@given(st.dictionaries(st.text(min_size=1).filter(lambda n: n != "__metadata__"),
                       tensors, max_size=4))  # fmt: skip
def test_names_types_shapes_and_bits_come_back(given_: dict[str, Any]) -> None:
    found = there_and_back({n: torch.from_numpy(a) for n, a in given_.items()})
    assert list(found) == list(given_)
    for name, array in given_.items():
        back = found[name].numpy()
        assert (back.dtype, back.shape) == (array.dtype, array.shape)
        assert back.tobytes() == array.tobytes()


def test_a_module_is_saved_and_loaded_through_its_state(tmp_path: Path) -> None:
    net, other = (nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)) for _ in range(2))
    net(torch.randn(5, 2))
    torch.save(net.state_dict(), tmp_path / "net.safetensors")
    other.load_state_dict(torch.load(tmp_path / "net.safetensors"))
    x = torch.randn(4, 2)
    assert torch.equal(net.eval()(x), other.eval()(x))


def test_views_and_results_are_saved_by_value() -> None:
    x = torch.arange(6).reshape(2, 3)
    found = there_and_back({"t": x.t(), "row": x[1], "sum": x.sum()})
    assert found["t"].tolist() == x.t().tolist()
    assert (found["row"].tolist(), found["sum"].item()) == ([3, 4, 5], 15)


def test_a_checkpoint_comes_back_with_all_that_stands_around_its_tensors() -> None:
    net = nn.Linear(2, 1)
    optimizer = optim.Adam(net.parameters())
    net(torch.ones(3, 2)).sum().backward()
    optimizer.step()
    given_ = {
        "epoch": 3, "loss": 0.1, "best": float("inf"), "note": None, 7: (True, "é"),
        "shape": torch.ones(2, 3).shape, "net": net.state_dict(),
        "optimizer": optimizer.state_dict(), ("a", 1): [torch.ones(2), []],
    }  # fmt: skip
    found = there_and_back(given_)
    assert repr(found) == repr(given_)
    other = nn.Linear(2, 1)
    other.load_state_dict(found["net"])
    again = optim.Adam(other.parameters())
    again.load_state_dict(found["optimizer"])
    for one in (net, other):
        one.zero_grad()
        one(torch.ones(3, 2)).sum().backward()
    optimizer.step(), again.step()
    assert torch.equal(net.weight, other.weight)


def test_one_tensor_is_saved_with_what_it_asks_for() -> None:
    w = torch.ones(2, requires_grad=True)
    found = there_and_back([w, w, {"0": w.detach()}])
    assert found[0] is found[1]
    assert repr(found) == repr([w, w, {"0": w.detach()}])
    assert repr(there_and_back(w)) == repr(w)


def test_names_that_would_meet_are_kept_apart() -> None:
    found = there_and_back({"a.b": torch.zeros(1), "a": {"b": torch.ones(1)}})
    assert (found["a.b"].item(), found["a"]["b"].item()) == (0, 1)


@pytest.mark.parametrize("form", ['{"tensor": "z"}', '{"dict": [1]}', "[]", "{", "{}"])
def test_a_damaged_note_of_the_form_is_told(form: str) -> None:
    from safetensors.numpy import save

    data = save({"a": np.ones(1)}, {"form": form})
    with pytest.raises(ValueError, match="note of its form is damaged"):
        torch.load(io.BytesIO(data))


def test_what_is_loaded_is_a_leaf_of_its_own() -> None:
    w = torch.ones(2, requires_grad=True)
    found = there_and_back({"w": w})["w"]
    found.add_(1)
    assert (found.requires_grad, w.tolist()) == (False, [1.0, 1.0])


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"net": [nn.ReLU]}, "save cannot write 'net.0' (type)"),
        ({"a": np.ones(2)}, "by torch.as_tensor(...)"),
        ({"a": {"b": object()}}, "save cannot write 'a.b' (object): it is no tensor"),
        ({"a": {object(): 1}}, "not object in 'a'"),
    ],
)
def test_what_is_neither_tensor_nor_plain_is_refused_before_the_file_is_touched(
    state: Any, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    with pytest.raises(TypeError) as raised:
        torch.save(state, path)
    assert message in str(raised.value)
    assert not path.exists()


def test_what_has_a_state_is_saved_as_it_with_a_warning(tmp_path: Path) -> None:
    net = nn.Sequential(nn.Linear(2, 1), nn.ReLU())
    optimizer = optim.Adam(net.parameters())
    with pytest.warns(UserWarning, match="Sequential is saved as its state_dict") as w:
        torch.save(net, tmp_path / "net")
    assert w[0].filename == __file__
    torch.save(net.state_dict(), tmp_path / "state")
    assert (tmp_path / "net").read_bytes() == (tmp_path / "state").read_bytes()
    with pytest.warns(UserWarning, match="is saved as") as warned:
        again = there_and_back({"net": net, "other": [optimizer], "epoch": 3})
    said = [str(each.message).partition(" is saved")[0] for each in warned]
    assert said == ["net (Sequential)", "other.0 (Adam)"]
    assert {each.filename for each in warned} == {__file__}
    assert again["epoch"] == 3
    assert again["net"]["0.weight"].tolist() == net[0].weight.tolist()
    optim.Adam(net.parameters()).load_state_dict(again["other"][0])


def test_foreign_files_are_refused_with_a_way_out(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"PK\x03\x04 and more")
    with pytest.raises(ValueError, match=r"safetensors\.torch\.save_file"):
        torch.load(path)
    path.write_text("no tensors at all")
    with pytest.raises(ValueError, match="not a safetensors file"):
        torch.load(path)
    with pytest.raises(ValueError, match="not a safetensors file"):
        torch.load(path, weights_only=False)


def test_numbers_of_a_type_that_does_not_exist_here_are_refused() -> None:
    header = json.dumps({"w": {"dtype": "BF16", "shape": [1], "data_offsets": [0, 2]}})
    data = len(header).to_bytes(8, "little") + header.encode() + b"\0\0"
    with pytest.raises(ValueError, match="BF16"):
        torch.load(io.BytesIO(data))


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
def test_a_file_that_never_ends_is_refused() -> None:
    there_and_back({"a": torch.zeros(1)})
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="not a safetensors file"):
            torch.load("/dev/zero")
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_a_file_of_another_writer_is_read_by_name(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    save_file({"b": np.ones(2), "a": np.zeros(1)}, tmp_path / "file")
    assert list(torch.load(tmp_path / "file")) == ["a", "b"]
