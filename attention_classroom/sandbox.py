"""What Linux keeps from an answer: the network, other processes, and files that are not its own.

Each function says whether the system did it. None needs the rights of an administrator.
"""

import ctypes
import os
import struct

NEW_USER, NEW_PROCESSES, NEW_NETWORK = 0x10000000, 0x20000000, 0x40000000  # of unshare
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # Landlock's system calls, the same on every processor
ASK_VERSION, BENEATH, NO_NEW_PRIVILEGES = 1, 1, 38
WRITE, REMOVE_AND_MAKE, TRUNCATE = 1 << 1, 0b1_1111_1111 << 4, 1 << 14  # its rights that change files
SIGNALS = 1 << 1  # its scope
TRUNCATES_SINCE, SIGNALS_SINCE = 3, 6  # its versions


def leave_the_others() -> bool:
    """The children of this process will have no network and see no process but their own."""
    unshare = getattr(ctypes.CDLL(None), "unshare", None)
    flags = NEW_PROCESSES | NEW_NETWORK
    return unshare is not None and (unshare(flags | NEW_USER) == 0 or unshare(flags) == 0)


def landlock_version() -> int:
    """Of the kernel's Landlock; 0 where there is none."""
    if os.uname().sysname != "Linux":
        return 0
    return max(0, ctypes.CDLL(None).syscall(CREATE_RULESET, None, 0, ASK_VERSION))


def write_nowhere_but(folder: str) -> bool:
    """This process and its children change no file outside a folder, and touch no process that is free to.

    They cannot read another process's memory either, nor trace it, nor, from version 6 on, send it signals.
    """
    version = landlock_version()
    if not version:
        return False
    libc = ctypes.CDLL(None)
    writing = WRITE | (TRUNCATE if version >= TRUNCATES_SINCE else 0)
    rights = writing | REMOVE_AND_MAKE
    handled = struct.pack("QQQ", rights, 0, SIGNALS) if version >= SIGNALS_SINCE else struct.pack("Q", rights)
    rules = libc.syscall(CREATE_RULESET, handled, ctypes.c_size_t(len(handled)), 0)
    added = [_allow(rules, path, right) for path, right in ((folder, rights), (os.devnull, writing))]
    restricted = libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0 and libc.syscall(RESTRICT_SELF, rules, 0) == 0
    os.close(rules)
    return all(added) and restricted


def _allow(rules, path, rights):
    place = os.open(path, os.O_PATH)
    done = ctypes.CDLL(None).syscall(ADD_RULE, rules, BENEATH, struct.pack("=Qi", rights, place), 0) == 0
    os.close(place)
    return done
