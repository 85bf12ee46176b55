"""`gradcli paths`: texts, JSON, and what it says when there is no path."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import AT, FIVE, Run
from .test_terminal import ESCAPE, in_terminal

TO_A = """\
dL/da = -1.125  2 paths

1  L → d → b → a
   RsubBackward1 → AddBackward0 → MulBackward0 → MulBackward0 → AccumulateGrad
   -1 * w3 * w1 = -1.0 * 1.0 * 3.0 * 0.5 = -1.5  (133.3 % of the sum)

2  L → d → c → a
   RsubBackward1 → AddBackward0 → MulBackward0 → MulBackward0 → AccumulateGrad
   -1 * w4 * w2 = -1.0 * 1.0 * 0.25 * -1.5 = 0.375  (-33.33 % of the sum)

the sum over the paths is dL/da: -1.5 + 0.375 = -1.125
"""

FROM_D_TO_W4 = """\
dd/dw4 = -3.0  1 path

1  d → w4*c → w4
   AddBackward0 → MulBackward0 → AccumulateGrad
   c = 1.0 * -3.0 = -3.0

the path's product is dd/dw4
"""

OF_ARRAYS = """\
dL/dx = [48.0, 68.0]  2 paths

1  L → h → x
   SumBackward0 → MulBackward0 → MvBackward0 → AccumulateGrad
   [24.0, 34.0]  (50 % of the sum, pushed along the path, not elementwise)

2  L → h → x
   SumBackward0 → MulBackward0 → MvBackward0 → AccumulateGrad
   [24.0, 34.0]  (50 % of the sum, pushed along the path, not elementwise)

the sum over the paths is dL/dx
"""


def test_the_five_neurons_paths(gradcli: Run) -> None:
    assert gradcli("paths", FIVE, *AT, "--to", "a").out == TO_A


def test_paths_start_and_end_where_they_are_told(gradcli: Run) -> None:
    ended = gradcli("paths", FIVE, *AT, "--from", "d", "--to", "w4")
    assert ended.out == FROM_D_TO_W4


def test_without_names_every_input_is_an_end(gradcli: Run) -> None:
    out = gradcli("paths", FIVE, *AT).out
    heads = [line.split(" = ")[0] for line in out.splitlines() if line[:1] == "d"]
    assert heads == ["dL/dw1", "dL/da", "dL/dw2", "dL/dw3", "dL/dw4"]
    assert TO_A in out
    two = gradcli("paths", FIVE, *AT, "--to", "w4,a").out
    assert two.index("dL/dw4") < two.index("dL/da")


def test_arrays_are_pushed_along_each_path(gradcli: Run) -> None:
    program, given = "h = W@x; L = (h*h).sum()", ["W=[[1,2],[3,4]]", "x=[1,1]"]
    assert gradcli("paths", program, *given, "--to", "x").out == OF_ARRAYS


def test_the_json_has_the_agreed_keys(gradcli: Run) -> None:
    told = gradcli("paths", FIVE, *AT, "--to", "a", "--json").json
    assert {
        "schema", "command", "program", "from", "to", "count", "paths", "sum",
        "gradient", "cancellation",
    } <= told.keys()  # fmt: skip
    assert (told["schema"], told["command"]) == ("gradcli/1", "paths")
    assert (told["from"], told["to"], told["count"]) == ("L", "a", 2)
    assert (told["sum"], told["gradient"], told["adds_up"]) == (-1.125, -1.125, True)
    assert told["cancellation"] is None
    first = told["paths"][0]
    assert first["variables"] == ["L", "d", "b", "a"]
    assert first["local_gradients"] == [-1.0, 1.0, 3.0, 0.5]
    assert first["formula"] == "-1 * w3 * w1"
    assert (first["product"], first["share"]) == (-1.5, pytest.approx(4 / 3))
    assert len(first["nodes"]) == len(first["sources"]) == 5


def test_the_json_of_several_ends_lists_them(gradcli: Run) -> None:
    told = gradcli("paths", FIVE, *AT, "--json").json
    assert [t["to"] for t in told["targets"]] == ["w1", "a", "w2", "w3", "w4"]
    assert sum(t["count"] for t in told["targets"]) == 6


def test_quiet_prints_the_products_alone(gradcli: Run) -> None:
    assert gradcli("paths", FIVE, *AT, "--to", "a", "-q").out == "-1.5\n0.375\n"


def test_only_the_heaviest_of_many_paths_are_listed(gradcli: Run) -> None:
    program = "y = x\nfor i in range(100): y = y + y*x"
    ended = gradcli("paths", program, "x=1", "--most", "2")
    assert f"{2**101 - 1} paths" in ended.out
    assert "the heaviest are listed; the sum over all paths is dy/dx\n" in ended.out
    assert ended.out.count("\n1  ") + ended.out.count("\n2  ") == 2
    assert gradcli("paths", program, "x=1", "--json").json["count"] == 2**101 - 1


def test_a_count_of_thousands_of_digits_is_whole_in_a_pipe(gradcli: Run) -> None:
    program = "y = x\nfor i in range(20000): y = y + y"
    first = gradcli("paths", program, "x=0", "--most", "1").out.splitlines()[0]
    digits = first.split()[-2]
    assert len(digits) == 6021
    assert int(digits[-9:]) == pow(2, 20000, 10**9)
    told = gradcli("paths", program, "x=0", "--most", "1", "--json").json
    assert told["count"] == digits


def test_cancellation_is_called_by_its_name(gradcli: Run) -> None:
    ended = gradcli("paths", "1e6*x - 999999*x", "x=1")
    assert "cancellation: of a term of size 1000000.0 the sum leaves 1.0" in ended.out
    assert "about 6 digits are lost" in ended.out


def test_no_path_is_said_and_is_no_error(gradcli: Run) -> None:
    program = "v = b*3; u = a*2"
    ended = gradcli("paths", program, "a=1", "b=1", "--to", "b")
    assert ended.status == 0
    assert ended.out == "du/db = None  no path leads from u to b\n"
    told = gradcli("paths", program, "a=1", "b=1", "--to", "v", "--json").json
    assert (told["count"], told["sum"], told["gradient"]) == (0, 0.0, None)


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--to", "w33"], 2, "did you mean 'w3'?"),
        (["--from", "LL"], 2, "--from: no value is called 'LL'"),
        (["--from", "d", "--of", "L"], 2, "--from and --of exclude each other"),
        (["--to", ","], 2, "--to gives no names"),
        (["--most", "0"], 2, "--most"),
        (["--most", "many"], 2, "--most"),
        (["--grad-output", "[1,2]"], 3, "--grad-output has shape [2]"),
    ],
)
def test_errors_have_a_way_out(
    gradcli: Run, options: list[str], code: int, said: str
) -> None:
    ended = gradcli("paths", FIVE, *AT, *options)
    assert (ended.status, ended.out) == (code, "")
    assert said in ended.err


def test_names_are_read_as_the_program_reads_them(gradcli: Run) -> None:
    # The option's é is a letter and an accent of its own, the program's is one.
    ended = gradcli("paths", "\u00e9 = x*2; \u00e9*3", "x=1", "--to", "e\u0301", "-q")
    assert ended.out == "3.0\n"
    assert gradcli("paths", "x*2", "x=1", "--from", "output", "-q").out == "2.0\n"


def test_a_number_is_no_end_of_a_path(gradcli: Run) -> None:
    ended = gradcli("paths", "n = 2; x*n", "x=1", "--to", "n")
    assert ended.status == 2
    assert "--to: 'n' is a number, not a tensor" in ended.err


def test_a_vector_needs_what_it_is_contracted_with(gradcli: Run) -> None:
    ended = gradcli("paths", "x*2", "x=[1,2]")
    assert ended.status == 3
    assert "scalar outputs" in ended.err
    ended = gradcli("paths", "x*2", "x=[1,2]", "--grad-output", "[1,10]", "-q")
    assert ended.out == "[2.0, 20.0]\n"


def test_help_has_an_example(gradcli: Run) -> None:
    out = gradcli("paths", "--help").out
    assert "Example: gradcli paths" in out
    assert "--from" in out


@pytest.mark.parametrize("columns", [40, 80])
def test_a_terminal_gets_colour_and_nothing_too_wide(
    tmp_path: Path, columns: int
) -> None:
    seen = in_terminal(tmp_path, "paths", FIVE, *AT, columns=columns)
    assert ESCAPE.search(seen)
    shown = ESCAPE.sub("", seen).splitlines()
    assert max(map(len, shown)) <= columns


def test_a_terminal_shortens_long_paths_and_says_so(
    gradcli: Run, tmp_path: Path
) -> None:
    steps = [f"y{i + 1} = {('sin', 'cos')[i % 2]}(y{i})" for i in range(40)]
    program = "; ".join(["y0 = x*1", *steps])
    seen = in_terminal(tmp_path, "paths", program, "x=1", NO_COLOR="1")
    assert "…" in seen
    assert "shortened to fit" in seen
    assert "…" not in gradcli("paths", program, "x=1").out
