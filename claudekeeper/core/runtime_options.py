"""Settings of malloc that keep the memory of a long-running daemon small."""

from __future__ import annotations

import ctypes
import gc
import sys
from functools import cache

# parameters of glibc's mallopt
_ARENA_MAX = -8
_MMAP_THRESHOLD = -3

LARGE_ALLOCATION = 128 * 1024


def tune_malloc() -> None:
    """One memory pool for all threads, and large blocks go back to the system when freed.

    Called before any thread starts. By default each thread has a pool of its own, and the first
    large block that is freed raises the size from which blocks go back.
    """
    libc = _libc()
    if libc is not None:
        libc.mallopt(_ARENA_MAX, 1)
        libc.mallopt(_MMAP_THRESHOLD, LARGE_ALLOCATION)


def release_memory() -> None:
    """Returns freed memory to the system."""
    gc.collect()
    libc = _libc()
    if libc is not None:
        libc.malloc_trim(0)


@cache
def _libc() -> ctypes.CDLL | None:
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)
    # C libraries other than glibc do not have these
    return libc if hasattr(libc, "malloc_trim") and hasattr(libc, "mallopt") else None
