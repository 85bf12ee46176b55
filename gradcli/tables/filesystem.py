"""Functions that guard the reading of files, write a file whole or not at all, and word
the errors of both.

Invariants: whatever a reader raises of a file is the error of that file. At any time a
file has either its former content or all of the new one, even if the writing is
interrupted. Two kinds of targets are written to directly: those that are no files, such
as a pipe or ``/dev/stdout``, and files in a folder in which no new file can be made.

    with replacing("out.csv.gz") as file, packed(file, "out.csv.gz", "wb") as text:
        text.write(b"x\\n1\\n")
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from errno import EACCES, EISDIR, ENOMEM, EROFS
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from shutil import copymode
from stat import S_ISDIR, S_ISREG
from typing import IO, Any

from ..lang.errors import ProgramError
from ..lang.process import is_out_of_memory, remove_at_end
from ..lang.suggest import nearest
from ..ops.checks import EngineError

_OPEN_FILES = ("/dev/fd/", "/dev/stdout", "/dev/stderr", "/proc/")
"""Beginnings of the names of files that the process has open already."""

PACKED = (".gz", ".bz2", ".xz", ".zst")
"""Suffixes of packed files."""

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
"""Flags of `os.open` for a new file of bytes."""

_unfinished: set[str] = set()
"""Paths of temporary files that are not yet written to their end."""


def path_of(name: str) -> Path:
    """Return the path of a file's name; of a ``~`` that means no folder it keeps the
    sign."""
    return Path(os.path.expanduser(name))


def suffixes(path: str) -> tuple[str, str]:
    """Return the suffix of a file's name, and the one behind it that says how it is
    packed: `.csv` and `.gz` of ``t.csv.gz``, each empty if there is none."""
    stem, last = os.path.splitext(path)
    if last.lower() in PACKED:
        return os.path.splitext(stem)[1].lower(), last.lower()
    return last.lower(), ""


STANDARD_INPUT = "standard input"
"""Name of the standard input in messages, beside which files' names have quotes."""

WHOLE = "is the file whole?"

CODES = ("E511", "E512", "E513")
"""Codes of the errors of a missing file, of one that cannot be read, and of one whose
content no reader understands."""


@contextmanager
def guarded(
    path: str,
    way_out: str,
    codes: tuple[str, str, str] = CODES,
    mark: str = "",
) -> Iterator[None]:
    """Return a context in which a file is read: whatever is raised inside becomes the
    error of that file, but for a lack of memory and what is an error already.

    Args:
        path: the file, as the user wrote it, or `STANDARD_INPUT`.
        way_out: the hint where the file cannot be opened.
        codes: those of the errors, as `CODES`.
        mark: the sign that users write before the name of a file, such as ``@``.
    """
    missing, unreadable, damaged = codes
    try:
        yield
    except (ProgramError, EngineError):
        raise
    except OSError as error:
        if error.errno == ENOMEM:
            raise
        code = missing if isinstance(error, FileNotFoundError) else unreadable
        message, hint = refusal(path, error, way_out, mark=mark)
        raise ProgramError(code, message, hint=hint) from error
    except Exception as error:
        if is_out_of_memory(error):
            raise
        reason = str(error).partition("\n")[0] or type(error).__name__
        message = f"{_quoted(path)} cannot be read: {reason}"
        raise ProgramError(damaged, message, hint=WHOLE) from error


def _quoted(path: str) -> str:
    return path if path == STANDARD_INPUT else repr(path)


@contextmanager
def packed(file: IO[bytes], path: str, mode: str = "rb") -> Iterator[IO[bytes]]:
    """Return a context that packs what is written to a file, or unpacks what is read
    of it, as the suffix of its path says; raise ProgramError if it cannot."""
    packing = suffixes(path)[1]
    try:
        with _packed(file, packing, mode) as opened:
            yield opened
    except Exception as error:
        if mode == "wb" or not packing or isinstance(error, ProgramError):
            raise
        if is_out_of_memory(error):
            raise
        message = f"{path!r} cannot be unpacked: {error}"
        raise ProgramError("E513", message, hint=WHOLE) from error


def _packed(file: IO[bytes], packing: str, mode: str) -> Any:
    if packing == ".gz":
        # Without the time, so that equal contents are equal files.
        return import_module("gzip").GzipFile("", mode, fileobj=file, mtime=0)
    if packing == ".zst":
        if find_spec("pyarrow") is None:
            from ..engine.extras import how_to_install

            hint = how_to_install("pyarrow")
            raise ProgramError("E512", "a .zst file is packed by pyarrow", hint=hint)
        kind = "CompressedInputStream" if mode == "rb" else "CompressedOutputStream"
        return getattr(import_module("pyarrow"), kind)(file, "zstd")
    if packing:
        module, kind = ("bz2", "BZ2File") if packing == ".bz2" else ("lzma", "LZMAFile")
        return getattr(import_module(module), kind)(file, mode)
    return nullcontext(file)


@contextmanager
def replacing(path: str) -> Iterator[IO[bytes]]:
    """Return a context that opens a file for writing; the file at ``path`` is replaced
    when the context ends without an error.

    Raises:
        OSError: the file cannot be written.
    """
    place = os.path.realpath(os.path.expanduser(path))
    made = _create_temporary(path, place)
    if made is None:
        with open(os.path.expanduser(path), "wb") as file:
            yield file
        return
    fresh, descriptor = made
    try:
        # Opened by its path again, the file would be truncated, and ext4 waits for the
        # disk when a truncated file is closed.
        with open(descriptor, "wb") as file:
            yield file
        if os.path.exists(place):
            copymode(place, fresh)
        os.replace(fresh, place)
    finally:
        with suppress(OSError):
            os.unlink(fresh)
        _unfinished.discard(fresh)
        remove_at_end(next(iter(_unfinished), ""))


def abandon() -> None:
    """Remove all unfinished files, before the process is ended."""
    for fresh in tuple(_unfinished):
        with suppress(OSError):
            os.unlink(fresh)


def _create_temporary(path: str, place: str) -> tuple[str, int] | None:
    """Make a temporary file in the folder of the file ``place``; return its path and
    its open descriptor, or None if ``path`` is to be written to directly."""
    if os.path.abspath(path).startswith(_OPEN_FILES):
        return None
    try:
        mode = os.stat(place).st_mode
    except FileNotFoundError:
        mode = 0
    if S_ISDIR(mode) or path.endswith(os.sep):
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR), path)
    if mode and not S_ISREG(mode):
        return None
    if mode and not os.access(place, os.W_OK):
        raise PermissionError(EACCES, os.strerror(EACCES), path)
    fresh = os.path.join(os.path.dirname(place), f".gradcli-{os.urandom(8).hex()}")
    # A signal may come as soon as it exists.
    _unfinished.add(fresh)
    remove_at_end(fresh)
    try:
        descriptor = os.open(fresh, _NEW, 0o666)
    except OSError as error:
        _unfinished.discard(fresh)
        remove_at_end(next(iter(_unfinished), ""))
        if mode and error.errno in (EACCES, EROFS):
            return None
        raise
    return fresh, descriptor


FOLDER = "give --out a file in a folder that can be written to"


def refusal(
    path: str, error: Exception, way_out: str, done: str = "read", mark: str = ""
) -> tuple[str, str]:
    """Return the message and the hint for an error of the file system.

    For a missing file, the hint is the nearest name in its folder: "there is no file
    'wieghts.csv'", "did you mean 'weights.csv'?".

    Args:
        path: the file, as the user wrote it.
        error: the `OSError`, or the `ValueError` of a name that no file can have.
        way_out: the hint where no other file has a similar name.
        done: the purpose of opening the file: ``read`` or ``written``.
        mark: the sign that users write before the name of a file, such as ``@``.
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
    return f"{_quoted(path)} cannot be {done}: {reason_of(error)}", way_out


def reason_of(error: Exception) -> str:
    """Return the system's reason in lower case."""
    return str(getattr(error, "strerror", None) or error).lower()


def _near(folder: str, name: str) -> str | None:
    try:
        found = nearest(name, os.listdir(folder or "."))
    except OSError:
        return None
    return os.path.join(folder, found) if found else None
