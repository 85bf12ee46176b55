"""Locks that no fork leaves held.

A fork copies a lock as it is at that moment; one that another thread holds would be
held in the child for ever. A fork waits for these, so that the child has them free, and
what they guard whole.

    lock = forkable()
    with lock:
        ...
"""

import os
from threading import RLock
from typing import Any


def forkable() -> Any:
    """Return a lock that a thread may take again while it holds it, and that is free in
    a forked process; locks made later are taken first by a fork."""
    lock = RLock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=lock.acquire,
            after_in_parent=lock.release,
            after_in_child=lock.release,
        )
    return lock
