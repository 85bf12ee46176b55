"""``gradcli explain``: the backward pass, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Option

from ..options import VERIFIES_NOTHING, GradOutput, Request, without
from ..output import Printer, form, show
from ..problems import Exit, refuse_both, typed, wrong

if TYPE_CHECKING:
    from ...answers.explanation import Explanation
    from ...answers.textbook_rules import Stated
    from ...answers.worked import Rules


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
    grad_output: GradOutput = None,
) -> int:
    """The backward pass as it happens, node by node.

    Shown is what arrives at each node, and what goes on to the next.

    As --latex, --markdown or --html it is a worked solution, with the rule beside every
    number.

    Example: gradcli explain "u = x*y; L = u + x" x=2 y=3
    """
    forms = {"latex": latex, "markdown": markdown, "html": html}
    written = next((name for name, asked in forms.items() if asked), None)
    if written is not None:
        refuse_both(typed(**forms, json=form.json, quiet=form.quiet, step=step))
    if step:
        _require_terminal()
    from ...answers import explanation as draw
    from ...answers.explanation import explanation
    from ..sources import question_of

    question = question_of(request, grad_output)
    if written is not None:
        from ...answers.textbook_rules import rules_of

        rules: dict[tuple[int, int], Stated | None] = {}
        found = explanation(question, lambda *graph: rules.update(rules_of(*graph)))
        return _worked(written, found, rules)
    found = explanation(question)
    if step:
        return _stepwise(found)
    return show(found, bare=draw.plain_steps, text=draw.lines)


def _require_terminal() -> None:
    from ..keyboard import terminal

    refuse_both(typed(step=True, json=form.json, quiet=form.quiet))
    if not terminal():
        message = "--step waits for keys, and there is no terminal to press them"
        raise wrong("E590", message, "leave --step out: all steps are printed then")


def _worked(form: str, explanation: Explanation, rules: Rules) -> int:
    from ...answers.theme import chosen
    from ...answers.worked import latex, markdown, page

    if form == "html":
        Printer().lines(page(explanation, rules, chosen.name))
    else:
        draw = {"latex": latex, "markdown": markdown}[form]
        Printer().lines(draw(explanation, rules))
    return Exit.DONE


def _stepwise(explanation: Explanation) -> int:
    """Print a step and wait for a key, until the steps end or the key is q."""
    from ...answers.explanation import opening, step
    from ..keyboard import ENDS, key

    printer = Printer()
    printer.lines(opening(explanation, printer.layout))
    last = len(explanation.steps)
    for each in explanation.steps:
        printer.lines(step(each, printer.layout))
        if each.number < last:
            asked = f"({each.number} of {last}: any key for the next, q ends)"
            if key(asked) in ENDS:
                break
    return Exit.DONE
