"""SVG, read back by an XML parser that knows nothing of gradcli."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from gradcli.answers.html import MAX_TITLE, program_title
from gradcli.answers.numbers import Extent
from gradcli.pictures import layers
from gradcli.pictures.picture import Picture
from gradcli.pictures.scene import MAX_TEXT, brief, inside, scene_of
from gradcli.pictures.svg import NOTHING, STRANGE, Heat, svg, whole
from tests.pictures.conftest import picture

SVG = "{http://www.w3.org/2000/svg}"


def read(found: Picture, heated: bool = False) -> ElementTree.Element:
    return ElementTree.fromstring(whole(svg(found, heated)))


def texts(root: ElementTree.Element, kind: str) -> list[str]:
    return [t.text or "" for t in root.iter(f"{SVG}text") if t.get("class") == kind]


def test_every_node_and_every_edge_is_drawn_with_its_numbers(five: Picture) -> None:
    root = read(five)
    groups = [g.get("class", "") for g in root.iter(f"{SVG}g")]
    assert sum("node" in each.split() for each in groups) == 11
    assert groups.count("edge") == 11
    assert "= 7.75" in texts(root, "value")
    assert "grad -1.125" in texts(root, "grad")
    labels = ["-1", "1", "1", "1", "3", "-3", "0.25", "2", "0.5", "2", "-1.5"]
    assert sorted(texts(root, "label")) == sorted(labels)
    assert {"b = w1*a", "L = 10 - d"} <= {*texts(root, "text")}
    assert {"a", "w1"} <= {*texts(root, "title")}


def test_boxes_hold_their_texts_and_the_picture_holds_its_boxes(
    matrix: Picture,
) -> None:
    root = read(matrix)
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    for group in root.iter(f"{SVG}g"):
        box = group.find(f"{SVG}rect[@class='box']")
        if box is None:
            continue
        x, y, w, h = (float(box.get(k, 0)) for k in ("x", "y", "width", "height"))
        assert x >= 0
        assert x + w <= width
        assert y + h <= height
        below = [t for t in group.iter(f"{SVG}text")
                 if t.get("class") in ("value", "grad")]  # fmt: skip
        assert sum(len(t.text or "") for t in below) * 7.3 <= w


def test_the_users_text_stays_text() -> None:
    comment = '# </text><script>alert("1")</script> &amp; ]]> \x07'
    root = read(picture(f"y = x*2 if x <script else x {comment}", "x=1", "script=2"))
    assert not list(root.iter(f"{SVG}script"))
    title = root.findtext(f"{SVG}title")
    assert title == "Graph of y = x*2 if x <script else x"


def test_a_picture_shrinks_in_a_narrow_column_and_has_a_size_of_its_own(
    five: Picture,
) -> None:
    root = read(five)
    width, height = root.get("width"), root.get("height")
    assert root.get("viewBox") == f"0 0 {width} {height}"
    assert root.get("style") == "max-width:100%;height:auto"


def test_a_loop_is_one_box_with_its_count(loop: Picture) -> None:
    scene = scene_of(loop)
    (box,) = (box for box in scene.boxes if box.fold is not None)
    assert (len(scene.boxes), len(box.nodes)) == (4, 400)
    assert box.title == "×200 MulBackward0"
    assert box.text == "x = sin(x)*w"
    assert box.value == "= 0.757324 → 4.13505e-10"
    ends = {scene.boxes[link.end].title: link.label for link in scene.links[1:]}
    assert ends["w"] == "×200"
    assert len(inside(loop, loop.folds[0]).boxes) == 400
    assert sum(len(link.edges) for link in scene.links) == 1 + 200 + 1


def test_heat_goes_from_the_smallest_gradient_to_the_largest(loop: Picture) -> None:
    root, boxes = read(loop, heated=True), scene_of(loop).boxes
    sizes = [box.size for box in boxes if box.size]
    notes = {*texts(root, "note")}
    assert {f"{size:.3g}" for size in (min(sizes), max(sizes))} <= notes
    lowest = max(float(t.get("y", 0)) for t in root.iter(f"{SVG}text"))
    assert lowest < float(root.get("height", 0))
    style = root.findtext(f"{SVG}style") or ""
    for name in ("h0", "h6"):
        assert style.count(f".heated .{name} .box") == 2
        assert sum(name in (g.get("class") or "").split() for g in root.iter()) > 1
    known = (0.5, 1.0, 2.0, 0.0, float("nan"), float("inf"))
    heat = Heat([replace(boxes[0], size=size) for size in known])
    names = ["0", "3", "6", NOTHING, STRANGE, STRANGE]
    assert [*map(heat.shade, known)] == names
    assert Heat([replace(boxes[0], size=7.0)]).used == {"3"}


def test_numbers_are_short() -> None:
    assert brief(2 / 3) == "0.666667"
    assert brief([1.0, -2.5]) == "[1, -2.5]"
    assert brief(Extent((100,), -1.0, 2.0, True)) == "-1 … 2, nan"
    assert brief([[1 / 3] * 3] * 3) == "each 0.333333"
    assert brief([[1 / 3, -0.0]] * 9) == "0 … 0.333"
    assert brief(-0.0) == "0"


def legend(found: Picture) -> list[str]:
    return texts(read(found), "note")


def test_the_legend_says_what_the_letters_of_the_rules_mean(
    five: Picture, loop: Picture, matrix: Picture
) -> None:
    assert legend(five)[0] == "Each box shows the value (green) and the gradient (red)."
    assert "the incoming gradient g" in " ".join(legend(five))
    assert len(legend(five)) == len(legend(matrix)) == 3
    assert "equal parts" in legend(loop)[3]
    softmax = picture("sum(softmax(x, 0)**2)", "x=[1,2]")
    assert legend(softmax)[3:] == ["y: the node's result"]
    einsum = picture("einsum('ij,j->i', A, v).sum()", "A=[[1,2]]", "v=[1,2]")
    assert len(legend(einsum)) == 3


def test_long_names_of_inputs_are_told_apart_by_both_ends() -> None:
    names = ["encoder_of_all_words_the_weight_of_layer_1",
             "encoder_of_all_words_the_weight_of_layer_2",
             "decoder_of_all_words_the_weight_of_layer_2"]  # fmt: skip
    found = picture("*".join(names), *(f"{name}=1" for name in names))
    titles = {box.title for box in scene_of(found).boxes if box.leaf}
    assert len(titles) == 3
    assert {len(title) for title in titles} == {MAX_TEXT}


def test_a_line_that_is_hinted_at_has_room_to_say_where_it_leads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(layers, "MAX_BENDS", 2)
    program = "; ".join(f"v{n} = sin(v{n - 1}*w)" for n in range(1, 9))
    root = read(picture(f"v0 = w*w; {program}; L = v8 + v1 + v2 + v3", "w=1"))
    shown = [e for e in root.iter(f"{SVG}text") if e.get("class") == "label"]
    hints = {(e.text or "").partition(" ↓ ")[2] for e in shown} - {""}
    assert {"w", "v2"} <= hints
    rows: dict[float, list[tuple[float, float]]] = {}
    for each in shown:
        wide = 6.3 * len(each.text or "") / 2
        x, y = float(each.get("x", 0)), float(each.get("y", 0))
        rows.setdefault(y, []).append((x - wide, x + wide))
    for row in rows.values():
        row.sort()
        assert all(a[1] <= b[0] for a, b in pairwise(row))


@pytest.mark.parametrize(
    ("program", "shown"),
    [
        ("# about\nb = w*a;  # weighed\nL = 10 - b\n", "b = w*a; L = 10 - b"),
        ("for i in range(3):\n    x = sin(x)\nx", "for i in range(3): x = sin(x); x"),
        (
            "y = " + "x + " * 30 + "z",
            "y = x + x + x + x + x + x + x …x + x + x + x + x + x + x + z",
        ),
    ],
)
def test_a_title_is_the_program_on_one_line(program: str, shown: str) -> None:
    assert program_title(program) == shown
    assert len(shown) <= MAX_TITLE
