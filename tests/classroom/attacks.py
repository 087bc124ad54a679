"""What answers try against the class, its instructor and the machine. Each says `REACHED` where it got something.

By name: the body of a function that returns what it got. `CLASS` is the folder in which everything lies: `home`,
`handed in`, `instructor` and `marks`; `PORT` and `NAMED` are sockets on which somebody listens.
"""

# ruff: noqa: E501  (programs in one line each)

SECRET = "tell-nobody-5f3a"

# Found when the grader was reviewed.
REVIEWED = {
    "chmod": "for path in glob.glob(CLASS + '/handed in/*'):\n    os.chmod(path, 0)\nreturn glob.glob(CLASS + '/handed in/*')",
    "utime": "os.utime(CLASS + '/handed in', (0, 0))\nreturn 'utime'",
    "xattr": "os.setxattr(CLASS + '/handed in', 'user.mark', b'1')\nreturn 'xattr'",
    "a named socket": "one = socket.socket(socket.AF_UNIX)\none.connect(NAMED)\nreturn one.recv(99)",
    "the home": "return open(os.path.expanduser('~/.ssh/id_rsa')).read()",
    "the home by its path": "return open(CLASS + '/home/.ssh/id_rsa').read()",
    "the environment": "return [value for value in os.environ.values() if SECRET in value] or open('/proc/self/environ').read()",
    "the salt": "return open(CLASS + '/instructor/assignment.json').read()",
    "others' answers": "return [open(path).read() for path in glob.glob(CLASS + '/handed in/*')]",
    "others' marks": "return os.listdir(CLASS + '/marks/.results')",
    "who runs": "return [open(path, 'rb').read() for path in glob.glob('/proc/*/cmdline')]",
    "references, no importer in the way": "sys.meta_path[:] = sys.meta_path[-1:]\nsys.path_importer_cache.clear()\n"
    "sys.modules.pop('attention_course.exer' + 'cises')\nreturn importlib.import_module('attention_course.exer' + 'cises.scale')",
    "references, their package's path": "package = sys.modules['attention_course.exer' + 'cises']\n"
    "package.__path__ = [os.path.dirname(package.__file__)]\nreturn importlib.import_module('attention_course.exer' + 'cises.scale')",
    "references, by their file": "import attention_course\nplace = os.path.dirname(attention_course.__file__)\n"
    "return open(place + '/exer' + 'cises/scale.py').read()",
    "printed solutions": "return open(ROOT + '/chapters/scale.ipynb').read()",
    "shared memory": "one = ctypes.CDLL(None).shmget(77, 99, 0o1666)\nreturn one if one >= 0 else None",
    "leftovers": "left = []\nfor place in ('/tmp', '/var/tmp', '/dev/shm', '/answer'):\n    try:\n"
    "        open(place + '/left', 'w').close()\n        left.append(place)\n    except OSError:\n        pass\n"
    "return left != ['/answer'] and left",
    "another's leftovers": "return os.listdir('/answer')",
    "a second process": "return os.fork() or 'child'",
}

# Ours.
OWN = {
    "a key ring": "one = ctypes.CDLL(None).syscall(248 if X86 else 217, b'user', b'left', b'x', 1, -3)\nreturn one if one >= 0 else None",
    "taking the cover off": "import attention_course\nplace = os.path.dirname(attention_course.__file__) + '/exercises'\n"
    "ctypes.CDLL(None).umount2(place.encode(), 2)\nreturn os.listdir(place)",
    "a namespace of its own": "return ctypes.CDLL(None).unshare(0x10020000) == 0",
    "a mount": "return ctypes.CDLL(None).mount(b'proc', b'/answer', b'proc', ctypes.c_ulong(0), None) == 0",
    "another root": "os.chroot('/')\nreturn 'chroot'",
    "a ring": "one = ctypes.CDLL(None).syscall(425, 1, bytes(120))\nreturn one if one >= 0 else None",
    "the other numbers": "one = ctypes.CDLL(None).syscall(0x40000000 + 41, 1, 1, 0) if X86 else -1\nreturn one if one >= 0 else None",
    "its parent": "os.kill(os.getppid(), 0)\nreturn 'kill'",
    "its parent's memory": "return ctypes.CDLL(None).syscall(101 if X86 else 117, 0x4206, 2, 0, 0) == 0",
    "a port": "return socket.create_connection(('127.0.0.1', PORT), 1).recv(99)",
    "memory without a name": "return os.memfd_create('left')",
    "another program": "os.execv(sys.executable, [sys.executable, '-c', 'pass'])",
    "memory that is its grader's": "return [one for one in gc.get_objects() if isinstance(one, dict) and one is not globals() and any(type(it) is str and SECRET in it for it in list(one.values()))]",
    "a kind of exception": "raise type(open(CLASS + '/home/.ssh/id_rsa').read(), (Exception,), {})",
    "a way up": "return [open(up + CLASS + '/home/.ssh/id_rsa').read() for up in ('/..', '/proc/1/root', '/proc/self/cwd/..')]",
    "a device": "return os.open('/dev/kmsg', os.O_RDONLY)",
    "rights again": "os.setuid(0)\nreturn os.getuid() == 0 and os.listdir(CLASS)",
    "a thousand threads": "begun = [threading.Thread(target=time.sleep, args=(9,)) for _ in range(1000)]\n"
    "for one in begun:\n    one.daemon = True\n    one.start()\nreturn begun",
    "ten megabytes more": "for name in range(20):\n    open(str(name), 'wb').write(bytes(1_000_000))\nreturn 'room'",
}

# What each does before it hands in a wrong answer, to have it pass or to end the grader.
FORGING = {
    "patches isclose": "torch.isclose = lambda *a, **k: torch.ones(1).bool()\ntorch.allclose = lambda *a, **k: True",
    "patches tensors": "torch.Tensor.any = lambda *a, **k: torch.tensor(False)\ntorch.Tensor.__invert__ = lambda s: s",
    "patches json": "import json\njson.dumps = lambda *a, **k: '{\"failure\": null}'",
    "patches base64": "import base64\nbase64.b64encode = lambda data: b''",
    "patches pickle": "import pickle\npickle.loads = eval",
    "ends its process": "import os\nos._exit(0)",
    "exits": "import sys\nsys.exit()",
    "kills its parent": "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)",
    "kills everybody": "import os\nif os.getpid() == 1:\n    os.kill(-1, 9)",
    "registers atexit": "import atexit, os\natexit.register(lambda: os._exit(1))",
    "starts threads": "import threading, time\nfor _ in range(20):\n    threading.Thread(target=time.sleep, args=(9,)).start()",
    "forks": "import os\nfor _ in range(3):\n    os.fork()",
    "prints": "print('x' * 50_000_000)",
    "fills the memory": "x = bytearray(8 * 2**30)\nx[:] = b'1' * len(x)",
    "fills the disk": "open('big', 'wb').write(b'0' * 50_000_000)",
    "removes its folder": "import shutil, os\nshutil.rmtree(os.getcwd())",
    "looks for references": "import gc\nfound = [o for o in gc.get_objects() if type(o).__name__ == 'Exercise']\n"
    "answer = found[0].reference",
    "imports by parts": "import importlib\nm = importlib.import_module('attention_course.' + 'exercises' + '.scale')\n"
    "answer = m.EXERCISES[1].reference",
    "takes modules": "import sys\nanswer = sys.modules['attention_course.' + 'exercises.' + 'scale'].EXERCISES[1].reference",
    "writes to every channel": "import os\nfor fd in range(3, 64):\n    try:\n        os.write(fd, b'x' * 99)\n    except OSError:\n        pass",
    "answers by itself": "import os\nm = b'{\"failure\": null, \"callable\": true, \"outcomes\": {\"list\": []}}'\n"
    "for fd in range(3, 64):\n    try:\n        os.write(fd, len(m).to_bytes(8, 'big') + m)\n    except OSError:\n        pass",
    "a huge message": "import os\nfor fd in range(3, 64):\n    try:\n        os.write(fd, (2**60).to_bytes(8, 'big'))\n    except OSError:\n        pass",
    "frames": "import sys\nf = sys._getframe()\nwhile f:\n    f.f_globals.clear() if f.f_globals.get('x') else None\n    f = f.f_back",
    "equal to everything": "class A(torch.Tensor):\n    def __eq__(self, o):\n        return True\n\n\n"
    "def answer(x):\n    return torch.zeros(len(x), len(x)).as_subclass(A)",
    "opens the network": "import socket\nsocket.create_connection(('1.1.1.1', 53), 1)",
    "raises the base": "def answer(x):\n    raise BaseException('no')",
    "recursion": "def answer(x):\n    return answer(x)",
    "closes every descriptor": "import os\nos.closerange(0, 4096)",
    "crashes in C": "import ctypes\nctypes.string_at(0)",
    "kills its group": "import os\nos.killpg(0, 15)\nos.kill(0, 9)",
    "stops itself": "import os, signal\nif os.getpid() == 1:\n    os.kill(1, signal.SIGSTOP)",
    "hands its channel on": "import socket\nfor fd in range(3, 64):\n    try:\n        one = socket.socket(fileno=fd)\n"
    "        socket.send_fds(one, [b'x'], [fd])\n        one.detach()\n    except OSError:\n        pass",
    "exits from a thread in C": "import faulthandler, time\nfaulthandler.dump_traceback_later(0.001, exit=True)\ntime.sleep(1)",
    "takes all its rights": "import resource\nfor which in range(16):\n    try:\n        resource.setrlimit(which, (0, 0))\n"
    "    except (OSError, ValueError):\n        pass",
    "stops the clock": "import time\ntime.monotonic = time.time = lambda: 0.0\ntime.sleep = lambda seconds: None",
    "changes its inputs": "import sys\nf = sys._getframe()\nwhile f:\n    for value in list(f.f_locals.values()):\n"
    "        if isinstance(value, dict) and 'inputs' in value:\n            value['inputs'] = {'list': []}\n    f = f.f_back",
    "writes from a thread": "import os, threading\ndef write():\n    while True:\n        os.write(5, b'0' * 8)\n"
    "threading.Thread(target=write, daemon=True).start()",
    "without memory of its own": "def answer(x):\n    return torch.zeros(1).expand(2**20, 2**20)",
    "not a number": "def answer(x):\n    return torch.full((len(x), len(x)), torch.nan)",
    "infinite": "def answer(x):\n    return torch.full((len(x), len(x)), torch.inf)",
    "a number equal to all": "class A(float):\n    def __eq__(self, o):\n        return True\n\n\ndef answer(x):\n    return A()",
    "answers for PyTorch": "class A:\n    shape = (2, 2)\n    def __torch_function__(self, *a, **k):\n"
    "        return torch.tensor(True)\n\n\ndef answer(x):\n    return A()",
    "returns what it was given": "def answer(x):\n    x.zero_()\n    return x.expand(len(x), len(x))",
    "right every second time": "calls = []\n\n\ndef answer(x):\n    calls.append(1)\n    p = x.softmax(0)\n"
    "    return torch.diag(p) - torch.outer(p, p) if len(calls) % 2 else x",
    "no text": "def answer(x):\n    raise ValueError('\\ud800 \\x00 \\x1b[2J')",
    "changes the seed": "torch.manual_seed(0)\ntorch.set_default_dtype(torch.float64)",
}  # fmt: skip

BEFORE = """import ctypes, gc, glob, importlib, os, platform, socket, sys, threading, time, torch
from attention_course import check
CLASS, ROOT, NAMED, PORT, SECRET = {places!r}
X86 = platform.machine() == "x86_64"


def attack():
{body}


try:
    got = attack()
except (Exception, SystemExit) as error:
    got = None if isinstance(error, (OSError, ImportError, RuntimeError)) else error


def answer(x):
    if got:
        raise RuntimeError(f"REACHED {{got}}")
    p = x.softmax(0)
    return torch.diag(p - p * p)
"""


def program(body: str, places: tuple) -> str:
    """The cell of an answer that tries this, and is wrong."""
    return BEFORE.format(places=places, body="\n".join(f"    {line}" for line in body.splitlines()))
