"""`python as_nobody.py plain|contained FOLDER COMMAND…`: run a command as a user without rights.

By root it is run as a user whom FOLDER is given. What the command needs may lie in folders that only root may enter:
over each of these lies, for this command alone, a folder in which nothing but that is to be seen. Contained, it may
make no namespaces, as in most containers.
"""

import contextlib
import ctypes
import os
import sys
from pathlib import Path

NOBODY, USER, MOUNTS, PRIVATE, BIND = 65534, 0x10000000, 0x20000, 0x44000, 0x5000
DUMPABLE = 4
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


def become_nobody(folder):
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    open_to_all({Path(one).absolute() for one in (folder, sys.base_prefix, sys.prefix, ROOT)})
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def contain():
    uid, gid, libc = os.getuid(), os.getgid(), ctypes.CDLL(None)
    assert libc.prctl(DUMPABLE, 1, 0, 0, 0) == libc.unshare(USER) == 0  # so that its files in /proc are its own
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        Path("/proc/self", name).write_text(text)
    with contextlib.suppress(PermissionError):  # where a namespace brings no rights it could make no others anyway
        Path("/proc/sys/user/max_user_namespaces").write_text("0")  # in the one that this command is in


if __name__ == "__main__":
    kind, folder, *command = sys.argv[1:]
    if os.getuid() == 0:
        become_nobody(Path(folder))
    if kind == "contained":
        contain()
    os.execv(command[0], command)  # which gives up all rights
