"""What a character model loses when its heads come to share keys and values, for the page on smaller caches.

A model with a pair of keys and values for each of its heads is trained. Then the pairs of neighbouring heads are made
one, in three ways, and the model is trained on for 5% of the steps (Ainslie et al. 2023, arXiv:2305.13245). Beside it
stand models whose heads shared from the start, trained for those few steps or for all. Each way of going on takes the
best of three learning rates, found with the first seed.
"""

import _text
import torch
from torch import Tensor

from attention_course import tasks
from attention_course.course import training
from attention_course.language_model import CausalLanguageModel
from attention_course.positions import RotaryAttention

SETTINGS = {
    "d_model": 64,
    "n_heads": 8,
    "n_pairs": 2,
    "n_layers": 2,
    "batch": 16,
    "n_tokens": 64,
    "peak_lr": 0.01,
    "steps": 600,
    "further_steps": 30,
    "further_lrs": [0.003, 0.01, 0.03],
}
# The head that a group comes to share: the mean of its heads, the first of them, or a newly drawn one. "scratch" begins
# with a model of which everything is newly drawn.
WAYS = ["mean", "first", "random", "scratch"]
SEEDS = [0, 1, 2, 3, 4]


def make_model(n_symbols: int, n_pairs: int) -> CausalLanguageModel:
    """An untrained model whose blocks have so many pairs of keys and values."""
    sizes = SETTINGS["d_model"], SETTINGS["n_heads"], SETTINGS["n_layers"]
    return CausalLanguageModel(n_symbols, *sizes, n_kv_heads=n_pairs, attention=RotaryAttention())


@torch.no_grad()
def shared(model: CausalLanguageModel, way: str) -> CausalLanguageModel:
    """A model with fewer pairs, which a way makes from those of the model, and otherwise with its numbers."""
    other = make_model(model.embedding.num_embeddings, SETTINGS["n_pairs"])
    numbers = model.state_dict()
    for name, drawn in other.state_dict().items():
        if ".key_proj." in name or ".value_proj." in name:
            groups = numbers[name].unflatten(0, (SETTINGS["n_pairs"], SETTINGS["n_heads"] // SETTINGS["n_pairs"], -1))
            pooled = {"mean": groups.mean(1), "first": groups[:, 0]}
            numbers[name] = pooled[way].flatten(0, 1) if way in pooled else drawn
    other.load_state_dict(numbers)
    return other


def run() -> dict:
    """Train all models of all seeds; `{"settings": ..., "results": ...}`."""
    results = of_seed(SEEDS[0], dict.fromkeys(WAYS, SETTINGS["further_lrs"]))
    chosen = {way: [best_lr(results, way)] for way in WAYS}
    for seed in SEEDS[1:]:
        results += of_seed(seed, chosen)
    return {"settings": SETTINGS, "results": results}


def best_lr(results: list[dict], way: str) -> float:
    """The learning rate whose few steps ended best."""
    return min((result for result in results if result["way"] == way), key=lambda result: result["after"])["lr"]


def of_seed(seed: int, lrs: dict) -> list[dict]:
    """All runs with a seed: bits per character after training, and before the few further steps and after them."""
    text = tasks.python_help()
    n_symbols = len(text.vocabulary)
    results, trained = [], {}

    def drawn(n_pairs):
        torch.manual_seed(seed)
        return make_model(n_symbols, n_pairs)

    def bits(model):
        return round(_text.bits(model.eval(), text.validation, SETTINGS["n_tokens"]), 4)

    for n_pairs in (SETTINGS["n_heads"], SETTINGS["n_pairs"]):
        trained[n_pairs] = drawn(n_pairs)
        train(trained[n_pairs], text.train, seed, SETTINGS["steps"], SETTINGS["peak_lr"])
        results.append({"seed": seed, "way": f"{n_pairs} pairs", "after": bits(trained[n_pairs])})
    for way, tried in lrs.items():
        for lr in tried:
            model = drawn(SETTINGS["n_pairs"])
            if way != "scratch":
                model = shared(trained[SETTINGS["n_heads"]], way)
            result = {"seed": seed, "way": way, "lr": lr, "before": bits(model)}
            train(model, text.train, 1000 + seed, SETTINGS["further_steps"], lr)
            results.append(result | {"after": bits(model)})
    print(*results, sep="\n", flush=True)
    return results


def train(model: CausalLanguageModel, symbols: Tensor, seed: int, steps: int, peak_lr: float) -> None:
    """Train a model in place on pieces of the text that the seed draws."""
    generator = torch.Generator().manual_seed(seed)
    training.train(
        model,
        lambda: tasks.windows(symbols, SETTINGS["batch"], SETTINGS["n_tokens"] + 1, generator),
        _text.loss,
        steps=steps,
        peak_lr=peak_lr,
        every=steps,
    )
