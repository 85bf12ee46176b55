"""The page of a graph: read as text, its script in node, and used in a real browser."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gradcli.answers.html import text as page_text
from gradcli.cli.app import run
from gradcli.pictures.page import embedded, page
from gradcli.pictures.picture import Picture
from gradcli.pictures.svg import whole
from tests.pictures.browser import chromium
from tests.pictures.conftest import LOOP, picture

HOSTILE = (
    'y = x*2 # </script><script>document.title="taken"</script><img src=x '
    'onerror=document.title="taken"> \u202e'
)


def written(found: Picture) -> str:
    return whole(page(found))


def data(text: str) -> Any:
    return json.loads(text.split('id="data">')[1].split("</script>")[0])


def test_the_policy_lets_run_what_is_in_the_page_and_nothing_else(
    five: Picture,
) -> None:
    text = written(five)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    script = text.rsplit("<script>", 1)[1].split("</script>")[0]
    style = text.split("<style>")[1].split("</style>")[0]
    for source in (script, style):
        digest = hashlib.sha256(source.encode()).digest()
        assert f"'sha256-{base64.b64encode(digest).decode()}'" in policy[1]
    assert policy[1].startswith("default-src 'none'; ")
    assert "unsafe" not in policy[1]
    assert not re.search(r'\sstyle="|\son\w+="|(src|href)="', text)


def test_the_data_hold_the_whole_graph_and_its_pass(loop: Picture) -> None:
    found = data(written(loop))
    assert len(found["nodes"]) == 403
    assert len(found["steps"]) == 403
    assert found["nodes"][0]["gradient"] == "1.0"
    (fold,) = found["folds"]
    assert len(fold["links"]) == 399
    edges = {(n["id"], e[0]) for n in found["nodes"] for e in n["edges"]}
    drawn = [(e[0], e[1]) for link in found["links"] for e in link["edges"]]
    within = [(e[0], e[1]) for link in fold["links"] for e in link]
    assert sorted([*drawn, *within]) == sorted(edges)


def test_the_users_text_is_data_that_ends_no_element() -> None:
    text = written(picture(HOSTILE, "x=1"))
    assert text.count("<script") == 2
    assert "<img" not in text
    assert "\u202e" not in text
    assert data(text)["program"].startswith("y = x*2 # </script><script>")
    hostile = {"a": "</script><!--&amp;", "b": [1.5, None]}
    assert not set("<>&") & set(embedded(hostile))
    assert json.loads(embedded(hostile)) == hostile


NODE = shutil.which("node")


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_the_scripts_own_functions(tmp_path: Path) -> None:
    (tmp_path / "page.js").write_text(page_text("page.js"))
    (tmp_path / "test.js").write_text(
        """
const assert = require("node:assert");
const { moved, path, reached, passed, matching } = require("./page.js");
const open = [{ box: { x: 100, y: 50, w: 80, h: 40 }, width: 200, height: 340 }];
assert.deepStrictEqual(moved([100, 20], open), [100, 20]);
assert.deepStrictEqual(moved([100, 70], open), [100, 370]);
assert.deepStrictEqual(moved([200, 20], open), [260, 20]);
assert.deepStrictEqual(moved([60, 20], open), [0, 20]);
assert.deepStrictEqual(moved([120, 70], open), [150, 370]);
assert.strictEqual(path([[0, 0], [0, 5], [0, 9], [4, 13]]),
  "M0.0 0.0L0.0 5.0L0.0 9.0C0.0 11.0 4.0 11.0 4.0 13.0");
assert.deepStrictEqual([...reached(0, [[1, 2], [3], [3], []])].sort(), [0, 1, 2, 3]);
const data = { steps: [
  { id: 0, incoming: "1", sends: [[0, 1, "2", "2"], [1, 2, "3", "3"]] },
  { id: 1, incoming: "2", sends: [[0, 2, "4", "7"]] }],
  nodes: [{ id: 0, name: "AddBackward0", title: "AddBackward0", text: "u + v" },
          { id: 1, name: "AccumulateGrad", title: "w", text: "" }] };
assert.deepStrictEqual([...passed(data, 0).arrived], [[0, "1"]]);
assert.deepStrictEqual([...passed(data, 1).arrived], [[0, "1"], [1, "2"], [2, "3"]]);
assert.strictEqual(passed(data, 2).arrived.get(2), "7");
assert.strictEqual(passed(data, 2).sent.get("1:0"), "4");
assert.deepStrictEqual(matching(data, " U + V"), [0]);
assert.deepStrictEqual(matching(data, "  "), []);
console.log("done");
"""
    )
    assert NODE is not None
    done = subprocess.run(
        [NODE, "test.js"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("done\n", "")


Open = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    api = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed"
    )
    with api.sync_playwright() as started:
        # Without a path it is the one that playwright has downloaded.
        path = chromium()
        try:
            found = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        except api.Error as error:
            if path is not None:
                raise
            reason = error.message.strip().splitlines()[0]
            pytest.skip(f"no Chromium (GRADCLI_CHROMIUM may name one): {reason}")
        yield found
        found.close()


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """Open a picture's page; that it asked for nothing else and raised nothing is
    looked at in the end."""
    asked: list[str] = []
    wrong: list[str] = []
    pages: list[Any] = []

    def go(found: Picture, width: int = 1000, height: int = 700) -> Any:
        target = tmp_path / "page.html"
        target.write_text(written(found), encoding="utf-8")
        shown = browser.new_page(viewport={"width": width, "height": height})
        shown.on("request", lambda request: asked.append(request.url))
        shown.on("pageerror", lambda error: wrong.append(str(error)))
        shown.on("console", lambda message: wrong.append(message.text))
        shown.goto(target.as_uri())
        shown.wait_for_selector("html[data-ready]")
        pages.append(shown)
        return shown

    yield go
    assert wrong == []
    assert len(asked) == len(pages)
    for shown in pages:
        shown.close()


def facts(shown: Any) -> dict[str, str]:
    terms = shown.locator("#facts dt").all_inner_texts()
    told = shown.locator("#facts dd").all_inner_texts()
    return dict(zip(terms, told, strict=True))


def node(found: Picture, source: str) -> int:
    return next(
        n.node.id for n in found.nodes if source in (n.node.source, n.node.variable)
    )


def test_a_click_shows_what_is_known_and_lights_the_paths(
    opened: Open, five: Picture
) -> None:
    shown = opened(five)
    shown.click(f"#b{node(five, 'w1*a')}")
    assert shown.inner_text("#what").startswith("MulBackward0")
    told = facts(shown)
    assert (told["value"], told["gradient"]) == ("1.0", "-3.0")
    assert told["to a"] == "local derivative 0.5\nrule g * w1"
    assert shown.inner_text("#program mark") == "w1*a"
    lit = {each.split("b")[1] for each in shown.eval_on_selector_all(
        ".node.lit", "all => all.map(one => one.id)")}  # fmt: skip
    names = ("10 - d", "w3*b + w4*c", "w3*b", "w1*a", "w1", "a")
    assert lit == {str(node(five, name)) for name in names}
    shown.click(f"#b{node(five, 'a')}")
    assert facts(shown)["verdict"] == "proved"
    shown.mouse.click(20, 600)
    assert shown.locator(".node.lit").count() == 0


def test_the_pass_steps_on_and_back(opened: Open, five: Picture) -> None:
    shown = opened(five)
    shown.keyboard.press("n")
    assert "step 1 of 11: RsubBackward1" in shown.inner_text("#said")
    assert shown.locator(".node.reached").count() == 2
    for _ in range(3):
        shown.click("#on")
    assert shown.inner_text("#steps") == "4/11"
    leaf = shown.locator(f"#b{node(five, 'a')} .grad")
    assert leaf.text_content() == "grad 0.375"
    shown.keyboard.press("p")
    assert shown.locator(f"#b{node(five, 'a')}.reached").count() == 0
    shown.fill("#step", "11")
    assert leaf.text_content() == "grad -1.125"
    shown.click("#all")
    assert shown.locator(".stepping").count() == 0


def test_a_fold_opens_and_closes(opened: Open, loop: Picture) -> None:
    shown = opened(loop)
    fold = shown.locator(".node.fold")
    below = shown.locator(".node", has_text="= 0.9").first
    before = below.bounding_box()
    fold.click()
    assert shown.locator("#f0 .node").count() == 400
    assert not fold.is_visible()
    assert below.bounding_box()["y"] > before["y"] + 1000
    shown.click("#f0-b398")
    assert facts(shown)["formula"] in ("a * b", "sin(x)")
    shown.locator("#fit").click()
    shown.locator(".shut").click()
    assert fold.is_visible()
    named = "document.activeElement.getAttribute('aria-label')"
    assert shown.evaluate(named).startswith("×200 MulBackward0")
    shown.keyboard.press("Enter")
    assert shown.evaluate(named).startswith("MulBackward0, x = sin(x)*w")
    shown.keyboard.press("ArrowDown")
    assert shown.evaluate(named).startswith("SinBackward0, sin(x)")


def test_words_are_found(opened: Open, five: Picture) -> None:
    shown = opened(five)
    shown.keyboard.press("/")
    shown.keyboard.type("w4")
    assert shown.inner_text("#found") == "3 found"
    assert shown.locator(".node.hit").count() == 3
    shown.keyboard.press("Enter")
    assert shown.inner_text("#found") == "1 of 3"
    assert "w4" in shown.inner_text("#what")


def test_the_keyboard_alone_is_enough(opened: Open, five: Picture) -> None:
    shown = opened(five)
    shown.keyboard.press("Home")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowDown", "Enter"):
        shown.keyboard.press(key)
    assert shown.inner_text("#what") in ("w4", "MulBackward0 c = w2*a")
    pressed = shown.evaluate("document.activeElement.getAttribute('aria-pressed')")
    assert pressed == "true"
    shown.keyboard.press("ArrowUp")
    assert "w4*c" in shown.evaluate("document.activeElement.getAttribute('aria-label')")
    before = shown.locator("#b0").bounding_box()["width"]
    shown.keyboard.press("+")
    assert shown.locator("#b0").bounding_box()["width"] > before
    shown.keyboard.press("h")
    assert shown.locator("#legend").is_visible()


SMALLEST_TEXT = """Math.min(...[...document.querySelectorAll("#world text")].map(
  (each) => each.getCTM().a * parseFloat(getComputedStyle(each).fontSize)))"""


ALL_INSIDE = """(() => {
  const stage = document.querySelector("#stage").getBoundingClientRect();
  return [...document.querySelectorAll("#world .node .box")].every((each) => {
    const box = each.getBoundingClientRect();
    return !box.width || (box.left >= stage.left && box.right <= stage.right &&
      box.top >= stage.top && box.bottom <= stage.bottom);
  });
})()"""


LOOKS = 400
"""Most looks at a page for what happens a moment after a change."""


@pytest.mark.parametrize("width", [400, 1000, 1400])
def test_a_page_opens_with_the_whole_graph(
    opened: Open, five: Picture, matrix: Picture, width: int
) -> None:
    for found in (five, matrix):
        shown = opened(found, width, 800)
        assert shown.evaluate("document.documentElement.scrollWidth") == width
        assert shown.evaluate(ALL_INSIDE)
        assert shown.evaluate(SMALLEST_TEXT) >= 4.8
        assert not shown.locator("#part").is_visible()
        stage, panel = (shown.locator(n).bounding_box() for n in ("#stage", "aside"))
        assert stage["width"] + (panel["width"] if width > 720 else 0) == width
        assert width > 720 or panel["y"] == stage["y"] + stage["height"]
        shown.mouse.dblclick(stage["x"] + 3, stage["y"] + 3)
        assert shown.evaluate(SMALLEST_TEXT) >= 12


@pytest.mark.parametrize("width", [400, 1000, 1400])
def test_a_very_large_graph_opens_at_its_output_and_says_how_to_see_the_rest(
    opened: Open, width: int
) -> None:
    program = LOOP.replace("200", "15")
    shown = opened(picture(program, "x=1", "w=0.9", folded=False), width, 800)
    assert shown.evaluate(SMALLEST_TEXT) >= 12
    stage = shown.locator("#stage").bounding_box()
    output = shown.locator("#b0").bounding_box()
    assert 0 <= output["x"] - stage["x"] <= stage["width"] - output["width"]
    assert not shown.evaluate(ALL_INSIDE)
    shown.click("#rest")
    assert shown.evaluate(ALL_INSIDE)
    assert not shown.locator("#part").is_visible()


def test_the_help_is_folded_on_a_phone(opened: Open, five: Picture) -> None:
    shown = opened(five, 400, 800)
    assert not shown.locator("#help p").first.is_visible()
    shown.click("#help summary")
    assert shown.locator("#help p").first.is_visible()
    assert opened(five, 1000, 800).locator("#help p").first.is_visible()


def test_a_window_of_another_size_is_fitted_until_the_picture_is_moved(
    opened: Open, five: Picture
) -> None:
    shown = opened(five, 1400, 800)
    shown.set_viewport_size({"width": 500, "height": 700})
    # The page's policy forbids `wait_for_function`, which evaluates a text in the page.
    for _ in range(LOOKS):
        if shown.evaluate(ALL_INSIDE):
            break
        shown.wait_for_timeout(25)
    assert shown.evaluate(ALL_INSIDE)
    shown.click("#in")
    shown.click("#in")
    large = shown.evaluate(SMALLEST_TEXT)
    shown.set_viewport_size({"width": 450, "height": 700})
    assert shown.evaluate(SMALLEST_TEXT) == large
    assert shown.locator("#part").is_visible()


def test_a_picture_that_fits_is_seen_whole_and_matrices_stand_row_by_row(
    opened: Open,
) -> None:
    shown = opened(picture("sum(A @ A.T)", "A=[[1/3,2/3,1],[-4/3,1/7,0]]"), 400, 800)
    shown.click("#fit")
    shown.click("#heat")
    stage = shown.locator("#stage").bounding_box()
    for each in shown.locator(".node").all():
        box = each.bounding_box()
        assert box["x"] >= stage["x"]
        assert box["y"] + box["height"] <= stage["y"] + stage["height"]
    shown.locator(".leaf").click()
    value = "[[0.333333, 0.666667, 1],\n [-1.33333, 0.142857, 0]]"
    assert facts(shown)["value"] == value


def test_hostile_text_does_nothing(opened: Open) -> None:
    shown = opened(picture(HOSTILE, "x=1"))
    assert shown.title() == "Graph of y = x*2"
    assert shown.locator("img").count() == 0


def test_a_worked_page_fits_every_width(
    browser: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "a_name_as_long_as_those_that_people_write"
    args = [f"{name}_of_y = (A @ A).sum() * {name}", "A=[[1/3,2,3],[4,5,6],[7,8,9]]"]
    assert run(["explain", *args, f"{name}=2", "--html"]) == 0
    target = tmp_path / "worked.html"
    target.write_text(capsys.readouterr().out, encoding="utf-8")
    shown = browser.new_page()
    shown.goto(target.as_uri())
    for width, media in ((1400, "screen"), (400, "screen"), (700, "print")):
        shown.set_viewport_size({"width": width, "height": 800})
        shown.emulate_media(media=media)
        for each in shown.locator("td:visible, .rows:visible").all():
            assert each.evaluate("one => one.scrollWidth <= one.clientWidth")
            box = each.bounding_box()
            assert box["x"] + box["width"] <= width
    shown.close()
