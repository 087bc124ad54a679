"""Run one answer in a process of its own, which knows no reference and gives nothing but numbers back.

`python -m attention_classroom.worker FD SECONDS` loads PyTorch once and then forks for each answer: first a guard,
which ends the answer when its time is over, then the answer itself. Where the system allows it, the answer has no
network, reaches no process but its own, and writes nowhere but into its folder, which is empty (`sandbox`). It has two
gigabytes, and nowhere to print to.

It is no prison: an answer can read what its user can read. Against that a container helps, such as
`docker run --rm --network none --read-only --tmpfs /tmp -v …`.
"""

import ast
import asyncio
import builtins
import contextlib
import importlib.abc
import linecache
import math
import os
import resource
import shutil
import signal
import socket
import sys
import tempfile
import time

import torch

import attention_course  # noqa: F401  (loaded once, before the forks)
from attention_classroom.protocol import decode, encode, receive, send
from attention_classroom.sandbox import landlock_version, leave_the_others, write_nowhere_but
from attention_course.exercises.judging.gradients import gradients_of
from attention_course.exercises.judging.running import NoNumbers, run

MEMORY = 2 * 2**30
FILE = 2**20
# Modules of the exercises that hold no answers.
OPEN = {"judging", "judging.checking", "judging.drawing", "judging.gradients", "judging.running"}


def main(control: socket.socket, seconds: float) -> None:
    """Fork for each channel that comes in, until the grader goes."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        message, channels, _, _ = socket.recv_fds(control, 1, 1)
        if not message:
            return
        if os.fork() == 0:
            control.close()
            _guard(socket.socket(fileno=channels[0]), seconds)
        os.close(channels[0])


def _guard(channel, seconds):
    """Start the answer, and end it in time, with all that it started."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    folder = tempfile.mkdtemp()
    try:
        send(channel, {"alone": leave_the_others() and landlock_version() > 0})
        answer = os.fork()
        if answer == 0:
            try:
                os.setsid()
                _limit(folder, seconds)
                _answer(channel)
            finally:
                os._exit(0)
        channel.close()
        end = time.monotonic() + seconds
        while time.monotonic() < end and os.waitpid(answer, os.WNOHANG) == (0, 0):
            time.sleep(0.005)
        with contextlib.suppress(ProcessLookupError, PermissionError):  # nobody is left
            os.killpg(answer, signal.SIGKILL)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(0)


def _limit(folder, seconds):
    os.chdir(folder)
    tempfile.tempdir = folder  # some PyTorch makes a folder for temporary files at its first `vmap`
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds),) * 2)
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE, FILE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    write_nowhere_but(folder)
    sys.meta_path.insert(0, _Refused())


class _Refused(importlib.abc.MetaPathFinder):
    """No module that holds references, and none of the grader's."""

    def find_spec(self, name, path, target=None):
        package, _, rest = name.partition(".")
        room, _, module = rest.partition(".")
        of_references = package == "attention_course" and room == "exercises" and module and module not in OPEN
        if of_references or package == "attention_classroom" or room == "classroom":
            raise ImportError(f"{name} is not there for answers")


def _answer(channel):
    """Run the statements and the answer that came, and send what it returned."""
    request = receive(channel)
    link = _Link(channel)
    names, failure = {"__name__": "__main__", "__builtins__": builtins}, None
    for number, source in enumerate(request["statements"]):
        try:
            waiting = eval(_compiled(source, f"<statement {number}>", "exec"), names)
            if asyncio.iscoroutine(waiting):
                asyncio.run(waiting)
        except (Exception, SystemExit) as error:
            failure = failure or repr(error)
    try:
        answer = eval(_compiled(request["answer"], "<answer>", "eval"), names)
    except (Exception, SystemExit) as error:
        send(channel, {"failure": failure or repr(error)})
        return
    reply = {"failure": failure, "callable": callable(answer), "gradients": None}
    # Objects of the grader may keep a state, so that gradients are taken with fresh ones.
    first, second = (decode(inputs, link.find) for inputs in (request["inputs"], request["again"]))
    got = run(answer if callable(answer) else lambda *arguments: answer, first, kept=request["kept"])
    reply["outcomes"] = encode(got, link.refuse)
    if request["differentiable"] and callable(answer) and not any(isinstance(one, NoNumbers) for one in got):
        reply["gradients"] = encode(gradients_of(answer, second), link.refuse)
    send(channel, reply | {"limit": link.limit})


def _compiled(source, name, mode):
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    return compile(source, name, mode, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)  # as notebooks do


class _Link:
    """What the grader holds for this answer: the functions and models that exercises hand over.

    Attributes:
        limit: What the answer wanted of them that goes in a notebook and not from here; empty where there was nothing.
    """

    def __init__(self, channel):
        self.channel, self.limit = channel, ""

    def find(self, number):
        return Remote(self, number)

    def refuse(self, value):
        if isinstance(value, Remote):
            return object.__getattribute__(value, "_number")
        raise TypeError(f"a {type(value).__name__} cannot be handed to the grader's functions")

    def ask(self, **question):
        send(self.channel, question)
        reply = receive(self.channel)
        if "error" in reply:
            raise _Raised(reply["error"])
        return reply


class _Raised(RuntimeError):
    """What was called in the grader raised an error, and would have in a notebook."""


class Remote:
    """A function or a model that stays in the grader: calling it asks the grader, gradients included."""

    def __init__(self, link, number):
        self._link, self._number = link, number

    def __call__(self, *arguments, **named):
        given, names = (*arguments, *named.values()), list(named)  # the last are named
        try:
            if torch.is_grad_enabled() and any(map(_learns, given)):
                return _Through.apply(self, names, *given)
            return self._called(given, names, graph=False)[1]
        except _Raised:
            raise
        except Exception as error:  # such as torch.vmap's tensors, which have no numbers to send
            self._link.limit = f"the function that it was given cannot be called so here ({error})"
            raise

    def _called(self, given, names, graph):
        arguments = encode(given, self._link.refuse)
        reply = self._link.ask(call=self._number, arguments=arguments, names=names, graph=graph)
        for argument, now in zip(given, reply["lists"], strict=True):
            if now is not None:
                argument[:] = decode(now, self._link.find)
        return reply["call"], decode(reply["value"], self._link.find)

    def __getattr__(self, name):
        if name in ("_link", "_number"):  # a copy asks for much before it has them
            raise AttributeError(name)
        try:
            return decode(self._link.ask(get=name, of=self._number)["value"], self._link.find)
        except _Raised as error:
            self._link.limit = f"what it was given has no {name} here"
            raise AttributeError(str(error)) from None

    def __deepcopy__(self, memo):
        return self


def _learns(value):
    return isinstance(value, torch.Tensor) and value.requires_grad


class _Through(torch.autograd.Function):
    @staticmethod
    def forward(ctx, remote, names, *given):
        ctx.link = remote._link
        ctx.call, value = remote._called(given, names, graph=True)
        return value

    @staticmethod
    def backward(ctx, gradient):
        reply = ctx.link.ask(backward=ctx.call, gradient=encode(gradient, ctx.link.refuse))
        return None, None, *decode(reply["value"], ctx.link.find)


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])), float(sys.argv[2]))
