"""Record what the installed PyTorch does with every case of every row and function.

python -m tests.laws.record               # write all records anew
python -m tests.laws.record forward dtypes
python -m tests.laws.record --check       # exit 1 if anything would change
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings

from . import dtypes, forward, passes
from .recorded import Records

KINDS = {
    module.__name__.rpartition(".")[2]: module for module in (forward, passes, dtypes)
}
"""Modules whose ``recorded`` says what PyTorch does with each of their ``trials``."""


def main() -> int:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kinds", nargs="*", help=f"some of {', '.join(KINDS)}")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    given = parser.parse_args()
    kinds = given.kinds or KINDS
    changed = [kind for kind in kinds if is_changed(kind, not given.check)]
    return 1 if given.check and changed else 0


def is_changed(kind: str, write: bool) -> bool:
    """Compare a record with what PyTorch does now, write it anew if ``write``, and
    return whether they differ."""
    module = KINDS[kind]
    was = Records(kind)
    same = getattr(module, "same", lambda at, seen, held: repr(seen) == repr(held))
    lines, changed = [], sorted(set(was) - {t.ident for t in module.trials()})
    for trial in module.trials():
        at, held = trial.ident, was.get(trial.ident)
        seen = json.loads(json.dumps(module.recorded(trial)))
        alike = seen is held if None in (seen, held) else same(at, seen, held)
        if at in was and alike:
            seen = held
        else:
            changed.append(at)
        lines.append(json.dumps({"at": at, "seen": seen}))
    print(f"{kind}: {len(changed)} of {len(lines)} changed {' '.join(changed[:20])}")
    if write:
        was.path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return bool(changed)


if __name__ == "__main__":
    sys.exit(main())
