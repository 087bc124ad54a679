"""Where this folder's tests run: on a GPU, for which they are written, or in small on the CPU, which tests them."""

import pytest
import torch

GPU = torch.cuda.is_available()
DEVICE = torch.device("cuda" if GPU else "cpu")
# Bounds are those of the CPU, three times the largest error seen there. On a device none was measured when they were
# written: it gets room for its other order of sums, and what is wrong is wrong by far more.
ROOM = 4 if GPU else 1
on_a_gpu = pytest.mark.skipif(not GPU, reason="needs a CUDA device")
