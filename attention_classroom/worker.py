"""Run one answer in a process of its own, which knows no reference and gives nothing but numbers back.

`python -P -m attention_classroom.worker FD SECONDS` loads PyTorch once, closes itself in (`sandbox`), and then forks
for each answer: first a guard, which ends the answer where the grader waits no more, then the answer itself, which
makes its own folder and gives up its rights before it reads what to run. Notebooks are read in such a process, too.
"""

import contextlib
import math
import os
import resource
import select
import shutil
import signal
import socket
import sys
import tempfile
from pathlib import Path

import torch

import attention_course
import attention_course.exercises.judging.drawing  # noqa: F401  (loaded once, before the forks)
from attention_classroom import sandbox
from attention_classroom.answering import answer
from attention_classroom.protocol import receive, send
from attention_classroom.submission import as_message, read_text
from attention_classroom.system_calls import refuse_calls

MEMORY = 2 * 2**30
FILE = 2**20
NOTEBOOK = 64 * 2**20  # bytes of a message with one


def main(control: socket.socket, seconds: float) -> None:
    """Fork for each channel that comes in, until the grader goes."""
    # What PyTorch finds out about the processor, it reads in files that are soon out of sight.
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        (torch.eye(8, dtype=dtype) @ torch.eye(8, dtype=dtype)).softmax(0)
    memory = _memory_used() + MEMORY
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    attention_course.exercises.__path__ = []  # the references are not there, whatever the system can hide
    package = Path(attention_course.__file__).parent
    closed_in = sandbox.close_in(package, [package / "exercises"])
    os.environ.clear()
    os.environ.update(HOME=sandbox.FOLDER, TMPDIR=sandbox.FOLDER, USER="answer", OMP_NUM_THREADS="1", LANG="C.UTF-8")
    control.sendall(b".")
    while True:
        message, channels, _, _ = socket.recv_fds(control, 1, 1)
        if not message:
            return
        if (guard := os.fork()) == 0:
            control.close()
            _guard(socket.socket(fileno=channels[0]), seconds, memory, closed_in)
        os.close(channels[0])
        os.waitpid(guard, 0)  # so that there is one answer at a time


def _guard(channel, seconds, memory, closed_in):
    """Start the answer, and end it as soon as the grader has closed the channel, with all that it started."""
    number, apart = os.getppid(), sandbox.part()
    folder = None if closed_in else tempfile.mkdtemp()
    try:
        started = os.fork()
        if started == 0:
            try:
                os.setsid()
                lacks = _confine(folder, seconds, memory, number, apart)
                send(channel, {"lacks": lacks})
                _reply(channel)
            finally:
                os._exit(0)
        closed = select.poll()
        closed.register(channel, 0)
        while not closed.poll(2) and os.waitpid(started, os.WNOHANG) == (0, 0):
            pass
        with contextlib.suppress(ProcessLookupError, PermissionError):  # nobody is left
            os.killpg(started, signal.SIGKILL)
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)
        os._exit(0)


def _confine(folder, seconds, memory, number, apart):
    """Take from this process what is not its own; returns the promises that do not hold here."""
    lacks = set()
    if folder:
        os.environ.update(HOME=folder, TMPDIR=folder)
        os.chdir(folder)
        lacks |= {"files", "processes"}  # other processes stand in /proc
    else:
        sandbox.settle(number)
    tempfile.tempdir = os.getcwd()
    limits = {"CPU": math.ceil(seconds), "FSIZE": FILE, "CORE": 0, "NOFILE": 256, "NPROC": 64}
    if sys.platform == "linux":
        sandbox.give_up_rights()
        limits["AS"] = memory
    else:
        lacks.add("memory")
    for name, most in limits.items():
        with contextlib.suppress(ValueError, OSError):  # it may be less already
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))
    if not apart:
        lacks.add("processes")
    if not refuse_calls():
        lacks |= {"processes", "sockets"}  # a key of the kernel's stays for the next
    return sorted(lacks)


def _memory_used():
    if sys.platform != "linux":
        return 0
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def _reply(channel):
    request = receive(channel, NOTEBOOK)
    if "notebook" in request:
        send(channel, as_message(read_text(request["notebook"], request["exercises"])))
    else:
        answer(channel, request)


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])), float(sys.argv[2]))
