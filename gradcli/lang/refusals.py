"""Why a file cannot be read or written, in one wording, and the way out.

try:
    open("wieghts.csv")
except OSError as error:
    refusal("wieghts.csv", error, "a table is .csv")
# ("there is no file 'wieghts.csv'", "did you mean 'weights.csv'?")
"""

import os

from .suggest import nearest

FOLDER = "give --out a file in a folder that can be written to"


def refusal(
    path: str, error: Exception, way_out: str, done: str = "read", mark: str = ""
) -> tuple[str, str]:
    """Return in words what the system refused, and what to do.

    Args:
        path: the file, as the user wrote it.
        error: the `OSError`, or the `ValueError` of a name that no file can have.
        way_out: what to do where no other file has a similar name.
        done: what was to be done with it: ``read`` or ``written``.
        mark: what stands before a file's name where the user writes it.
    """
    folder, name = os.path.split(os.path.expanduser(path))
    if isinstance(error, FileNotFoundError):
        if folder and not os.path.isdir(folder):
            return f"{path!r} cannot be {done}: there is no folder {folder!r}", way_out
        if done == "read":
            near = _near(folder, name)
            hint = f"did you mean '{mark}{near}'?" if near else way_out
            return f"there is no file {path!r}", hint
    if isinstance(error, IsADirectoryError):
        return f"{path!r} is a directory", way_out
    return f"{path!r} cannot be {done}: {reason_of(error)}", way_out


def reason_of(error: Exception) -> str:
    """Return the system's reason in lower case."""
    return str(getattr(error, "strerror", None) or error).lower()


def _near(folder: str, name: str) -> str | None:
    """Return a file of the folder with a similar name."""
    try:
        found = nearest(name, os.listdir(folder or "."))
    except OSError:
        return None
    return os.path.join(folder, found) if found else None
