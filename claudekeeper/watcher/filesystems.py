"""Which file system a folder lies on, and whether it reports changes by other machines."""

from __future__ import annotations

import os

MOUNTINFO = "/proc/self/mountinfo"
# other machines can write there, and the kernel does not report it
NETWORK_FILESYSTEMS = (
    "nfs",
    "cifs",
    "smb",
    "9p",
    "fuse.",
    "afs",
    "ceph",
    "glusterfs",
    "virtiofs",
    "lustre",
)


def network_filesystem(folder: str, mounts: str = MOUNTINFO) -> str | None:
    """The kind of file system, where it is one that other machines write to; else None."""
    path = os.path.realpath(folder)
    best, kind = "", ""
    for point, kind_here in _read_mounts(mounts):
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        # of two at the same mount point the later one covers the earlier
        if inside and len(point) >= len(best):
            best, kind = point, kind_here
    return kind if kind.startswith(NETWORK_FILESYSTEMS) else None


def _read_mounts(mounts: str) -> list[tuple[str, str]]:
    try:
        with open(mounts, encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().splitlines()
    except OSError:
        return []
    mounted: list[tuple[str, str]] = []
    for line in lines:
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        if len(fields) > 4 and after:
            # spaces and the like are written as octal numbers
            point = fields[4].encode("utf-8", "surrogateescape").decode("unicode_escape")
            mounted.append(
                (point.encode("latin-1", "replace").decode("utf-8", "replace"), after.split(" ")[0])
            )
    return mounted
