"""`python as_nobody.py FOLDER COMMAND…`, run by root: run a command as a user without rights, whom FOLDER is given.

What the command needs may lie in folders that only root may enter. Over each of these lies, for this command alone, a
folder in which nothing but that is to be seen.
"""

import ctypes
import os
import sys
from pathlib import Path

NOBODY, MOUNTS, PRIVATE, BIND = 65534, 0x20000, 0x44000, 0x5000
ROOT = Path(__file__).parents[2]


def open_to_all(paths):
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.unshare(MOUNTS) == libc.mount(None, b"/", None, ctypes.c_ulong(PRIVATE), None) == 0
    closed = {path: [one for one in path.parents if not one.stat().st_mode & 1][-1:] for path in paths}
    held = {path: os.open(path, os.O_PATH) for path in paths if closed[path]}
    for folder in {folder for folders in closed.values() for folder in folders}:
        assert libc.mount(b"none", bytes(folder), b"tmpfs", ctypes.c_ulong(0), b"mode=755") == 0
    for path, descriptor in held.items():
        path.mkdir(parents=True)
        assert libc.mount(f"/proc/self/fd/{descriptor}".encode(), bytes(path), None, ctypes.c_ulong(BIND), None) == 0


if __name__ == "__main__":
    folder, *command = sys.argv[1:]
    for path in [Path(folder), *Path(folder).rglob("*")]:
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    open_to_all({Path(one).absolute() for one in (folder, sys.base_prefix, sys.prefix, ROOT)})
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    os.execv(command[0], command)
