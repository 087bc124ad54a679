"""How the grader and the process of an answer talk: JSON, in which no message can be code.

What an answer's process sends is not trusted. It is data only, is measured before it is read, and anything that does
not fit is a `ValueError`.
"""

import base64
import json
import math
import socket
from collections.abc import Callable

import torch

from attention_course.exercises.judging.running import NoNumbers

LARGEST = 4 * 2**20  # bytes of a message
NUMBERS = 10_000  # in a tensor, where none may be zero long: no exercise has so many
DTYPES = {
    str(dtype)[6:]: dtype
    for dtype in (
        *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
        *(torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128),
    )
}


def send(channel: socket.socket, message) -> None:
    """Write one message."""
    data = json.dumps(message).encode()
    channel.sendall(len(data).to_bytes(8, "big") + data)


def receive(channel: socket.socket, largest: int = LARGEST):
    """Read one message.

    Raises:
        EOFError: If the other side is gone.
        ValueError: If what came is no message, or has more than `largest` bytes.
    """
    length = int.from_bytes(_exactly(channel, 8), "big")
    if length > largest:
        raise ValueError(f"a message must have at most {largest} bytes, got {length}")
    try:
        return json.loads(_exactly(channel, length))
    except RecursionError:
        raise ValueError("a message must not be nested so deeply") from None


def _exactly(channel, count):
    data = bytearray()
    while len(data) < count:
        piece = channel.recv(min(count - len(data), 1 << 20))
        if not piece:
            raise EOFError
        data += piece
    return bytes(data)


def encode(value, keep: Callable[[object], int]):
    """A value as JSON.

    Args:
        value: Numbers, tensors, text, and tuples, lists and dictionaries of them.
        keep: Gives the number under which the other side may ask for anything else, such as a function.
    """
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return {"float": repr(value)}
    if value is ...:
        return {"dots": True}
    if isinstance(value, NoNumbers):
        return {"nothing": value.text, "where": list(value.where)}
    if isinstance(value, torch.Tensor):
        plain = value.detach().cpu().contiguous().flatten()
        data = base64.b64encode(plain.view(torch.uint8).numpy().tobytes()).decode()
        return {"tensor": str(value.dtype)[6:], "shape": list(value.shape), "data": data}
    if isinstance(value, (tuple, list)):
        return {type(value).__name__: [encode(item, keep) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[encode(key, keep), encode(item, keep)] for key, item in value.items()]}
    return {"object": keep(value)}


def decode(message, find: Callable[[int], object]):
    """The value that `encode` was given; `find` gives what stands for a number that was kept.

    Raises:
        ValueError: If the message is not one that `encode` makes.
    """
    try:
        return _decoded(message, find)
    except (KeyError, TypeError, IndexError, RuntimeError, OverflowError, RecursionError) as error:
        raise ValueError(f"no value: {error}") from None


def _decoded(message, find):
    if not isinstance(message, dict):
        if isinstance(message, (list, float)):
            raise ValueError("no value")
        return message
    kind = next(iter(message), None)
    if kind == "tensor":
        return _tensor(message)
    readers = {
        "float": lambda text: float(text),
        "dots": lambda _: ...,
        "nothing": lambda text: NoNumbers(str(text), tuple(map(str, message["where"]))),
        "tuple": lambda items: tuple(_decoded(item, find) for item in items),
        "list": lambda items: [_decoded(item, find) for item in items],
        "dict": lambda items: {_decoded(key, find): _decoded(item, find) for key, item in items},
        "object": find,
    }
    return readers[kind](message[kind])


def _tensor(message):
    dtype, shape, data = DTYPES[message["tensor"]], message["shape"], base64.b64decode(message["data"])
    if len(shape) > 32 or any(type(size) is not int or not 0 <= size <= NUMBERS for size in shape):
        raise ValueError("no shape")
    if math.prod(shape) * dtype.itemsize != len(data) or math.prod(max(1, size) for size in shape) > NUMBERS:
        raise ValueError(f"no tensor of shape {shape}")
    if dtype is torch.bool and not set(data) <= {0, 1}:
        raise ValueError("no booleans")
    return torch.frombuffer(bytearray(data), dtype=dtype).reshape(shape) if data else torch.zeros(shape, dtype=dtype)
