"""What Linux keeps from an answer, without the rights of an administrator: files, processes, and what all share.

`close_in` is for the process that forks for each answer: it sees the folders of Python and of the package, read-only,
and nothing else of the machine. `part`, `settle` and `give_up_rights` are for each answer: no process but its own, and
a small empty folder. For whoever is root it is the same, and each answer then runs as a user who owns nothing.
"""

import contextlib
import ctypes
import os
import site
import struct
import sys
import sysconfig
from pathlib import Path

USER, MOUNTS, IPC, PROCESSES, NETWORK = 0x10000000, 0x20000, 0x08000000, 0x20000000, 0x40000000  # of unshare
READ_ONLY, NO_SUID, NO_DEVICES, BIND, WITH_ALL_BELOW, PRIVATE = 1, 2, 4, 4096, 0x4000, 0x40000  # of mount
DETACH = 2  # of umount2
MOUNT_SETATTR = 442  # the same on every processor; Linux 5.12
BELOW_TOO, SET_READ_ONLY = 0x8000, 1
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
EMPTY = "/proc"  # a folder that every Linux has and where nothing lies that is shown: the new root is made there
FOLDER = "/answer"  # its own
ROOM = "size=10m,nr_inodes=1000,mode=1777"
SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64")
FILES = ("/etc/ld.so.cache", "/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
NOBODIES = 60_000, 5_000  # users that own nothing: from which on, and how many
CAPABILITIES_3 = 0x20080522

# What an answer is promised to be kept from, for the page of the class.
PROMISES = {
    "files": "An answer sees no files but those of Python and its libraries, and writes only into its own folder.",
    "processes": "An answer reaches no other process, and leaves nothing behind for the next.",
    "sockets": "An answer opens no socket, and starts no process.",
    "memory": "An answer has at most 2 GB of memory.",
}


def close_in(package: Path, hidden: list[Path]) -> bool:
    """This process and its children see Python, its libraries and a package without what is hidden, all read-only.

    They have no network either. Says whether the system did it; where it did not, they go on with what it did.
    """
    if sys.platform != "linux" or os.uname().machine not in PIVOT_ROOT:
        return False
    uid, gid = os.getuid(), os.getgid()
    try:
        try:
            _unshare(MOUNTS | NETWORK)  # as root
        except OSError:
            _unshare(USER | MOUNTS | NETWORK)
            for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
                Path("/proc/self", name).write_text(text)
        _mount(None, "/", None, WITH_ALL_BELOW | PRIVATE)
        _show(package, hidden)
    except OSError:
        return False
    return True


def _show(package, hidden):
    _mount("none", EMPTY, "tmpfs", NO_SUID | NO_DEVICES, "size=1m,mode=755")
    for path in _needed(package):
        below = EMPTY + path
        if os.path.islink(path) and path in SYSTEM:
            os.symlink(os.readlink(path), below)
        elif os.path.isdir(path):
            os.makedirs(below, exist_ok=True)
            _mount(path, below, None, BIND | WITH_ALL_BELOW)
        elif os.path.exists(path):
            os.makedirs(os.path.dirname(below), exist_ok=True)
            Path(below).touch()
            _mount(path, below, None, BIND)
    for path in hidden:
        _mount("none", f"{EMPTY}{path}", "tmpfs", READ_ONLY)
    os.makedirs(EMPTY + FOLDER, exist_ok=True)
    read_only = struct.pack("QQQQ", SET_READ_ONLY, 0, 0, 0)
    _call(_libc().syscall(MOUNT_SETATTR, -100, EMPTY.encode(), BELOW_TOO, read_only, ctypes.c_size_t(32)))
    os.chdir(EMPTY)
    _call(_libc().syscall(PIVOT_ROOT[os.uname().machine], b".", b"."))
    _call(_libc().umount2(b".", DETACH))
    os.chdir("/")


def _needed(package):
    """Folders and files, each once and none below another."""
    paths = sysconfig.get_paths()
    libraries = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    libraries += [f"{sys.base_prefix}/lib", *site.getsitepackages(), site.getusersitepackages(), str(package)]
    libraries += [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages", "lib-dynload")]
    found = []
    for path in (*SYSTEM, *sorted({os.path.abspath(path) for path in libraries}), *FILES):
        if os.path.exists(path) and not any(Path(path).is_relative_to(one) for one in found):
            found.append(path)
    return found


def part() -> bool:
    """The next child of this process is the first of its own processes, with mounts and shared memory of its own."""
    try:
        _unshare(MOUNTS | IPC | PROCESSES)
    except OSError:
        return False
    return True


def settle(number: int) -> None:
    """Make the answer's folder; root becomes one of some users that own nothing."""
    _mount("none", FOLDER, "tmpfs", NO_SUID | NO_DEVICES, ROOM)
    os.chdir(FOLDER)
    if os.geteuid() == 0:
        somebody = NOBODIES[0] + number % NOBODIES[1]
        with contextlib.suppress(OSError):  # where root itself is not the machine's there may be no such user
            os.setgroups([])
            os.setresgid(*[somebody] * 3)
            os.setresuid(*[somebody] * 3)


def give_up_rights() -> None:
    """Those of an administrator, one of which is to raise limits."""
    _call(_libc().capset(struct.pack("Ii", CAPABILITIES_3, 0), bytes(24)))


def _unshare(flags):
    _call(_libc().unshare(flags))


def _mount(source, target, kind, flags, data=None):
    given = (one and one.encode() for one in (source, target, kind))
    _call(_libc().mount(*given, ctypes.c_ulong(flags), data and data.encode()))


def _call(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _libc():
    return ctypes.CDLL(None, use_errno=True)
