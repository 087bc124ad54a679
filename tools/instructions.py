"""Other processors than this one: PyTorch told to compute with fewer instructions, and so to round in another order."""

import platform
import sys

AVX2 = {"ATEN_CPU_CAPABILITY": "avx2", "MKL_ENABLE_INSTRUCTIONS": "AVX2", "ONEDNN_MAX_CPU_ISA": "AVX2"}
# What every x86 processor has, and MKL's promise to round alike on all of them.
PLAINEST = {"ATEN_CPU_CAPABILITY": "default", "MKL_CBWR": "COMPATIBLE", "ONEDNN_MAX_CPU_ISA": "SSE41"}


def need_x86():
    """End where these would change nothing, so that one arithmetic is not recorded as several."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        sys.exit(f"PyTorch computes as other processors do on x86 only, and this one is {platform.machine()}")
