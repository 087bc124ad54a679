"""The grader's side of `worker`: hand an answer over, lend it functions, and take its numbers."""

import copy
import os
import socket
import subprocess
import sys
import time

import torch

from attention_classroom.protocol import decode, encode, receive, send

SECONDS = 20  # for an answer, with all that has to run before it
WORKER = "attention_classroom.worker"
CALLS = 5_000  # of functions that an answer was lent


class Stopped(Exception):
    """No numbers came; the message says why."""


class Asker:
    """A process that has PyTorch loaded and forks for each answer, which has `seconds` of time."""

    def __init__(self, seconds: float = SECONDS):
        self.seconds = seconds
        self._process = None

    def ask(
        self, statements: list[str], answer: str, inputs: list[tuple], differentiable: bool, kept: tuple[int, ...]
    ) -> dict:
        """What one answer returns.

        Args:
            statements: What has to run before it, in order.
            answer: The expression that was given to `check`.
            inputs: Arguments for it.
            differentiable: Whether gradients are wanted.
            kept: The places of arguments into which it must not write.

        Returns:
            `"outcomes"` and `"gradients"` as `run` gives them (`None` where there are none), `"callable"`,
            `"failure"` (what went wrong before it, or `None`), `"limit"` (what it wanted of a function that it was
            given and goes in notebooks only, or nothing), and `"alone"` (whether it had no network, reached no other
            process and wrote only into its folder).

        Raises:
            Stopped: If the answer's process ended, or said something that is no answer.
        """
        lent = _Lent()
        request = {
            "statements": statements,
            "answer": answer,
            "inputs": encode(copy.deepcopy(inputs), lent.keep),
            "again": encode(copy.deepcopy(inputs), lent.keep),
            "differentiable": differentiable,
            "kept": list(kept),
        }
        mine, theirs = socket.socketpair()
        with mine:
            self._fork(theirs)
            return _conversation(mine, request, lent, self.seconds)

    def _fork(self, channel):
        with channel:
            for last in (False, True):
                if self._process is None or self._process.poll() is not None:
                    self._start()
                try:
                    socket.send_fds(self._control, [b"."], [channel.fileno()])
                    return
                except OSError:  # an answer has ended it
                    self.close()
                    if last:
                        raise

    def _start(self):
        self._control, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", WORKER, str(theirs.fileno()), str(self.seconds)],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                env=os.environ | {"OMP_NUM_THREADS": "1"},
            )

    def close(self):
        """End the process."""
        if self._process is not None:
            self._control.close()
            self._process.kill()
            self._process.wait()
            self._process = None


def _conversation(channel, request, lent, seconds):
    end = time.monotonic() + seconds + 40  # PyTorch may have to be loaded first
    try:
        channel.settimeout(60)
        alone = receive(channel)["alone"]
        send(channel, request)
        for _ in range(CALLS):
            channel.settimeout(max(end - time.monotonic(), 0.01))
            message = receive(channel)
            if not isinstance(message, dict):
                raise ValueError("no message")
            if "failure" in message:
                return _reply(message, alone, len(request["inputs"]["list"]))
            send(channel, lent.serve(message))
    except (EOFError, ConnectionError):
        raise Stopped(f"its process ended before it answered, or was ended after {seconds:g} seconds") from None
    except TimeoutError:
        raise Stopped(f"no answer after {seconds:g} seconds") from None
    except (ValueError, KeyError, TypeError) as error:
        raise Stopped(f"what came is no answer: {error}"[:200]) from None
    raise Stopped(f"it called the functions that it was given more than {CALLS} times")


def _reply(message, alone, count):
    reply = {"failure": None, "outcomes": None, "gradients": None, "callable": bool(message.get("callable"))}
    reply["limit"] = str(message.get("limit", ""))[:300]
    if message["failure"] is not None:
        reply["failure"] = str(message["failure"])[:300]
    for kind in ("outcomes", "gradients"):
        if message.get(kind) is not None:
            reply[kind] = decode(message[kind], _nothing)
            if not isinstance(reply[kind], list) or len(reply[kind]) != count:
                raise ValueError(f"{kind} must be a list of {count}")
    return reply | {"alone": alone}


def _nothing(number):
    raise ValueError("an object of the grader is no number")


class _Lent:
    """Functions and models that belong to the inputs. They are run here, on what the answer gives them."""

    def __init__(self):
        self.objects, self.graphs = [], []

    def keep(self, value):
        self.objects.append(value)
        return len(self.objects) - 1

    def find(self, number):
        if type(number) is not int or not 0 <= number < len(self.objects):
            raise ValueError("no such object")
        return self.objects[number]

    def serve(self, message):
        """The reply to a question of the answer's."""
        try:
            if "get" in message:
                return {"value": encode(_attribute(self.find(message["of"]), message["get"]), self.keep)}
            if "backward" in message:
                return {"value": encode(self._backward(message), self.keep)}
            return self._call(message)
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"[:300]}

    def _call(self, message):
        function = self.find(message["call"])
        arguments, names = decode(message["arguments"], self.find), message["names"]
        unnamed = len(arguments) - len(names)
        with torch.set_grad_enabled(message["graph"]):
            leaves = [_leaf(argument) if message["graph"] else argument for argument in arguments]
            value = function(*leaves[:unnamed], **dict(zip(names, leaves[unnamed:], strict=True)))
        self.graphs.append((leaves, value))
        # A list may have grown: models keep their caches in lists.
        lists = [encode(argument, self.keep) if isinstance(argument, list) else None for argument in arguments]
        return {"call": len(self.graphs) - 1, "value": encode(value, self.keep), "lists": lists}

    def _backward(self, message):
        leaves, value = self.graphs[message["backward"]]
        wanted = [leaf for leaf in leaves if _is_float(leaf)]
        found = torch.autograd.grad(value, wanted, decode(message["gradient"], self.find), allow_unused=True)
        found = iter(found)
        return tuple(next(found) if _is_float(leaf) else None for leaf in leaves)


def _is_float(value):
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def _leaf(value):
    return value.detach().requires_grad_() if _is_float(value) else value


def _attribute(value, name):
    """A public attribute that holds data, or a method that the course wrote."""
    if not isinstance(name, str) or name.startswith("_"):
        raise AttributeError(f"no attribute {name!r}")
    found = getattr(value, name)
    if callable(found) and not str(getattr(found, "__module__", "")).startswith("attention_course."):
        raise AttributeError(f"{name} is not there for answers")
    return found
