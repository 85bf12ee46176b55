"""Laws of many small cases: one test runs the cases of a few rows and names each that
fails.

A test costs pytest some milliseconds, more than most cases take. So a law is one test
for `TOGETHER` rows of the table, whose cases run one after the other; it is called
after its rows, so that ``-k`` selects by the name of a row:

    @by_row("at", spots(), ident)
    def test_a_recorded_pass_gives_the_same_gradient(at): ...

Invariant: every case runs, whatever became of those before it; each has warnings and
patches of its own; none is skipped.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import wraps
from typing import Any

import pytest

Test = Callable[..., None]

PATCHES = "monkeypatch"
"""The fixture that each case is given anew."""

TOGETHER = 8
"""Number of rows whose cases one test runs."""

SHARED_BY_CASES = {"capfd", "caplog", "capsys", "recwarn", "tmp_path"}
"""Fixtures that a case would find as the case before left them."""


def nightly(values: Iterable[Any]) -> list[Any]:
    """Return parameters of tests that every night's run has, and other runs do not."""
    return [pytest.param(value, marks=pytest.mark.nightly) for value in values]


def row_of(case: str) -> str:
    """The row of a case that is called after its row and its number."""
    return case.rpartition("-")[0]


def written_or_lacking(write: Callable[[], str], column: str) -> str | None:
    """A program's text; None where its language is told to lack a function.

    Raises:
        Unwritable: for another reason.
    """
    from gradcli.formulas.tree import Unwritable
    from gradcli.ops.spellings import SPELLINGS

    try:
        return write()
    except Unwritable as error:
        lacking = [
            name
            for name, words in SPELLINGS.items()
            if getattr(words, column) is None
            and str(error).endswith(f"{column} has no function {name!r}")
        ]
        if not lacking:
            raise
        return None


def by_row(
    names: str,
    cases: Iterable[Any],
    ids: Callable[[Any], str],
    row: Callable[[str], str] = row_of,
    share: int = 1,
) -> Callable[[Test], Test]:
    """A test of one case becomes a test of each few rows, which runs all their cases.

    Args:
        names: the parameters that hold a case, as ``pytest.mark.parametrize`` takes
            them: ``"at"``, or ``"op, number"`` where a case is a tuple
        cases: the cases
        ids: what a case is called where it fails
        row: the row of a case, given what the case is called
        share: one row of so many is tried in every run, the others at night
    """
    held = names.replace(",", " ").split()
    rows: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for case in cases:
        values = dict(zip(held, case if len(held) > 1 else [case], strict=True))
        rows.setdefault(row(ids(case)), []).append((ids(case), values))
    if not rows:
        raise ValueError("a law of no cases holds of nothing")
    always = together([*rows][::share])
    others = together([name for n, name in enumerate(rows) if n % share])
    bundles = always | others

    def over_rows(test: Test) -> Test:
        asked = inspect.signature(test).parameters
        if shared := SHARED_BY_CASES & asked.keys():
            raise TypeError(f"cases would share {', '.join(sorted(shared))}")
        if "row" in asked:
            raise TypeError("a group of cases is called row")

        @wraps(test)
        def law(row: str, **given: Any) -> None:
            failures: dict[str, BaseException] = {}
            every = [case for each in bundles[row] for case in rows[each]]
            for name, values in every:
                with ExitStack() as stack:
                    stack.enter_context(warnings.catch_warnings())
                    if PATCHES in asked:
                        patch = stack.enter_context(pytest.MonkeyPatch.context())
                        values = {**values, PATCHES: patch}
                    try:
                        test(**values, **given)
                    except pytest.skip.Exception as skipped:
                        failures[name] = AssertionError(f"left out: {skipped.msg}")
                    except pytest.exit.Exception:
                        raise
                    except (Exception, pytest.fail.Exception) as error:
                        failures[name] = error
            if failures:
                raise failed(failures, len(every))

        more = [p for n, p in asked.items() if n not in (*held, PATCHES)]
        first = inspect.Parameter("row", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        law.__signature__ = inspect.Signature([first, *more])  # type: ignore
        return pytest.mark.parametrize("row", [*always, *nightly(others)])(law)

    return over_rows


def together(rows: list[str]) -> dict[str, list[str]]:
    """The rows in bundles, each under its rows' names."""
    bundles = [rows[n : n + TOGETHER] for n in range(0, len(rows), TOGETHER)]
    return {" ".join(bundle): bundle for bundle in bundles}


def failed(failures: dict[str, BaseException], count: int) -> BaseExceptionGroup[Any]:
    """All failures of a row, each with its case's name."""
    for name, error in failures.items():
        error.add_note(f"in the case {name}")
    said = f"{len(failures)} of {count} cases fail: {', '.join(failures)}"
    return BaseExceptionGroup(said, list(failures.values()))
