"""What takes too much ends with an error, a place and what to raise: status 4.

No result depends on the clock: an endless program ends at whatever limit it meets, and
the limits are set so low, or the program so large, that there is but one to meet. What
a process took is read from the system, where the system tells it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from .conftest import COMMAND, Run, environment
from .examples import ON_PROGRAMS

MAX_RESIDENT_BYTES = 500_000_000
"""What no process may take, its libraries included."""

GUARD_SECONDS = 120
"""A test that hangs is ended; no outcome depends on it."""

linux = pytest.mark.skipif(sys.platform != "linux", reason="the system's own limits")

MEASURED = """
import os, resource, sys
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
taken = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
sys.stderr.write(f"\\n{status} {taken}")
"""


@dataclass(frozen=True, slots=True)
class Taken:
    """How a process ended, and its peak of resident memory."""

    status: int
    out: str
    err: str
    resident_bytes: int


def measured(
    tmp_path: Path, *args: str, stdin: bytes = b"", place: str | None = None
) -> Taken:
    """Run the command line below a small process, whose own memory does not count; it
    reads bytes, or the file at a place."""
    with open(place or os.devnull, "rb") as file:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", MEASURED, *COMMAND, *args],
            capture_output=True, cwd=tmp_path, env=environment(),
            timeout=GUARD_SECONDS, check=True,
            **({"stdin": file} if place else {"input": stdin}),
        )  # fmt: skip
    err, _, told = done.stderr.decode().rpartition("\n")
    status, resident = map(int, told.split())
    return looked_at(Taken(status, done.stdout.decode(errors="replace"), err, resident))


Warm = Callable[..., Taken]


@pytest.fixture
def warm(tmp_path: Path, warm_command: list[str]) -> Warm:
    """Runs the command line where its libraries are there, whose memory counts."""
    peak = tmp_path / "peak of memory"

    def run(*args: str, stdin: bytes = b"") -> Taken:
        done = subprocess.run(
            [*warm_command, *args],
            input=stdin, capture_output=True, cwd=tmp_path, timeout=GUARD_SECONDS,
            env=environment(PEAK_OF_MEMORY=str(peak)), check=False,
        )  # fmt: skip
        out, err = (
            text.decode(errors="replace") for text in (done.stdout, done.stderr)
        )
        return looked_at(Taken(done.returncode, out, err, int(peak.read_text())))

    return run


def looked_at(ended: Taken) -> Taken:
    """An end without a traceback."""
    assert "Traceback" not in ended.err
    assert "E599" not in ended.err
    assert "Exception ignored" not in ended.err
    return ended


def refused(ended: Taken, code: str, status: int, *expected: str) -> None:
    """The end is the error of this code, with a way out, and cost little."""
    assert ended.err.startswith(f"error[{code}]: "), ended.err
    assert ended.status == status
    for text in expected:
        assert text in ended.err
    assert ended.resident_bytes < MAX_RESIDENT_BYTES


ENDLESS = {
    "counting": "while True: y = x*2",
    "without a graph": "while True:\n  with no_grad(): y = sin(x)",
    "a range": "for i in range(10**12): pass\nx",
    "one long operation": "(matrix_power(eye(600)*x, 10**300)).sum()",
}


@pytest.mark.parametrize("case", ENDLESS)
def test_what_takes_too_long_is_ended_where_it_is(warm: Warm, case: str) -> None:
    ended = warm("grad", ENDLESS[case], "x=1", "--no-verify", "--max-seconds", "0.3")
    refused(ended, "E405", 4, "more than 0.3 s", "^", "--max-seconds")


GIVEN = {"check": ("--claim", "d/dx = 1"), "plot": ("x=0..1",)}
"""What a command needs beside a program, where that is no value of x."""


@pytest.mark.parametrize("command", ON_PROGRAMS)
def test_every_command_keeps_the_limit_on_seconds(warm: Warm, command: str) -> None:
    given = GIVEN.get(command, ("x=1",))
    ended = warm(command, ENDLESS["counting"], *given, "--max-seconds", "0.3")
    refused(ended, "E405", 4, "--max-seconds")


@linux
@pytest.mark.parametrize(
    "program",
    [
        "for i in range(10**12): x = x + 1",
        "while True: x = sin(x)",
        "y = [x]\nwhile True: y = [y, ones(1000)*x]",
        "y = ones(10**6)\nwhile True: y = y*x",
    ],
)
def test_what_takes_too_much_memory_is_ended_where_it_is(
    tmp_path: Path, program: str
) -> None:
    ended = measured(
        tmp_path, "grad", program, "x=1", "--no-verify", "--max-memory", "90MB",
        "--max-seconds", "600",
    )  # fmt: skip
    refused(ended, "E403", 4, "^", "--max-memory")
    assert ended.resident_bytes < 200_000_000


TOO_LARGE = [
    "zeros(10**12)*x", "arange(10**12)*x", "linspace(0, 1, 10**12)*x", "eye(10**6)*x",
    "x.repeat(10**12)", "outer(ones(10**5), ones(10**5))*x", "diag(ones(10**5))*x",
    "kron(ones(20000), ones(20000))*x", "(10**1000)*x", "9**9**9*x", "10**10**10*x",
    "sum(range(10**18))*x", "(ones(5*10**7)*x).sum()",
    "unfold(ones(10**6), 0, 10**5, 1)*x",
]  # fmt: skip


@linux
@pytest.mark.parametrize("program", TOO_LARGE)
def test_one_value_that_is_too_large_is_a_limit_at_its_place(
    warm: Warm, program: str
) -> None:
    ended = warm("grad", program, "x=1", "--no-verify")
    assert ended.status == 4
    assert ended.err.startswith("error[E40")
    assert "^ " in ended.err
    assert ended.resident_bytes < MAX_RESIDENT_BYTES


def test_more_is_allowed_on_demand(gradcli: Run, tmp_path: Path) -> None:
    """What one flag refuses, the flag allows."""
    program = ["grad", "(ones(10**6)*x).sum()", "x=1", "-q", "--no-verify"]
    assert measured(tmp_path, *program, "--max-memory", "100MB").out == "1000000.0\n"
    loop = ["grad", "for i in range(300000): x = x*1", "x=1", "-q", "--no-verify"]
    refusal = gradcli(*loop, "--max-seconds", "0.1")
    assert refusal.status == 4
    assert gradcli(*loop, "--max-seconds", "600").out == "1.0\n"


def test_a_loop_of_many_steps_takes_half_a_kilobyte_each(tmp_path: Path) -> None:
    taken = []
    for steps in (1_000, 31_000):
        program = f"for i in range({steps}): x = sin(x)"
        words = [program, "x=0.5", "--no-verify", "--max-seconds", "600"]
        ended = measured(tmp_path, "grad", *words)
        assert ended.status == 0
        assert ended.out.count("\n") == steps + 5
        taken.append(ended.resident_bytes)
    assert taken[1] - taken[0] < 30_000 * 512


ENDLESS_FILES = ("z.csv", "z.json", "z.tsv", "z.npy", "z.npz", "z.txt")


@linux
@pytest.mark.parametrize("name", ENDLESS_FILES)
def test_a_file_that_never_ends_is_read_to_the_limit(tmp_path: Path, name: str) -> None:
    (tmp_path / name).symlink_to("/dev/zero")
    ended = measured(tmp_path, "grad", "x.sum()", f"x=@{name}", "--no-verify")
    assert ended.status == 4
    assert ended.err.startswith(("error[E515]", "error[E403]"))
    assert f"x=@{name}" in ended.err
    assert "--max-memory" in ended.err
    assert ended.resident_bytes < MAX_RESIDENT_BYTES


@linux
def test_a_pipe_that_never_ends_is_read_to_the_limit(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    command = ["sh", "-c", "exec cat /dev/zero > pipe.csv"]
    writer = subprocess.Popen(command, cwd=tmp_path)
    words = ["x.sum()", "x=@pipe.csv", "--max-memory", "120MB"]
    ended = measured(tmp_path, "grad", *words)
    writer.wait(GUARD_SECONDS)
    refused(ended, "E515", 4, "--max-memory")


@linux
@pytest.mark.parametrize("place", ["/dev/zero", "/dev/urandom"])
def test_a_program_that_never_ends_is_read_to_the_limit(
    tmp_path: Path, place: str
) -> None:
    refused(measured(tmp_path, "grad", "-f", place), "E515", 4, "--max-program")


@linux
def test_a_session_that_never_ends_a_line_is_read_to_the_limit(tmp_path: Path) -> None:
    ended = measured(tmp_path, "repl", place="/dev/zero")
    refused(ended, "E404", 4, "-f FILE")
    assert ended.resident_bytes < 200_000_000


@linux
@pytest.mark.nightly
def test_millions_of_rows_take_no_more_than_the_usual_memory(tmp_path: Path) -> None:
    rows = 5_000_000
    (tmp_path / "t.csv").write_text("x\n" + "1\n2\n3\n4\n5\n" * (rows // 5))
    words = ["x^2", "--table", "t.csv", "--out", "o.csv", "--no-verify"]
    ended = measured(tmp_path, "grad", *words)
    assert (ended.status, ended.err) == (0, "")
    assert ended.resident_bytes < 450_000_000
    with (tmp_path / "o.csv").open("rb") as file:
        assert sum(line.count(b"\n") for line in file) == rows + 1


def header(shape: str, descr: str = "<f8") -> bytes:
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def test_an_archive_is_not_unpacked_beyond_the_limit(tmp_path: Path) -> None:
    deflated = zipfile.ZIP_DEFLATED
    with (
        zipfile.ZipFile(tmp_path / "b.npz", "w", deflated) as archive,
        archive.open("a.npy", "w") as member,
    ):
        member.write(header("(25000000,)"))
        for _ in range(200):
            member.write(bytes(1_000_000))
    ended = measured(tmp_path, "grad", "x.sum()", "x=@b.npz", "--max-memory", "150MB")
    refused(ended, "E515", 4, "x=@b.npz", "--max-memory")


BAD_FILES: dict[str, tuple[bytes, str]] = {
    "deep.json": (b"[" * 100_000 + b"]" * 100_000, "E513"),
    "objects.json": (b'{"a":' * 100_000, "E513"),
    "utf16.csv": ("1,2".encode("utf-16"), "E513"),
    "nul.csv": (b"1,\0,2\n", "E517"),
    "ragged.csv": (b"1,2\n3\n", "E516"),
    "quote.csv": (b'1,"' + b"2" * 300_000, "E517"),
    "blank.csv": (b" " * 100_000, "E513"),
    "heading.csv": (b"a\n" * 3, "E517"),
    "text.json": (b'"' + b"x" * 1_000_000 + b'"', "E517"),
    "object.npy": (header("(2,)", "|O"), "E514"),
    "cut.npz": (b"PK\x03\x04" + bytes(50), "E513"),
    "truth.npy": (header("(True,)"), "E513"),
    "none.npy": (header("(0, 1000000000000000000000)"), "E513"),
    "dimensions.npy": (header(f"({'1,' * 70})"), "E513"),
    "negative.npy": (header("(-1,)"), "E513"),
    "fraction.npy": (header("(1.5,)"), "E513"),
    "brackets.npy": (header("(" * 300 + ")" * 300), "E513"),
    "petabytes.npy": (header("(1000000000000000,)"), "E515"),
    "less.npy": (header("(1000,)") + bytes(8), "E513"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_file_of_something_else_is_told_its_way_out(
    warm: Warm, tmp_path: Path, name: str
) -> None:
    data, code = BAD_FILES[name]
    (tmp_path / name).write_bytes(data)
    ended = warm("grad", "x.sum()", f"x=@{name}")
    refused(ended, code, 4 if code == "E515" else 3, f"x=@{name}")
    assert ended.err.rstrip().rpartition("^")[2].strip()


@linux
@pytest.mark.parametrize("kind", ["a loop of links", "a folder", "a socket", "memory"])
def test_what_is_no_file_is_told(gradcli: Run, tmp_path: Path, kind: str) -> None:
    import socket

    place = tmp_path / "it.csv"
    with socket.socket(socket.AF_UNIX) as made:
        if kind == "a loop of links":
            place.symlink_to(place)
        elif kind == "a folder":
            place.mkdir()
        elif kind == "a socket":
            os.chdir(tmp_path)
            made.bind("it.csv")
        else:
            place.symlink_to("/proc/self/mem")
        ended = gradcli("grad", "x.sum()", "x=@it.csv", "--no-verify")
    assert ended.status == 3
    assert ended.err.startswith("error[E512]: 'it.csv' ")


LONG_NAMES = {
    "a program's": (["-", "--no-verify"], "é" * 100_000),
    "an argument's": (["x", "a" * 100_000 + "=1"], ""),
}


@pytest.mark.parametrize("case", LONG_NAMES)
def test_a_name_is_refused_by_its_length(warm: Warm, case: str) -> None:
    args, program = LONG_NAMES[case]
    ended = warm("grad", *args, stdin=program.encode())
    refused(ended, "E404", 4, "a name of 100,000 characters", "1,000 characters at")
    assert len(ended.err) < 1000


@pytest.mark.parametrize(
    "args",
    [["--of", "a" * 100_000], ["--wrt", "a" * 100_000], ["--" + "a" * 100_000],
     ["-f", "a" * 100_000], ["y=@" + "a" * 100_000]],
)  # fmt: skip
def test_a_message_is_no_longer_than_can_be_read(warm: Warm, args: list[str]) -> None:
    program = ["x*y"] if "y=@" in args[0] else ["x"]
    ended = warm("grad", *program, "x=1", "--no-verify", *args)
    assert ended.status in (2, 3)
    assert len(ended.err) < 3000


HOSTILE_PROGRAMS = {
    "open brackets": "(" * 300_000,
    "empty lists": "[" * 100_000 + "x" + "]" * 100_000,
    "bars": "|" * 100_000 + "x",
    "an open string": "'" + "a" * 1_000_000,
    "a long comment": "#" * 1_900_000,
    "digits": "x*" + "9" * 1_000_000,
    "places": "x" + "[0]" * 50_000,
    "more text than memory": "x" + " + x" * 100_000,
}
MEMORY_OF = {"more text than memory": "150MB"}
"""What a text needs more of; others have as much as there is by itself."""


@linux
@pytest.mark.parametrize("case", HOSTILE_PROGRAMS)
def test_a_hostile_text_is_an_error_like_any_other(warm: Warm, case: str) -> None:
    text, memory = HOSTILE_PROGRAMS[case].encode(), MEMORY_OF.get(case, "450MB")
    ended = warm(
        "grad", "-", "x=1", "--no-verify", "--max-seconds", "600",
        "--max-memory", memory, stdin=text,
    )  # fmt: skip
    assert ended.status in (2, 3, 4)
    assert ended.err.startswith("error[E")
    assert len(ended.err) < 3000
    assert ended.resident_bytes < MAX_RESIDENT_BYTES


STEERING = "\u009b\u202e\u2028\u2066\u200f\x7f"


def test_json_escapes_what_could_steer_a_terminal(gradcli: Run) -> None:
    program = f"x**2 # é {STEERING}"
    ended = gradcli("grad", program, "x=3", "--json", "--no-verify")
    assert ended.out.rstrip("\n").isprintable()
    assert "é" in ended.out
    assert ended.json["program"] == program
    for form in ("--tree", "--dot", "--mermaid", "--json"):
        drawn = gradcli("graph", f"(x #{STEERING}\n**2)", "x=3", form).out
        assert drawn.replace("\n", "").isprintable()
    wrong = gradcli("grad", f"x** # {STEERING}", "x=3", "--json", "--no-verify")
    assert wrong.err.rstrip("\n").isprintable()


LIMITED = 'ulimit "$1" "$2"; shift 2; exec "$@"'


@linux
@pytest.mark.parametrize(
    ("kind", "kibibytes"),
    [("-v", 40_000), ("-v", 300_000), ("-d", 40_000), ("-d", 105_000)],
)
@pytest.mark.parametrize(
    ("program", "value"),
    [("(x@x).sum()", "x=ones(7000, 7000)"), ("while True: x = x + 1", "x=1")],
    ids=["a product", "a loop"],
)
def test_a_small_limit_of_the_users_own_is_no_memory(
    tmp_path: Path, kind: str, kibibytes: int, program: str, value: str
) -> None:
    command = [*COMMAND, "grad", program, value, "--no-verify"]
    done = subprocess.run(
        ["bash", "-c", LIMITED, "-", kind, str(kibibytes), *command],
        capture_output=True, text=True, cwd=tmp_path, env=environment(),
        timeout=GUARD_SECONDS, check=False,
    )  # fmt: skip
    assert done.stderr.startswith("error[E403]: "), done.stderr
    assert "Traceback" not in done.stderr
    assert (done.returncode, done.stdout) == (4, "")


REFUSED_OR_DONE = {
    "a constant condition of many rows": (
        ["grad", "where(2 > 0.1, x, 0.5)*x", "--sweep", "x=0..1:70000"], 0),
    "a shape of gigabytes": (
        ["grad", "sum(x)", "--draw", "--shape", "x=3000000000"], 4),
    "a shape of no size": (["grad", "sum(x)", "--draw", "--shape", f"x={10**40}"], 4),
    "a shape that is no number": (["value", "x", "--shape", "x=" + "9" * 4400], 2),
    "many dimensions": (["value", "x", "--draw", "--shape", "x=1" + ",1" * 40], 4),
    "a partial that nobody knows": (["graph", "igamma(x,y)", "x=1", "y=2"], 0),
    "a derivative that nobody knows": (["explain", "igamma(x,y)", "x=1", "y=2"], 3),
}  # fmt: skip
"""Command lines, and the status that each ends with."""


@pytest.mark.parametrize("case", REFUSED_OR_DONE)
def test_no_command_line_is_an_error_inside_gradcli(gradcli: Run, case: str) -> None:
    words, status = REFUSED_OR_DONE[case]
    ended = gradcli(*words)
    assert ended.status == status
    assert "E599" not in ended.err


def test_a_header_of_many_columns_is_read(gradcli: Run, tmp_path: Path) -> None:
    names = [f"c{n}" for n in range(50_000)]
    lines = ",".join(names), ",".join("2" for _ in names)
    (tmp_path / "wide.csv").write_text("\n".join(lines) + "\n")
    ended = gradcli("grad", "c7*c49999", "--table", "wide.csv")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.splitlines()[1] == "2,2,4,2,2"
