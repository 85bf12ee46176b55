"""``gradcli explain``: the backward pass, step by step."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated

from typer import Option

from ...answers import explanation as draw
from ...answers.explanation import explanation, opening, step
from ...answers.line import chosen, plain
from ...answers.textbook_rules import rules_of
from ...answers.worked import latex, markdown, page
from ..keyboard import ENDS, key, terminal
from ..options import VERIFIES_NOTHING, GradOutput, Request, without
from ..output import Printer, form
from ..problems import Exit, put, refuse_both, typed, wrong
from ..sources import question_of

if TYPE_CHECKING:
    from ...answers.explanation import Explanation
    from ...answers.textbook_rules import Stated, StatedRules


ENDINGS = {".tex": "latex", ".md": "markdown", ".html": "html"}
"""Forms of a worked solution, by the endings of files."""


@without(VERIFIES_NOTHING)
def main(
    request: Request,
    step: Annotated[
        bool,
        Option("--step", help="Wait for a key after each step; q quits."),
    ] = False,
    latex: Annotated[
        bool,
        Option(
            "--latex", help="Write the pass as equations in LaTeX, each with its rule."
        ),
    ] = False,
    markdown: Annotated[
        bool,
        Option("--markdown", help="Write it as Markdown, with the rules."),
    ] = False,
    html: Annotated[
        bool,
        Option("--html", help="Write it as a page of HTML, with the rules."),
    ] = False,
    out: Annotated[
        str | None,
        Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write the worked solution to a file: .tex, .md or .html.",
        ),
    ] = None,
    grad_output: GradOutput = None,
) -> int:
    """The backward pass as it happens, node by node.

    Each step shows the gradient that arrives, the gradients that go on, and the rule
    that gives them.

    As --latex, --markdown or --html it is a worked solution, with the rule beside every
    number.

    Example: gradcli explain "u = x*y; L = u + x" x=2 y=3
    """
    forms = {"latex": latex, "markdown": markdown, "html": html}
    written = next((name for name, asked in forms.items() if asked), None)
    others = typed(**forms, json=form.json, quiet=form.quiet, step=step)
    if written is not None or out is not None:
        refuse_both([*others, *typed(out=out)])
    if out is not None:
        written = _form_of(out)
    if step:
        _require_terminal()
    asked = typed(**forms, step=step, grad_output=grad_output)
    question = question_of(request, grad_output, form.read and not asked)
    if question.symbols and question.lacks_values():
        from ...answers.step_formulas import step_formulas

        Printer().lines(step_formulas(question))
        return Exit.DONE
    rules: dict[tuple[int, int], Stated | None] = {}
    found = explanation(question, lambda *graph: rules.update(rules_of(*graph)))
    if written is not None:
        return _worked(written, found, rules, out)
    if step:
        return _stepwise(found, rules)
    printer = Printer()
    steps = draw.lines(found, printer.layout, rules)
    return printer.show(found, steps, draw.plain_steps(found))


def _require_terminal() -> None:
    refuse_both(typed(step=True, json=form.json, quiet=form.quiet))
    if not terminal():
        message = "--step waits for keys, and there is no terminal to press them"
        raise wrong("E590", message, "leave --step out: all steps are printed then")


def _form_of(path: str) -> str:
    """Return the form of a worked solution that a file's name ends with."""
    form = ENDINGS.get(PurePath(path).suffix.lower())
    if form is None:
        hint = f"end the name with one of {', '.join(ENDINGS)}"
        message = f"--out: {path!r} does not say which form is written"
        raise wrong("E595", message, hint)
    return form


def _worked(
    form: str, explanation: Explanation, rules: StatedRules, out: str | None
) -> int:
    """Print a worked solution, or write it to a file."""
    if form == "html":
        lines = page(explanation, rules, chosen.name)
    else:
        draw = {"latex": latex, "markdown": markdown}[form]
        lines = draw(explanation, rules)
    if out is None:
        Printer().lines(lines)
    else:
        content = "".join(f"{line.text}\n" for line in lines).encode()
        put(out, content, "give a file in a folder that can be written to")
        Printer().lines([plain(f"written to {out}")])
    return Exit.DONE


def _stepwise(explanation: Explanation, rules: StatedRules) -> int:
    """Print a step and wait for a key, until the steps end or the key is q."""
    printer = Printer()
    printer.lines(opening(explanation, printer.layout))
    last = len(explanation.steps)
    for each in explanation.steps:
        printer.lines(step(each, printer.layout, rules))
        if each.number < last:
            asked = f"({each.number} of {last}: any key for the next, q ends)"
            if key(asked) in ENDS:
                break
    return Exit.DONE
