"""What a small language model writes while it learns, and how far back the front page's profits from what it reads."""

import math

import ladder as sweep
import torch
import torch.nn.functional as F
from torch import nn

from attention_course import tasks
from attention_course.course import ladder, recorded, training
from attention_course.course.checkpoints import load_character_model

STEP = "three blocks"  # of the ladder, as its first seed is trained there
SETTINGS = {"step": STEP, "seed": 0, "peak_lr": 0.01, "steps": ladder.STEPS, "every": 100}
WRITTEN = {"start": "The ", "n_letters": 110}
READ = {"letters": [1, 2, 3, 4, 5, 8, 16, 32, 64, 128], "apart": 5}  # how many it may read, before every fifth letter


class LogitsAlone(nn.Module):
    """A model of the package without the weights that it returns."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, letters):
        return self.model(letters)[0]


def run() -> dict:
    """The settings; a row at the start and every hundred steps, then the front page's model; and how far it reads."""
    torch.set_num_threads(1)
    settings = SETTINGS | WRITTEN | sweep.read_at_once(STEP)
    learning = [row | {"model": STEP} for row in _while_it_learns(settings)]
    model = LogitsAlone(load_character_model("causal")[0])
    front_page = recorded.load("character_model")["models"]["causal"]
    text = ladder.write(STEP, model, **WRITTEN)
    last = {"step": front_page["settings"]["steps"], "bits": front_page["bits"], "text": text, "model": "front page"}
    read = [{"letters": n, "bits": round(bits_after(model, n), 4)} for n in READ["letters"]]
    return {"settings": settings | {"read": READ}, "results": [*learning, last], "read": read}


@torch.no_grad()
def bits_after(model, n_letters: int) -> float:
    """Bits for every fifth letter of the unread text, where a model reads only so many before it."""
    symbols = tasks.python_help().validation[max(READ["letters"]) - n_letters :]
    losses = [
        F.cross_entropy(model(pieces[:, :-1])[:, -1], pieces[:, -1], reduction="none")
        for pieces in symbols.unfold(0, n_letters + 1, READ["apart"]).split(8192 // n_letters)
    ]
    return torch.cat(losses).mean().item() / math.log(2)


def _while_it_learns(settings):
    text, results = tasks.python_help(), []
    torch.manual_seed(settings["seed"])
    generator = torch.Generator().manual_seed(settings["seed"])
    model = sweep.MODELS[STEP](len(text.vocabulary))

    def look(model):
        bits = ladder.unread_bits(model, text.validation, settings["window"])
        written = ladder.write(STEP, model, **WRITTEN)
        results.append({"step": settings["every"] * len(results), "bits": round(bits, 4), "text": written})
        return {"bits": bits}

    def next_batch():
        return tasks.windows(text.train, settings["batch"], settings["window"] + 1, generator)

    def loss(model, pieces):
        return F.cross_entropy(model(pieces[:, :-1]).flatten(0, 1), pieces[:, 1:].flatten())

    training.train(
        model,
        next_batch,
        loss,
        steps=settings["steps"],
        peak_lr=settings["peak_lr"],
        evaluate=look,
        every=settings["every"],
    )
    return results
