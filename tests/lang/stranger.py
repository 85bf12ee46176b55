"""Files that somebody sends: good ones of each kind, and what may happen to them.

python -m tests.lang.stranger 5000 7   # so many of each kind, of a seed
"""

from __future__ import annotations

import io
import json
import resource
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from importlib.util import find_spec
from os import environ
from pathlib import Path
from random import Random
from time import process_time
from unittest.mock import patch

import numpy as np

import gradcli as torch
from gradcli.cli import app

MAX_SECONDS = 10
MAX_BYTES = 500_000_000
"""Most processor time and memory that a process may take for a file."""

STATUSES = {"program": {0, 2, 3, 4}, "settings": {0, 2}}
"""Statuses that a file may lead to, by the kinds of which they are not 0 and 3: a
program may run longer than the limit, and what is no text is no program; settings
belong to the command line."""

MORE = "error[E515]: "
"""Beginning of the error, of status 4, where a header asks for more than the limit on
memory."""

HAVE_SIZES = {"array", "rows of an array", "fields", "archive", "archive as it is",
              "archive by LZMA"}  # fmt: skip
"""Kinds of files whose headers say how large the content is."""

TEXT = 'x,name,b\n1,a,2\n3e2,"b, c",-4\n0.5,d,1\n'
OBJECTS = [{"x": 1, "b": [2, 3]}, {"x": 0.5, "b": [4, 1e3]}]
PROGRAM = "y = sin(x)*x^2 + 3\nfor i in range(3):\n    y = y + x/2  # half\ny.sum()\n"
SETTINGS = 'digits = 5\ncolour = "never"\nmax-seconds = 5.5\nwidth = 100\n'

TABLE = ["grad", "x^2", "--table", "it", "--no-verify"]
VALUE = ["value", "x.sum()", "x=@it"]


def _saved(write: Callable[..., None], *values: object, **named: object) -> bytes:
    file = io.BytesIO()
    write(file, *values, **named)
    return file.getvalue()


def _zipped(method: int) -> bytes:
    from zipfile import ZipFile

    file = io.BytesIO()
    with ZipFile(file, "w", method) as archive:
        archive.writestr("a.npy", _saved(np.save, np.arange(30.0).reshape(5, 6)))
    return file.getvalue()


def _parquet() -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    whens = [1, None, 3_000_000]
    table = pa.table({
        "x": [1.0, 2.0, 0.5], "text": ["a", "b", None],
        "when": pa.array(whens, pa.timestamp("us")),
    })  # fmt: skip
    return _saved(lambda file: parquet.write_table(table, file))


def good() -> dict[str, tuple[list[str], str, bytes]]:
    """A command line, the name of its file, and the file's good content, by kind."""
    from gzip import compress

    array = _saved(np.save, np.arange(12.0).reshape(12, 1))
    fields = np.rec.fromarrays([np.arange(4.0), np.arange(4)], names="x,b")
    stored, deflated, lzma = 0, 8, 14
    found = {
        "array": (VALUE, "it.npy", array),
        "rows of an array": (TABLE, "it.npy", array),
        "fields": ([*TABLE, "--keep", "b"], "it.npy", _saved(np.save, fields)),
        "archive": (VALUE, "it.npz", _zipped(deflated)),
        "archive as it is": (VALUE, "it.npz", _zipped(stored)),
        "archive by LZMA": (VALUE, "it.npz", _zipped(lzma)),
        "CSV": ([*TABLE, "--keep", "name"], "it.csv", TEXT.encode()),
        "column": (["value", "x.sum()", "x=@it.csv:x"], "it.csv", TEXT.encode()),
        "numbers": (VALUE, "it.csv", b"1,2,3\n4,5e-1,6\n"),
        "packed": (TABLE, "it.csv.gz", compress(TEXT.encode(), mtime=0)),
        "JSON": (["value", "x.sum()", "x=@it.json:x"], "it.json",
                 json.dumps(OBJECTS).encode()),
        "JSON lines": ([*TABLE, "--keep", "b"], "it.jsonl",
                       "\n".join(map(json.dumps, OBJECTS)).encode()),
        "program": (["value", "-f", "it", "x=2"], "it.grad", PROGRAM.encode()),
        "settings": (["value", "x", "x=2"], "gradcli/config.toml", SETTINGS.encode()),
        "checkpoint": ([], "it.safetensors", _saved(lambda file: torch.save(
            {"epoch": 3, "w": torch.ones(2, 3), "more": [torch.ones(4)]}, file))),
    }  # fmt: skip
    if find_spec("pyarrow") is not None:
        words = [*TABLE, "--keep", "text,when"]
        found["parquet"] = (words, "it.parquet", _parquet())
    return found


def changed(content: bytes, random: Random) -> bytes:
    """Return a file after one to four accidents."""
    data = bytearray(content)
    for _ in range(random.randint(1, 4)):
        at, end = sorted(random.randint(0, len(data)) for _ in range(2))
        match random.randrange(6):
            case 0 if data:
                data[at % len(data)] ^= 1 << random.randrange(8)
            case 1:
                del data[at:]
            case 2:
                del data[at : min(end, at + 9)]
            case 3:
                data[at:at] = data[at : min(end, at + 40)] * random.choice([1, 2, 300])
            case 4 if data:
                other = random.randrange(len(data))
                data[at % len(data)], data[other] = data[other], data[at % len(data)]
            case _:
                wild = [b"\0", b"\xff", b'"', b"(", b"[", b"9" * 20, b"\n", b"1e999"]
                data[at : at + random.randrange(3)] = random.choice(wild)
    return bytes(data)


def status_of(words: list[str], name: str) -> tuple[int, str]:
    """Run a command line on a file in this folder; return its status and errors."""
    if not words:
        try:
            torch.load(name)
        except ValueError as error:
            return 3, str(error)
        return 0, ""
    told = io.TextIOWrapper(io.BytesIO(), "utf-8")
    written = io.TextIOWrapper(io.BytesIO(), "utf-8")
    line = [
        word.replace("@it", f"@{name}") if word in VALUE else word for word in words
    ]
    line = [name if word == "it" else word for word in line]
    with redirect_stdout(written), redirect_stderr(told):
        status = app.run(line)
    told.seek(0)
    return status, told.read()


def faults(kind: str, count: int, seed: int) -> Iterator[str]:
    """Yield what is wrong with the end of commands on damaged files of a kind."""
    words, name, content = good()[kind]
    random, highest = Random(f"{kind} {seed}"), 0
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        home = {"XDG_CONFIG_HOME": folder} if kind == "settings" else {}
        with patch.dict(environ, home):
            Path(name).parent.mkdir(exist_ok=True)
            for nr in range(count + 1):
                data = changed(content, random) if nr else content
                Path(name).write_bytes(data)
                before = process_time()
                try:
                    status, said = status_of(words, name)
                except Exception as error:  # what a process would end of
                    status, said = 70, f"{type(error).__name__}: {error}"
                allowed = STATUSES.get(kind, {0, 3}) if nr else {0}
                if said.startswith(MORE) and kind in HAVE_SIZES:
                    allowed = {4}
                if status not in allowed or "Traceback" in said:
                    yield f"{kind}: {data!r}: {status}: {said[:300]}"
                if process_time() - before > MAX_SECONDS:
                    yield f"{kind}: {data!r}: took too long"
                if peak() > max(MAX_BYTES, highest):
                    highest = peak()
                    yield f"{kind}: {data!r}: took {highest:,} bytes"


def peak() -> int:
    """The most resident memory that this program had at a time, in bytes.

    On Linux ``ru_maxrss`` counts the process that started the program, too.
    """
    try:
        status = Path("/proc/self/status").read_text()
    except FileNotFoundError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def main(count: int, seed: int) -> None:
    wrong = []
    for kind in good():
        print(kind, flush=True)
        for fault in faults(kind, count, seed):
            print(fault[:1500], flush=True)
            wrong.append(fault)
    print(f"{peak():,} bytes, {process_time():.0f} s of processor time")
    sys.exit(len(wrong) > 0)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
