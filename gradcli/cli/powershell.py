"""Completion in PowerShell: its script, how it reads a line, and where it is put.

Invariant: what is put on the line is one word to PowerShell, whatever stands in it.

    begun('gradcli grad "x`$ + ta', shell=QUOTING)  # "gradcli", "grad"; "x$ + ta"
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from .completion import Offer
from .typed_line import Begun, Quoting

SCRIPT: Final = r"""
Register-ArgumentCompleter -Native -CommandName gradcli -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $typed = $commandAst.ToString()
    $length = $cursorPosition - $commandAst.Extent.StartOffset
    if ($length -lt $typed.Length) { $typed = $typed.Substring(0, $length) }
    $env:COMP_TEXT = $typed.PadRight($length)
    $env:_GRADCLI_COMPLETE = 'offers_powershell'
    try {
        gradcli 2>$null | ForEach-Object {
            $offer = ConvertFrom-Json $_
            [System.Management.Automation.CompletionResult]::new(
                $offer.text, $offer.label, 'ParameterValue', $offer.about)
        }
    } finally {
        Remove-Item Env:COMP_TEXT, Env:_GRADCLI_COMPLETE
    }
}
"""

QUOTING: Final = Quoting("|&;(){}", "`", doubled=True)
"""How it reads a line."""

_PLAIN: Final = frozenset("_%+=:./\\-~")
"""What may stand in a word without quotes, beside letters and digits."""


def told(given: Begun, offers: Iterable[Offer]) -> Iterator[str]:
    """The offers as the script reads them, an object of JSON on each line."""
    for offer in offers:
        label = offer.text.rpartition("\n")[2] or offer.text
        about = " ".join(offer.about.split())
        found = {
            "text": _word(given, offer),
            "label": label,
            "about": about or label,
        }
        yield json.dumps(found) + "\n"


def _word(given: Begun, offer: Offer) -> str:
    """An offer in the quotes that were begun, or in those that it needs."""
    plain = all(letter.isalnum() or letter in _PLAIN for letter in offer.text)
    if not given.quote and given.raw[:1] not in ("'", '"') and plain:
        return offer.text
    quote = given.quote or "'"
    text = offer.text.replace(quote, quote * 2)
    if quote == '"':
        text = text.replace("`", "``").replace("$", "`$")
    return quote + text + quote * (not offer.more)


def install(shell: str) -> Path:
    """Put the script beside the user's profile, which is told to read it.

    Raises:
        OSError: the shell cannot be started, or a file cannot be written.
    """
    words = [shell, "-NoProfile", "-NonInteractive", "-Command", "$PROFILE"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=True)
    except FileNotFoundError:
        raise OSError(f"there is no program {shell}") from None
    except subprocess.CalledProcessError:
        raise OSError(f"{shell} does not say where its profile is") from None
    from ..lang.replacing import replacing

    profile = Path(done.stdout.strip())
    script = profile.with_name("gradcli.ps1")
    script.parent.mkdir(parents=True, exist_ok=True)
    with replacing(str(script)) as file:
        file.write(SCRIPT.lstrip("\n").encode())
    quoted = str(script).replace("'", "''")
    line = f". '{quoted}'"
    said = profile.read_text(encoding="utf-8-sig") if profile.exists() else ""
    if line not in said.splitlines():
        with profile.open("a", encoding="utf-8") as file:
            file.write(("\n" if said and not said.endswith("\n") else "") + line + "\n")
    return script
