"""Which system calls an answer may not make: a filter (seccomp) that the kernel asks before each of them.

It opens no socket and starts no process or program, so that one process is all there is to limit and to end; it
reaches no other process, and keeps nothing in memory that outlives it. Threads may be started.
"""

import ctypes
import os
import struct

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # instructions of the filter
NUMBER, PROCESSOR, FIRST = 0, 4, 16  # where the call's number, the processor and the first argument stand
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
NO_PERMISSION, NO_SUCH_CALL = 1, 38
THREAD, UNIX, OWN = 0x10000, 1, 0  # of clone, of socketpair, and of prlimit64
NO_NEW_PRIVILEGES, SET_FILTER, FILTER_MODE = 38, 22, 2  # of prctl
OTHER_NUMBERS = 0x40000000  # from here on x86-64 has each call once more
PROCESSORS = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}

# By name: the number on x86-64 and on aarch64. Newer calls have one number everywhere.
REFUSED = {
    "socket": (41, 198), "io_uring_setup": (425, 425),
    "fork": (57, None), "vfork": (58, None), "execve": (59, 221), "execveat": (322, 281),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "kill": (62, 129), "tkill": (200, 130), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
    "pidfd_send_signal": (424, 424), "pidfd_open": (434, 434), "pidfd_getfd": (438, 438),
    "process_madvise": (440, 440), "setpriority": (141, 140),
    "shmget": (29, 194), "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180),
    "memfd_create": (319, 279), "memfd_secret": (447, 447),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41),
    "chroot": (161, 51), "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsmount": (432, 432), "mount_setattr": (442, 442), "open_by_handle_at": (304, 265),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "fanotify_init": (300, 262),
}  # fmt: skip
NOT_THERE = {"clone3": (435, 435)}  # its arguments cannot be looked at; the C library then takes clone
ONLY_WITH = {  # the first argument is this, or has this bit
    "clone": ((56, 220), ANY_BIT, THREAD),
    "socketpair": ((53, 199), EQUAL, UNIX),  # of a pair's ends none has a name; asyncio wakes itself by one
    "prlimit64": ((302, 261), EQUAL, OWN),
    "tgkill": ((234, 131), EQUAL, None),  # to itself, as abort() does
}


def refuse_calls() -> bool:
    """From here on this process makes none of these calls; says whether the system sees to that."""
    processor = PROCESSORS.get(os.uname().machine) if os.uname().sysname == "Linux" else None
    if processor is None:
        return False
    libc, program = ctypes.CDLL(None), _program(*processor)
    held = ctypes.create_string_buffer(program)
    pointer = ctypes.create_string_buffer(struct.pack("H6xQ", len(program) // 8, ctypes.addressof(held)))
    if libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        return False
    return libc.prctl(SET_FILTER, FILTER_MODE, ctypes.c_void_p(ctypes.addressof(pointer)), 0, 0) == 0


def _program(column, processor):
    no = REFUSE | NO_PERMISSION
    steps = [(LOAD, 0, 0, PROCESSOR), (EQUAL, 1, 0, processor), (RETURN, 0, 0, no)]
    steps += [(LOAD, 0, 0, NUMBER), (AT_LEAST, 0, 1, OTHER_NUMBERS), (RETURN, 0, 0, no)]
    for calls, answer in ((REFUSED, no), (NOT_THERE, REFUSE | NO_SUCH_CALL)):
        for numbers in calls.values():
            if numbers[column] is not None:
                steps += [(EQUAL, 0, 1, numbers[column]), (RETURN, 0, 0, answer)]
    for numbers, test, value in ONLY_WITH.values():
        value = os.getpid() if value is None else value
        steps += [(EQUAL, 0, 4, numbers[column]), (LOAD, 0, 0, FIRST), (test, 0, 1, value)]
        steps += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, no)]
    return b"".join(struct.pack("HBBI", *step) for step in [*steps, (RETURN, 0, 0, ALLOW)])
