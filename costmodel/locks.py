"""Locks that a forked child gets anew: whichever thread held one does not live there."""

from __future__ import annotations

import os
from threading import RLock
from weakref import WeakSet


class Lock:
    """A re-entrant lock, as a context manager."""

    __slots__ = ("__weakref__", "_lock")

    def __init__(self) -> None:
        self._lock = RLock()
        _all.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()


_all: WeakSet[Lock] = WeakSet()


def _renew() -> None:
    for lock in list(_all):
        lock._lock = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
