"""``gradcli graph -o``: what each file holds, read by readers that know no gradcli."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from gradcli.cli.app import run
from gradcli.lang.errors import ProgramError

from .conftest import AT, FIVE

Draw = Callable[..., bytes]


@pytest.fixture
def draw(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Draw:
    """Writes a picture of the five neurons in this process, and gives its bytes."""

    def drawn(name: str, *options: str) -> bytes:
        path = tmp_path / name
        if name.endswith(".html"):
            options = (*options, "--no-verify")
        words = ["graph", FIVE, *AT, "-o", str(path), *options]
        assert run(words) == 0
        assert capsys.readouterr().out == f"written to {path}: 11 nodes\n"
        return path.read_bytes()

    return drawn


def test_svg_and_its_heat(draw: Draw) -> None:
    plain, hot = (ElementTree.fromstring(draw("g.svg", *o)) for o in ((), ("--heat",)))
    assert plain.get("class") is None
    assert hot.get("class") == "heated"


def test_png_is_sharp(draw: Draw) -> None:
    content = draw("g.PNG")
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", content[16:24])
    assert min(width, height) > 1000


def test_json_is_that_of_the_option(
    draw: Draw, capsys: pytest.CaptureFixture[str]
) -> None:
    written = json.loads(draw("g.json"))
    run(["graph", FIVE, *AT, "--json"])
    assert written == json.loads(capsys.readouterr().out)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_dot_is_read_by_pydot(draw: Draw) -> None:
    pydot = pytest.importorskip("pydot", reason="pydot is not installed")
    (found,) = pydot.graph_from_dot_data(draw("g.dot").decode())
    assert len(found.get_edges()) == 11


def test_mermaid_and_a_page_begin_as_they_must(draw: Draw) -> None:
    assert draw("g.mmd").startswith(b"flowchart TD\n")
    assert draw("g.html").startswith(b"<!DOCTYPE html>\n")


def test_a_page_has_the_verdicts(
    gradcli: Callable[..., object], tmp_path: Path
) -> None:
    done = gradcli("graph", FIVE, *AT, "-o", "g.html", "--verify-seconds", "600")
    assert (done.status, done.err) == (0, "")  # type: ignore[attr-defined]
    text = (tmp_path / "g.html").read_text()
    assert text.count('"verdict": "proved"') == 5


def test_an_output_of_several_numbers_is_drawn_without_gradients(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "g.svg"
    assert run(["graph", "sin(x)", "x=[1,2]", "-o", str(path)]) == 0
    assert "--grad-output" in capsys.readouterr().err
    assert 'class="grad"' not in path.read_text()
    words = ["graph", "sin(x)", "x=[1,2]", "-o", str(path), "--grad-output", "[1,0]"]
    assert run(words) == 0
    assert "grad [1, 0]" in path.read_text()


def test_a_picture_too_large_for_memory_is_less_sharp_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from gradcli.ops.checks import LIMIT
    from gradcli.pictures.pixels import to_png

    document = '<svg xmlns="http://www.w3.org/2000/svg" width="600" height="400"></svg>'
    told: list[str] = []
    usual = to_png(document, told.append)
    assert (struct.unpack(">II", usual[16:24]), told) == ((1200, 800), [])
    monkeypatch.setattr(LIMIT, "bytes", 24 * 600 * 400)
    fewer = to_png(document, told.append)
    assert struct.unpack(">II", fewer[16:24]) == (600, 400)
    assert told[0].startswith("the picture has 50% of the usual resolution")


def test_a_png_without_a_font_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    import resvg_py

    from gradcli.pictures.pixels import to_png

    draw = resvg_py.svg_to_bytes
    without = lambda text, **options: draw(
        text, **options | {"skip_system_fonts": True}
    )
    monkeypatch.setattr(resvg_py, "svg_to_bytes", without)
    with pytest.raises(ProgramError, match="needs a font"):
        to_png('<svg width="6" height="4"><style>text{font-family:Menlo}</style></svg>')


MATRIX = ["h = tanh(X@W + b); L = (h@v).mean()", "X=[[1,2],[3,4]]",
          "W=[[0.1,-0.2],[0.3,0.4]]", "b=[0,0.1]", "v=[1,-1]"]  # fmt: skip
RULES = {"g / 2", "outer(g, v)", "h.T @ g", "g * (1 - h * h)", "g @ W.T", "X.T @ g"}


def test_edges_show_the_same_in_every_form(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["graph", *MATRIX]) == 0
    tree = capsys.readouterr().out
    assert {*re.findall(r"─ (\S.*?) ─ ", tree)} == {"1.0", *RULES}
    assert tree.endswith("g: the incoming gradient\n")
    assert run(["graph", *MATRIX, "--dot"]) == 0
    dot = capsys.readouterr().out
    assert {*re.findall(r'-> n\d+ \[label="(.*)"\]', dot)} == {"1.0", *RULES}
    assert run(["graph", *MATRIX, "-o", str(tmp_path / "g.dot")]) == 0
    assert (tmp_path / "g.dot").read_text() == dot
    for name in ("g.svg", "g.html"):
        path = tmp_path / name
        unchecked = ["--no-verify"] * name.endswith(".html")
        assert run(["graph", *MATRIX, "-o", str(path), *unchecked]) == 0
        labels = re.findall(r'class="label"[^>]*>([^<]*)<', path.read_text())
        assert {*labels} == {"1", *RULES}
    capsys.readouterr()
    assert run(["explain", *MATRIX]) == 0
    sent = re.findall(r"to .*?  (\S.*?) = ", capsys.readouterr().out)
    assert {each for each in sent if "g" in each} == RULES


def test_a_graph_without_values_has_rules(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["graph", "L = sin(x)/x"]) == 0
    tree = capsys.readouterr().out
    assert "├─ g / x ─ SinBackward0" in tree
    assert "─ g * cos(x) ─ AccumulateGrad x" in tree
