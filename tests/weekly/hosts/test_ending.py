"""A server that does not end when it is asked to is ended, with what it has started."""

import subprocess
import sys

import lab

DEAF = """
import signal, subprocess, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen(["sleep", "60"])
print("ready", flush=True)
time.sleep(60)
"""


def test_a_server_that_does_not_listen_is_ended_with_what_it_started():
    server = subprocess.Popen([sys.executable, "-c", DEAF], stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert server.stdout.readline() == "ready\n"
    lab.end(server, patience=0.5)
    output, _ = server.communicate(timeout=10)  # until nobody is left who could write
    assert server.returncode == -9 and output == ""


def test_a_server_that_listens_ends_by_itself():
    server = subprocess.Popen(["sleep", "60"], start_new_session=True)
    lab.end(server)
    assert server.returncode == -15
