"""The grader's side of `worker`: hand an answer or a notebook over, and take its numbers or what was read."""

import copy
import os
import socket
import subprocess
import sys
import time

from attention_classroom.lent_functions import Lent
from attention_classroom.protocol import decode, encode, receive, send
from attention_classroom.submission import Submission, from_message
from attention_classroom.words import cut, fit_to_show

SECONDS = 20  # of a processor's time for an answer, with all that has to run before it
CLOCK = 2  # times that, by the clock: for what sleeps, and for a busy machine
START = 300  # seconds in which PyTorch is loaded
WORKER = "attention_classroom.worker"
CALLS = 5_000  # of functions that an answer was lent
# What of this process's environment decides where Python and its libraries are found, and how they compute.
ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "PYTHONDONTWRITEBYTECODE")
ENVIRONMENT += ("ATEN_CPU_CAPABILITY", "MKL_ENABLE_INSTRUCTIONS", "ONEDNN_MAX_CPU_ISA")
ALWAYS = {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}  # one thread, no GPU
UNREAD = "reading it takes more time or memory than a notebook needs"


class Stopped(Exception):
    """No numbers came; the message says why."""


class Asker:
    """A process that has PyTorch loaded and forks for each answer, which has `seconds` of time.

    Attributes:
        lacks: Which of `sandbox.PROMISES` the system does not keep, once something was read or asked.
    """

    def __init__(self, seconds: float = SECONDS):
        self.seconds, self.lacks = seconds, []
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
            `"failure"` (what went wrong before it, or `None`), and `"limit"` (what it wanted of a function that it was
            given and goes in notebooks only, or nothing).

        Raises:
            Stopped: If the answer's process ended, or said something that is no answer.
        """
        lent = Lent(self.seconds)
        request = {
            "statements": statements,
            "answer": answer,
            "inputs": encode(copy.deepcopy(inputs), lent.keep),
            "again": encode(copy.deepcopy(inputs), lent.keep),
            "differentiable": differentiable,
            "kept": list(kept),
        }
        with self._forked() as channel:
            return self._conversation(channel, request, lent)

    def read(self, notebook: str, exercises: list[str]) -> Submission:
        """What `read_text` finds in a notebook, within the limits of an answer."""
        with self._forked() as channel:
            try:
                self._begin(channel)
                send(channel, {"notebook": notebook, "exercises": exercises})
                return from_message(receive(channel))
            except (EOFError, OSError, ValueError):
                return Submission(problem=UNREAD)

    def _begin(self, channel):
        channel.settimeout(CLOCK * self.seconds)
        self.lacks = list(map(str, receive(channel)["lacks"]))

    def _conversation(self, channel, request, lent):
        seconds = self.seconds
        end = time.monotonic() + CLOCK * seconds
        try:
            self._begin(channel)
            send(channel, request)
            for _ in range(CALLS):
                channel.settimeout(max(end - time.monotonic(), 0.01))
                message = receive(channel)
                if not isinstance(message, dict):
                    raise ValueError("no message")
                if "failure" in message:
                    return _reply(message, request, hidden="files" not in self.lacks)
                send(channel, lent.serve(message))
                if lent.seconds < 0:
                    raise Stopped(f"what it was given ran for {seconds:g} seconds")
        except (EOFError, ConnectionError):
            raise Stopped(f"its process ended before it answered, or was ended after {seconds:g} seconds") from None
        except TimeoutError:
            raise Stopped(f"no answer after {CLOCK * seconds:g} seconds") from None
        except (ValueError, KeyError, TypeError):
            raise Stopped("what came is no answer") from None
        raise Stopped(f"it called the functions that it was given more than {CALLS} times")

    def _forked(self):
        mine, theirs = socket.socketpair()
        self._fork(theirs)
        return mine

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
                [sys.executable, "-P", "-m", WORKER, str(theirs.fileno()), str(self.seconds)],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,
                env={name: os.environ[name] for name in ENVIRONMENT if name in os.environ} | ALWAYS,
            )
        self._control.settimeout(START)
        with self._process.stderr as told:
            if not self._control.recv(1):
                reason = told.read().decode(errors="replace").strip().rpartition("\n")[2]
                raise ChildProcessError(f"the process for answers does not start: {reason}"[:300])

    def close(self):
        """End the process."""
        if self._process is not None:
            self._control.close()
            self._process.kill()
            self._process.wait()
            self._process = None


def _reply(message, request, hidden):
    code = "\n".join([*request["statements"], request["answer"]])
    reply = {"failure": None, "outcomes": None, "gradients": None, "callable": bool(message.get("callable"))}
    reply["limit"] = cut(message["limit"], hidden) if message.get("limit") else ""
    if message["failure"] is not None:
        reply["failure"] = cut(message["failure"], hidden)
    for kind in ("outcomes", "gradients"):
        if message.get(kind) is not None:
            found, count = decode(message[kind], _nothing), len(request["inputs"]["list"])
            if not isinstance(found, list) or len(found) != count:
                raise ValueError(f"{kind} must be a list of {count}")
            reply[kind] = [fit_to_show(outcome, hidden, code) for outcome in found]
    return reply


def _nothing(number):
    raise ValueError("an object of the grader is no number")
