"""What is done in an answer's process: its statements, its numbers, and calls of functions that stay in the grader."""

import ast
import asyncio
import builtins
import linecache

import torch

from attention_classroom.protocol import decode, encode, receive, send
from attention_course.exercises.judging.gradients import gradients_of
from attention_course.exercises.judging.running import NoNumbers, run


def answer(channel, request: dict) -> None:
    """Run the statements and the answer that came, and send what it returned."""
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
        given = eval(_compiled(request["answer"], "<answer>", "eval"), names)
    except (Exception, SystemExit) as error:
        send(channel, {"failure": failure or repr(error)})
        return
    reply = {"failure": failure, "callable": callable(given), "gradients": None}
    # Objects of the grader may keep a state, so that gradients are taken with fresh ones.
    first, second = (decode(inputs, link.find) for inputs in (request["inputs"], request["again"]))
    function = given if callable(given) else lambda *arguments: given
    got = run(function, first, kept=request["kept"], processor=True)
    reply["outcomes"] = encode(got, link.refuse)
    if request["differentiable"] and callable(given) and not any(isinstance(one, NoNumbers) for one in got):
        reply["gradients"] = encode(gradients_of(given, second, processor=True), link.refuse)
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
