"""How a page of HTML begins: one file, which loads nothing.

Invariant: a policy in the page lets it look as its own style sheet says and run its own
script, both by their hashes, and nothing else.

    [*begun("The backward pass", "body{margin:0}"), "</body></html>"]
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator

NOWHERE = "base-uri 'none'; form-action 'none'"


def begun(title: str, styles: str, script: str = "") -> Iterator[str]:
    """Yield the lines that a page begins with, up to what is seen.

    Args:
        title: what stands above the page, escaped.
        styles: its style sheet.
        script: what it may run.
    """
    runs = f"script-src '{_hash(script)}'; " if script else ""
    policy = f"default-src 'none'; {runs}style-src '{_hash(styles)}'; {NOWHERE}"
    yield "<!DOCTYPE html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{title}</title>"
    yield f"<style>{styles}</style></head><body>"


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256-" + base64.b64encode(digest).decode()
