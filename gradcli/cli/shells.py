"""Completion in the shells: the scripts, and what they are answered.

Invariant: a script puts what it is told on the line and evaluates nothing of it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import ModuleType
from typing import Final, NamedTuple

from . import powershell
from .completion import Offer, offers
from .typed_line import Begun, begun, continued

VARIABLE: Final = "_GRADCLI_COMPLETE"
"""What a script asks by: `offers_` and the name of its shell."""

BASH: Final = r"""
_gradcli_completion() {
    local answer
    COMPREPLY=()
    while IFS= read -r -d '' answer; do
        [[ $answer == +* ]] && compopt -o nospace 2>/dev/null
        COMPREPLY+=("${answer:1}")
    done < <(COMP_BREAKS="$COMP_WORDBREAKS" COMP_TEXT="${COMP_LINE:0:COMP_POINT}" \
             _GRADCLI_COMPLETE=offers_bash "$1" 2>/dev/null)
}
complete -F _gradcli_completion gradcli
"""

ZSH: Final = r"""
#compdef gradcli
_gradcli() {
    local answer label about
    local typed="${(j: :)words[1,CURRENT-1]} ${QIPREFIX}${PREFIX}"
    local -a told long open closed open_labels closed_labels
    told=("${(@0)$(COMP_TEXT="$typed" \
                   _GRADCLI_COMPLETE=offers_zsh "${words[1]}" 2>/dev/null)}")
    for answer label about in "${told[@]}"; do
        [[ -n $answer ]] || continue
        if [[ -n $about ]]; then
            long=(-l)
            (( $#label < 18 )) && label="${(r:18:)label}"
            label+="  $about"
        fi
        (( $#label >= COLUMNS )) && label="${label[1,COLUMNS-2]}…"
        if [[ $answer == +* ]]; then
            open+=("${answer[2,-1]}") open_labels+=("$label")
        else
            closed+=("${answer[2,-1]}") closed_labels+=("$label")
        fi
    done
    (( $#open )) && compadd $long -S '' -d open_labels -- "${open[@]}"
    (( $#closed )) && compadd $long -d closed_labels -- "${closed[@]}"
}
if [[ $funcstack[1] == _gradcli ]]; then
    _gradcli "$@"
else
    compdef _gradcli gradcli
fi
"""

FISH: Final = r"""
function __gradcli_offers
    set -lx COMP_TEXT (commandline -cp | string collect)
    set -lx _GRADCLI_COMPLETE offers_fish
    gradcli 2>/dev/null
end
complete -c gradcli -e
complete -c gradcli -f -a '(__gradcli_offers | string split0)'
"""

SCRIPTS: Final = {
    "bash": BASH, "zsh": ZSH, "fish": FISH, "powershell": powershell.SCRIPT
}  # fmt: skip

OTHERWISE: Final = {"pwsh": "powershell"}
"""Other names of a shell."""


class _Protocol(NamedTuple):
    """How an answer is written."""

    between: str
    """Behind each field but the last."""

    end: str
    """Behind each offer."""


_PROTOCOLS: Final = {
    "offers": _Protocol("\0", "\0"),
    # A script that was installed before, which knows no more than lines.
    "offer": _Protocol("\t", "\n"),
}


def answer(asked: str, environment: Mapping[str, str]) -> str | None:
    """What a shell's script reads; None where typer is asked.

    Args:
        asked: what the script has in `VARIABLE`.
        environment: has what was typed before the cursor in ``COMP_TEXT``, and in
            ``COMP_BREAKS`` what bash breaks words at.
    """
    name, _, shell = asked.partition("_")
    protocol = _PROTOCOLS.get(name)
    if protocol is None:
        return None
    line = environment.get("COMP_TEXT", "")
    if OTHERWISE.get(shell, shell) == "powershell":
        given = begun(line, shell=powershell.QUOTING)
        return "".join(powershell.told(given, offered(given)))
    given = begun(line, environment.get("COMP_BREAKS", "") if shell == "bash" else "")
    marks = {protocol.between, protocol.end, *("\t" if shell == "fish" else "")}
    if not marks.isdisjoint(given.text):
        return ""
    found = offered(given)
    if given.quote and len(found) == 1 and found[0].more and shell != "zsh":
        found = _kept_open(found[0])
    fields = (_fields(shell, given, offer) for offer in found)
    return "".join(protocol.between.join(each) + protocol.end for each in fields)


def offered(given: Begun) -> list[Offer]:
    """What could stand in the place of the word that was begun."""
    return offers(_without_settings(given.words), given.text) if given.words else []


def _kept_open(offer: Offer) -> list[Offer]:
    """The offer and how it may go on: bash and fish close the quote behind a lone one,
    and with it a program that is still being typed."""
    return [offer, Offer(offer.text + offer.then, offer.use, more=True)]


def _without_settings(words: list[str]) -> list[str]:
    """The words without values for variables before the command."""
    first = next((i for i, word in enumerate(words) if "=" not in word), 0)
    return words[first:]


def _fields(shell: str, given: Begun, offer: Offer) -> list[str]:
    """An offer as a script of this shell reads it."""
    about = " ".join(offer.about.split())
    if shell == "fish":
        return [f"{offer.text}\t{about}"]
    mark = "+" if offer.more else "="
    if shell == "zsh":
        return [mark + offer.text, _label(given.text, offer.text), about]
    return [mark + continued(given, offer.text[len(given.text) :])]


def _label(typed: str, text: str) -> str:
    """The part of an offer that is worth reading: the last name in a program."""
    start = len(typed)
    while start and (typed[start - 1].isalnum() or typed[start - 1] in "_-./"):
        start -= 1
    return text[start:]


def typers() -> ModuleType:
    """What typer has of completion: it knows where shells look, and more of them."""
    from typer import completion

    return completion


def print_script(shell: str) -> str:
    """The script of a shell.

    Raises:
        ProgramError: there is none.
    """
    found = SCRIPTS.get(OTHERWISE.get(shell, shell))
    if found is None:
        from .problems import wrong

        hint = f"name one: {', '.join(SCRIPTS)}"
        raise wrong("E595", f"no completion for the shell {shell!r}", hint)
    return found.strip("\n")


def install(shell: str) -> str:
    """Put a shell's script where the shell finds it; the path.

    Raises:
        ProgramError: there is none, or it cannot be written.
    """
    script = print_script(shell)
    from ..lang.replacing import replacing
    from .problems import wrong

    try:
        if OTHERWISE.get(shell, shell) == "powershell":
            return str(powershell.install(shell))
        _, path = typers().install(shell, "gradcli", VARIABLE)
        with replacing(str(path)) as file:
            file.write(f"{script}\n".encode())
    except OSError as error:
        reason = error.strerror or str(error)
        hint = "gradcli --show-completion prints the script, to be put elsewhere"
        raise wrong("E598", f"cannot install completion: {reason}", hint) from None
    return str(path)


def own_shell() -> str:
    """The name of the shell that runs this process, else of the user's, or nothing."""
    found = getattr(typers(), "_get_shell_name", lambda: None)()
    return str(found or os.path.basename(os.environ.get("SHELL", "")))
