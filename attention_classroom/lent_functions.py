"""Functions and models that an answer is lent: they stay in the grader, which runs them on what the answer gives."""

import math
import time

import torch

from attention_classroom.protocol import decode, encode

NUMBERS = 2_000  # in all arguments of a call: what a model does with them may grow with their square
GRAPHS = 500  # that are kept for the way back


class Lent:
    """Functions and models that belong to the inputs. They are run here, on what the answer gives them.

    Attributes:
        seconds: What is left of the processor's time that they may take.
    """

    def __init__(self, seconds: float = math.inf):
        self.seconds, self.objects, self.graphs = seconds, [], []

    def keep(self, value):
        self.objects.append(value)
        return len(self.objects) - 1

    def find(self, number):
        if type(number) is not int or not 0 <= number < len(self.objects):
            raise ValueError("no such object")
        return self.objects[number]

    def serve(self, message):
        """The reply to a question of the answer's."""
        start = time.thread_time()
        try:
            if "get" in message:
                return {"value": encode(_attribute(self.find(message["of"]), message["get"]), self.keep)}
            if "backward" in message:
                return {"value": encode(self._backward(message), self.keep)}
            return self._call(message)
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"[:300]}
        finally:
            self.seconds -= time.thread_time() - start

    def _call(self, message):
        function = self.find(message["call"])
        arguments, names = decode(message["arguments"], self.find), message["names"]
        if sum(map(_numbers, arguments)) > NUMBERS:
            raise ValueError(f"arguments must have at most {NUMBERS} numbers in all")
        unnamed = len(arguments) - len(names)
        with torch.set_grad_enabled(message["graph"]):
            leaves = [_leaf(argument) if message["graph"] else argument for argument in arguments]
            value = function(*leaves[:unnamed], **dict(zip(names, leaves[unnamed:], strict=True)))
        if message["graph"]:
            if len(self.graphs) == GRAPHS:
                raise ValueError(f"gradients are kept of {GRAPHS} calls at most")
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


def _numbers(value):
    """How many, at least one each, and where a whole number may say how many, how large it is."""
    if isinstance(value, (tuple, list, dict)):
        return 1 + sum(map(_numbers, value.values() if isinstance(value, dict) else value))
    if isinstance(value, torch.Tensor):
        return math.prod(max(1, size) for size in value.shape)
    return max(1, abs(value)) if isinstance(value, int) else 1


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
