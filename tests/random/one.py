"""One random program in both libraries: ``python -m tests.random.one SEED``."""

from __future__ import annotations

import argparse

from tests.random.trial import drawn, look_at


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seed", type=int)
    seed = parser.parse_args().seed
    print(drawn(seed).command)
    found = look_at(seed)
    if found is None:
        print("the same in both")
        return
    print(f"\n{found.reason or 'differs'}: {found.difference}")
    print(f"\n{found.program.command}")


if __name__ == "__main__":
    main()
