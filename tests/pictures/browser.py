"""The browser that tests and pictures of pages use."""

from __future__ import annotations

import os
import shutil


def chromium() -> str | None:
    """A browser that is there, or None."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = [os.environ.get("GRADCLI_CHROMIUM"), *map(shutil.which, names)]
    return next(filter(None, found), None)
