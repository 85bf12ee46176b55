"""Completion in bash, zsh and fish: the scripts, and what they are answered.

Invariant: a script puts what it is told on the line and evaluates nothing of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, Final

from .completion import Offer, offers
from .typed_line import Begun, begun, continued

VARIABLE: Final = "_GRADCLI_COMPLETE"
"""What a script asks by."""

ASKING: Final = "offer_"
"""What it then holds, before the name of a shell."""

BASH: Final = r"""
_gradcli_completion() {
    local answer
    COMPREPLY=()
    while IFS= read -r answer; do
        [[ $answer == +* ]] && compopt -o nospace
        answer=${answer:1}
        COMPREPLY+=("${answer%%$'\t'*}")
    done < <(COMP_BREAKS="$COMP_WORDBREAKS" COMP_TEXT="${COMP_LINE:0:COMP_POINT}" \
             _GRADCLI_COMPLETE=offer_bash "$1" 2>/dev/null)
}
complete -F _gradcli_completion gradcli
"""

ZSH: Final = r"""
#compdef gradcli
_gradcli() {
    local answer word label
    local typed="${(j: :)words[1,CURRENT-1]} ${QIPREFIX}${PREFIX}"
    local -a open closed open_labels closed_labels parts
    for answer in "${(@f)$(COMP_TEXT="$typed" \
                           _GRADCLI_COMPLETE=offer_zsh "${words[1]}" 2>/dev/null)}"; do
        [[ -n $answer ]] || continue
        parts=("${(@ps:\t:)answer}")
        word=${parts[1][2,-1]} label=${parts[2]}
        [[ -n ${parts[3]} ]] && label="${(r:18:)label}  ${parts[3]}"
        (( $#label >= COLUMNS )) && label="${label[1,COLUMNS-2]}…"
        if [[ $answer == +* ]]; then
            open+=("$word") open_labels+=("$label")
        else
            closed+=("$word") closed_labels+=("$label")
        fi
    done
    local -a long
    [[ -n ${parts[3]} ]] && long=(-l)
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
    set -lx _GRADCLI_COMPLETE offer_fish
    gradcli 2>/dev/null
end
complete -c gradcli -e
complete -c gradcli -f -a '(__gradcli_offers)'
"""

SCRIPTS: Final = {"bash": BASH, "zsh": ZSH, "fish": FISH}


def answer(shell: str, environment: Mapping[str, str]) -> Iterator[str]:
    """The lines that a shell's script reads.

    Args:
        shell: its name.
        environment: has what was typed before the cursor in ``COMP_TEXT``, and in
            ``COMP_BREAKS`` what bash breaks words at.
    """
    line = environment.get("COMP_TEXT", "")
    given = begun(line, environment.get("COMP_BREAKS", "") if shell == "bash" else "")
    if not given.words or "\n" in given.text:
        return
    found = offers(_without_settings(given.words), given.text)
    # A quote stays open where bash and fish see that there is a choice.
    if given.quote and len(found) == 1 and found[0].more and shell != "zsh":
        found = [*found, found[0]._replace(text=found[0].text + " ")]
    for offer in found:
        yield _told(shell, given, offer)


def _without_settings(words: list[str]) -> list[str]:
    """The words without values for variables before the command."""
    first = next((i for i, word in enumerate(words) if "=" not in word), 0)
    return words[first:]


def _told(shell: str, given: Begun, offer: Offer) -> str:
    """An offer as a script of this shell reads it."""
    about = " ".join(offer.about.split())
    if shell == "fish":
        return f"{offer.text}\t{about}"
    mark = "+" if offer.more else "="
    if shell == "zsh":
        return f"{mark}{offer.text}\t{_label(given.text, offer.text)}\t{about}"
    return f"{mark}{continued(given, offer.text[len(given.text) :])}\t{about}"


def _label(typed: str, text: str) -> str:
    """The part of an offer that is worth reading: the last name in a program."""
    start = len(typed)
    while start and (typed[start - 1].isalnum() or typed[start - 1] in "_-./"):
        start -= 1
    return text[start:]


def typers() -> Any:
    """What typer has of completion: it knows where shells look, and more of them."""
    from typer import completion

    return completion


def print_script(shell: str) -> str:
    """The script of a shell; of another one than these, typer's own.

    Raises:
        ProgramError: there is none.
    """
    if shell in SCRIPTS:
        return SCRIPTS[shell].strip("\n")
    from .problems import wrong

    if shell not in [each.value for each in typers().Shells]:
        known = ", ".join(SCRIPTS)
        hint = f"name one: {known}, powershell"
        raise wrong("E595", f"no completion for the shell {shell!r}", hint)
    return str(
        typers().get_completion_script(
            prog_name="gradcli", complete_var=VARIABLE, shell=shell
        )
    )


def install(shell: str) -> str:
    """Put a shell's script where the shell finds it; the path.

    Raises:
        ProgramError: there is none, or it cannot be written.
    """
    script = print_script(shell)
    from .problems import wrong

    try:
        _, path = typers().install(shell, "gradcli", VARIABLE)
        if shell in SCRIPTS:
            path.write_text(script + "\n")
    except OSError as error:
        reason = error.strerror or str(error)
        hint = "gradcli --show-completion prints the script, to be put elsewhere"
        raise wrong("E598", f"cannot install completion: {reason}", hint) from None
    return str(path)


def own_shell() -> str:
    """The name of the shell that runs this process, else of the user's, or nothing."""
    found = getattr(typers(), "_get_shell_name", lambda: None)()
    return str(found or os.path.basename(os.environ.get("SHELL", "")))
