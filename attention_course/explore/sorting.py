"""An explorer that runs a small trained network in the reader's browser, on numbers that the reader types."""

import numpy as np
import torch

from attention_course.explore.controls import Control
from attention_course.explore.explorer import Explorer
from attention_course.explore.first_state import draw_maps
from attention_course.scores import LuongAttention
from attention_course.seq2seq_rnn import GRUEncoderDecoder
from attention_course.support import float16_weights


def explore_sorting(model: GRUEncoderDecoder, numbers: list[int], *, alt: str) -> Explorer:
    """A trained sorter that the reader gives other numbers, and whose attention the reader makes sharp or flat.

    The network itself runs in the browser, with its parameters rounded to 16 bits. The temperature divides the scores
    *inside* it, so that what it writes changes too.

    Args:
        model: Trained to sort, with `attention="concat"`.
        numbers: What it sorts at first; the reader changes them, but not how many there are.
        alt: What is seen, in words, for whoever does not see it.

    Raises:
        TypeError: If the model is another one.
        ValueError: If there are no numbers, or the model does not know one of them.
    """
    attention = getattr(model, "attention", None)
    if not isinstance(attention, LuongAttention) or attention.score != "concat":
        raise TypeError(f"model must be a GRUEncoderDecoder with attention='concat', got {type(model).__name__}")
    if not numbers or not all(isinstance(number, int) and 0 <= number < model.start_symbol for number in numbers):
        raise ValueError(f"numbers must be whole numbers in 0..{model.start_symbol - 1}, got {numbers}")
    written, weights = model.generate(torch.tensor([numbers], device=model.logits.weight.device), len(numbers))
    labels = [str(number) for number in written[0].tolist()], [str(number) for number in numbers]
    first = draw_maps(weights.cpu().numpy(), *labels, np.sort(numbers)[:, None] == numbers, alt)
    data = {"numbers": numbers, "start": model.start_symbol, **float16_weights.pack(model)}
    control = Control("temperature", "temperature", "temperature", "temperature")
    return Explorer("sorting", {"data": data, "temperature": 1.0}, [control], first, alt)
