"""`jupyter-book`, whose kernels are met at files: a port may be taken before a kernel takes it, which then dies."""

import sys
from pathlib import Path

from jupyter_book.cli.main import main
from jupyter_client.manager import KernelManager

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from notebooks import meeting_place  # noqa: E402

begin = KernelManager.__init__


def meet(manager, *given, **options):
    begin(manager, *given, **(meeting_place() | options))


KernelManager.__init__ = meet
main()
