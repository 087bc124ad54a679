"""How well weights on patches agree with the effect of erasing them, seed by seed, for cross_attention."""

from functools import partial

import torch

from attention_course.course import training
from attention_course.decoding import cut_after
from attention_course.embeddings import ImagePatches
from attention_course.encoder_decoder import EncoderDecoder
from attention_course.tasks import spelling

SETTINGS = {"d_model": 64, "n_heads": 4, "n_layers": 1, "patch": 2, "batch": 64, "steps": 400, "peak_lr": 0.003}
SEEDS = [0, 1, 2, 3, 4]


def run() -> dict:
    """Train with every seed; `{"settings": ..., "results": ...}`."""
    train, test = spelling.spelled_digits()
    results = []
    for seed in SEEDS:
        result = {"seed": seed} | _train_and_test(train, test, seed)
        print(result, flush=True)
        results.append(result)
    return {"settings": SETTINGS, "results": results}


def _train_and_test(train, test, seed: int) -> dict:
    generator = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    sizes = (SETTINGS[size] for size in ("d_model", "n_heads", "n_layers"))
    patches = ImagePatches(SETTINGS["patch"], SETTINGS["d_model"])
    model = EncoderDecoder(len(spelling.VOCABULARY), *sizes, embed_source=patches)
    training.train(
        model,
        lambda: train[torch.randint(len(train), (SETTINGS["batch"],), generator=generator)],
        partial(training.sequence_loss, pad=spelling.PAD),
        steps=SETTINGS["steps"],
        peak_lr=SETTINGS["peak_lr"],
        every=SETTINGS["steps"],
    )
    names = cut_after(model.generate(test.source, spelling.N_TARGET), spelling.END, spelling.PAD)
    weights, drops = first_letter(model, test)
    largest = weights.argmax(-1, keepdim=True)
    return {
        "exact": round(training.accuracy(names, test.target)["sequences"], 4),
        "agreement": round(rank_correlation(weights, drops.abs()), 4),
        "drop_of_largest_weight": round(drops.gather(1, largest).mean().item(), 4),
        "mean_drop": round(drops.mean().item(), 4),
        "largest_drop": round(drops.max(-1).values.mean().item(), 4),
    }


@torch.no_grad()
def first_letter(model, digits) -> tuple[torch.Tensor, torch.Tensor]:
    """Weights on the patches, mean of the heads, and what erasing each patch costs in nats: both `(batch, 16)`."""

    def score(images):
        logits, weights = model(images, digits.target, need_weights=True)
        return logits[:, 0].log_softmax(-1).gather(-1, digits.target[:, :1])[:, 0], weights[0][:, :, 0].mean(1)

    whole, weights = score(digits.source)
    drops = []
    for top in range(0, 8, SETTINGS["patch"]):
        for left in range(0, 8, SETTINGS["patch"]):
            erased = digits.source.clone()
            erased[:, top : top + SETTINGS["patch"], left : left + SETTINGS["patch"]] = 0
            drops.append(whole - score(erased)[0])
    return weights, torch.stack(drops, dim=-1)


def rank_correlation(one: torch.Tensor, other: torch.Tensor) -> float:
    """Mean over rows of the correlation of ranks."""
    ranks = (numbers.argsort(-1).argsort(-1).float() for numbers in (one, other))
    return torch.stack([torch.corrcoef(torch.stack(pair))[0, 1] for pair in zip(*ranks, strict=True)]).mean().item()
