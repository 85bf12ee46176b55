"""Families of the table are imported when asked for, and nobody can tell."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from gradcli.check.balls import LEAVES, STEPS
from gradcli.lang.plain import FUNCTIONS as PLAIN
from gradcli.ops import ALIASES, FAMILIES, FUNCTIONS, OPS, Op, families

TABLES = {"OPS": OPS, "FUNCTIONS": FUNCTIONS, "ALIASES": ALIASES}


def fresh(code: str) -> str:
    """What a new process prints that has imported `gradcli.ops`."""
    run = [sys.executable, "-c", f"import sys; from gradcli.ops import *; {code}"]
    return subprocess.run(run, capture_output=True, text=True, check=True).stdout


def test_the_first_start_imports_few_families() -> None:
    code = (
        "import gradcli.engine; from gradcli.ops.families import FAMILIES;"
        "print(*[f for f in FAMILIES if f'gradcli.ops.{f}' in sys.modules])"
    )
    assert len(fresh(code).split()) <= 12 < len(FAMILIES)


@pytest.mark.parametrize("first", [*FAMILIES][::9])
def test_the_order_is_the_same_whichever_family_is_imported_first(first: str) -> None:
    code = (
        f"import json, gradcli.ops.{first};"
        "print(json.dumps([[*OPS], [*FUNCTIONS], [*ALIASES]]))"
    )
    assert json.loads(fresh(code)) == [[*table] for table in TABLES.values()]


@pytest.mark.parametrize("kind", TABLES)
def test_every_name_is_found_by_the_import_of_its_own_family(kind: str) -> None:
    wrong = {}
    for name, entry in TABLES[kind].items():
        home = FUNCTIONS[entry] if isinstance(entry, str) else entry
        formula = home.fwd if isinstance(home, Op) else home.build
        if formula.__module__[12:] != families._HOMES.get(families._listed(name)):
            wrong[name] = home.family
    assert not wrong, "run python -m tests.tools.stubs"


@pytest.mark.parametrize("listed", ["", "alignments"])
def test_a_name_that_is_listed_wrongly_or_not_at_all_is_found(listed: str) -> None:
    code = (
        "from gradcli.ops import families;"
        f"families._HOMES.update(tanh={listed!r}) if {listed!r} else "
        "families._HOMES.pop('tanh'); print(OPS['tanh'].family)"
    )
    assert fresh(code).strip() == "trigonometric"


def test_a_name_that_nobody_enters_is_in_no_table() -> None:
    code = (
        "print('no_such' in OPS, FUNCTIONS.get('no_such', 7), 'sum' in OPS,"
        "ALIASES.get('sin', 'sin'), 'sin_' in FUNCTIONS, 3 in OPS)"
    )
    assert fresh(code).split() == ["False", "7", "False", "sin", "False", "False"]
    with pytest.raises(KeyError, match="no_such"):
        OPS["no_such"]


def test_no_family_enters_a_step_of_graphs() -> None:
    assert {"total", "number"} <= families._none <= {*STEPS, *LEAVES, *PLAIN}
    assert not families._none & {*OPS, *FUNCTIONS, *ALIASES}
    code = (
        "from gradcli.check import balls; from gradcli.ops import families;"
        "before = len(families._waiting);"
        "print('total' in FUNCTIONS, before - len(families._waiting), before > 20)"
    )
    assert fresh(code).split() == ["False", "0", "True"]


@pytest.mark.parametrize(
    "program",
    [
        "y = x; for i in range(3): y = sin(y)*b; y",
        "len([t, x])*tanh(x) + binom(5, 2)",
        "x + zeros(2).sum() + tensor([1, 2]).sum()",
        "max(x, 0) + gamma",
    ],
)
def test_a_program_s_own_names_import_no_further_family(program: str) -> None:
    code = (
        f"import gradcli; made = gradcli.compile({program!r});"
        "made.grad(**{name: 2.0 for name in made.inputs});"
        "from gradcli.ops.families import _waiting; print(len(_waiting))"
    )
    assert int(fresh(code)) > 10


def test_several_threads_find_all_names() -> None:
    code = (
        "from concurrent.futures import ThreadPoolExecutor as Pool;"
        "from gradcli.ops.families import NAMES;"
        "names = ' '.join(map(' '.join, NAMES.values())).split()[::-1];"
        "names = [n.rstrip('_!') for n in names if not n.endswith('.')];"
        "look = lambda n: n in OPS or n in FUNCTIONS or n in ALIASES;"
        "pool = Pool(8);"
        "print(len(names), sum(pool.map(look, names)))"
    )
    listed, found = fresh(code).split()
    assert int(listed) == int(found) > 450
