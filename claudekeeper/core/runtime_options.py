"""Staying small: a daemon idles for months after one busy minute."""

from __future__ import annotations

import ctypes
import gc
import sys
from functools import cache

# glibc's names for what can be set
_ARENA_MAX = -8
_MMAP_THRESHOLD = -3

LARGE_ALLOCATION = 128 * 1024


def tune_malloc() -> None:
    """Before any thread: one pool for all of them, and large pieces returned when they are freed.

    By default each thread that reads files keeps a pool of its own, and the first large piece that
    is freed raises the size from which pieces are returned.
    """
    libc = _libc()
    if libc is not None:
        libc.mallopt(_ARENA_MAX, 1)
        libc.mallopt(_MMAP_THRESHOLD, LARGE_ALLOCATION)


def release_memory() -> None:
    """Hand freed memory back to the system."""
    gc.collect()
    libc = _libc()
    if libc is not None:
        libc.malloc_trim(0)


@cache
def _libc() -> ctypes.CDLL | None:
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)
    # other C libraries than glibc do without these
    return libc if hasattr(libc, "malloc_trim") and hasattr(libc, "mallopt") else None
