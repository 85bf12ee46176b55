"""The hooks for commits and the action for workflows, run as their hosts run them.

A hook's entry gets the staged files that its pattern fits, as pre-commit gives them to
it; the action's steps run in a shell with the files of its inputs.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.processes import HANGS, ROOT

from .conftest import environment

yaml = pytest.importorskip("yaml")

HOOKS = {
    h["id"]: h for h in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
}
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
RELEASE = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())

RIGHT = "# claim: dL/dw = 2*x*(w*x - y)\nL = (w*x - y)^2\n"
WRONG = "# claim: dL/dw = 2*(w*x - y)\nL = (w*x - y)^2\n"

FUNCTION = """\
from torch.autograd import Function


class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return {slope}
"""

TYPES = {"python": r"\.py$"}
"""Patterns of the types of files that hooks name."""


def wishes(folder: Path) -> dict[str, str]:
    """The environment of a shell in which ``gradcli`` is a command."""
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    command = programs / "gradcli"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m gradcli "$@"\n')
    command.chmod(0o755)
    named = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    return environment(PATH=f"{programs}:{os.environ['PATH']}", **named)


class Repository:
    """A git repository whose commits a hook has to allow."""

    def __init__(self, folder: Path, hook: str) -> None:
        self.folder, self.wishes = folder / "repository", wishes(folder)
        self.folder.mkdir()
        self.git("init", "-q", ".")
        self.git("config", "user.name", "A committer")
        self.git("config", "user.email", "committer@example.org")
        told = HOOKS[hook]
        pattern = told.get("files") or "|".join(TYPES[t] for t in told["types"])
        script = self.folder / ".git" / "hooks" / "pre-commit"
        staged = "git diff --cached --name-only --diff-filter=ACMR"
        script.write_text(
            f"#!/bin/sh\n{staged} | grep -E {shlex.quote(pattern)} > .git/staged\n"
            f"[ ! -s .git/staged ] || {shlex.join(shlex.split(told['entry']))}"
            " $(cat .git/staged)\n"
        )
        script.chmod(0o755)

    def git(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["git", *words], cwd=self.folder, env=self.wishes, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=HANGS,
            check=False,
        )  # fmt: skip

    def commit(self, **texts: str) -> tuple[int, str]:
        for name, text in texts.items():
            (self.folder / name.replace("_", ".")).write_text(text)
        self.git("add", "-A")
        done = self.git("commit", "-qm", "A change")
        return done.returncode, done.stdout


def test_a_wrong_claim_stops_a_commit(tmp_path: Path) -> None:
    repository = Repository(tmp_path, "gradcli-check")
    assert (
        repository.commit(right_grad=RIGHT, notes_txt="none", free_grad="x^2")[0] == 0
    )
    status, said = repository.commit(wrong_grad=WRONG, right_grad=RIGHT + "\n")
    assert status != 0
    assert "wrong.grad\ndL/dw = 2*(w*x - y)  refuted" in said
    assert "u' is missing: multiply by x" in said
    assert "right.grad\ndL/dw = 2*x*(w*x - y)  proved" in said
    assert repository.git("log", "--oneline").stdout.count("\n") == 1
    assert repository.commit(wrong_grad=RIGHT)[0] == 0


def test_a_wrong_function_stops_a_commit(tmp_path: Path) -> None:
    repository = Repository(tmp_path, "gradcli-verify")
    right, wrong = FUNCTION.format(slope="2 * x * g"), FUNCTION.format(slope="x * g")
    other = "raise SystemExit('a file without Functions is not executed')\n"
    assert repository.commit(right_py=right, other_py=other)[0] == 0
    status, said = repository.commit(wrong_py=wrong)
    assert status != 0
    assert "wrong.py" in said
    assert "refuted" in said
    assert repository.git("log", "--oneline").stdout.count("\n") == 1
    assert repository.commit(wrong_py=right)[0] == 0


def ran(step: dict[str, Any], folder: Path, **variables: str) -> tuple[int, str]:
    """The status and the text of a step of a workflow."""
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder, env={**wishes(folder), **variables}, text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=HANGS,
    )  # fmt: skip
    return done.returncode, done.stdout


def test_the_steps_of_the_action_fail_on_what_is_wrong(tmp_path: Path) -> None:
    install, check, verify = ACTION["runs"]["steps"]
    assert "$GITHUB_ACTION_PATH" in install["run"]
    for step, name in ((check, "check"), (verify, "verify")):
        assert name in ACTION["inputs"]
        assert step["env"]["FILES"] == f"${{{{ inputs.{name} }}}}"
        assert step["if"] == f"inputs.{name} != ''"
    (tmp_path / "right.grad").write_text(RIGHT)
    (tmp_path / "right.py").write_text(FUNCTION.format(slope="2 * x * g"))
    assert ran(check, tmp_path, FILES="*.grad")[0] == 0
    assert ran(verify, tmp_path, FILES="right.py")[0] == 0
    (tmp_path / "wrong.grad").write_text(WRONG)
    (tmp_path / "wrong.py").write_text(FUNCTION.format(slope="x * g"))
    status, said = ran(check, tmp_path, FILES="*.grad")
    assert status == 1
    assert "u' is missing" in said
    assert "right.grad" in said
    status, said = ran(verify, tmp_path, FILES="right.py wrong.py")
    assert status == 1
    assert "refuted" in said


def test_a_tag_that_is_not_the_version_is_not_released(tmp_path: Path) -> None:
    steps = RELEASE["jobs"]["build"]["steps"]
    (step,) = (s for s in steps if "GITHUB_REF_NAME" in s.get("run", ""))
    text = (ROOT / "pyproject.toml").read_text()
    (tmp_path / "pyproject.toml").write_text(text)
    found = re.search(r'^version = "(.*)"$', text, re.M)
    assert found is not None
    assert ran(step, tmp_path, GITHUB_REF_NAME=f"v{found[1]}")[0] == 0
    assert ran(step, tmp_path, GITHUB_REF_NAME=f"v{found[1]}.1")[0] != 0
    # PyPI trusts the workflow: no secret is named.
    whole = (ROOT / ".github/workflows/release.yml").read_text()
    assert RELEASE["jobs"]["publish"]["permissions"] == {"id-token": "write"}
    assert "secrets" not in whole
    assert "password" not in whole.partition("\nname:")[2]
