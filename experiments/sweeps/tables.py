"""A table whose columns interact: attention, the same without attention, and two rivals, with more and more rows."""

import time

import torch
import torch.nn.functional as F
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from torch import Tensor, nn

from attention_course.classifiers import Classifier
from attention_course.course import training
from attention_course.embeddings import FeatureTokens

SIZES = {"d_model": 16, "n_heads": 2, "n_layers": 2}
TRAINING = {"batch": 128, "steps": 400, "peak_lr": 0.01}
N_SENSORS = 4
ROWS = [100, 300, 1000, 3000]
TEST_ROWS, TEST_SEED = 2000, 10_000
SEEDS = [0, 1, 2, 3, 4]


class NoAttention(nn.Module):
    """Stands where attention stood, and adds nothing."""

    def forward(self, tokens, *rest, **options):
        """Zeros of the tokens' shape, and no weights."""
        return torch.zeros_like(tokens), None


def sensors(n_rows: int, seed: int) -> tuple[Tensor, Tensor]:
    """Rows of a number that says which sensor counts and four readings, and whether that sensor's is positive."""
    generator = torch.Generator().manual_seed(seed)
    readings = torch.randn(n_rows, N_SENSORS, generator=generator)
    which = torch.randint(N_SENSORS, (n_rows, 1), generator=generator)
    answer = (readings.gather(1, which)[:, 0] > 0).long()
    return torch.cat([which - (N_SENSORS - 1) / 2, readings], dim=1), answer


def run() -> dict:
    """Train every model on tables of every length; `{"settings": ..., "results": ...}`."""
    settings = SIZES | TRAINING | {"n_sensors": N_SENSORS, "rows": ROWS, "test": [TEST_ROWS, TEST_SEED]}
    test = sensors(TEST_ROWS, TEST_SEED)
    results = []
    for n_rows in ROWS:
        for seed in SEEDS:
            train = sensors(n_rows, seed)
            for name in ("attention", "no attention", "boosted trees", "logistic regression"):
                start = time.process_time()
                accuracy = _accuracy(name, train, test, seed)
                seconds = round(time.process_time() - start, 2)
                result = {"model": name, "rows": n_rows, "seed": seed, "accuracy": accuracy, "cpu_seconds": seconds}
                print(result, flush=True)
                results.append(result)
    return {"settings": settings, "results": results}


def _accuracy(name: str, train, test, seed: int) -> float:
    if name in ("attention", "no attention"):
        model = _train(*train, seed, with_attention=name == "attention")
        with torch.no_grad():
            right = model(test[0])[0].argmax(1) == test[1]
        return round(right.float().mean().item(), 4)
    trees = name == "boosted trees"
    rival = HistGradientBoostingClassifier(random_state=seed) if trees else LogisticRegression()
    return round(rival.fit(*train).score(*test), 4)


def _train(x, y, seed: int, *, with_attention: bool) -> Classifier:
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = Classifier(FeatureTokens(x.size(1), SIZES["d_model"]), 2, **SIZES)
    if not with_attention:
        for block in model.encoder.blocks:
            block.attention = NoAttention()
    training.train(
        model,
        lambda: torch.randint(len(x), (TRAINING["batch"],), generator=generator),
        lambda model, rows: F.cross_entropy(model(x[rows])[0], y[rows]),
        steps=TRAINING["steps"],
        peak_lr=TRAINING["peak_lr"],
        every=TRAINING["steps"],
    )
    return model
