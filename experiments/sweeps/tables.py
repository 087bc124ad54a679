"""A table whose columns interact: attention, a twin without it and three rivals, from few rows and from many."""

import time

import torch
import torch.nn.functional as F
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from torch import Tensor, nn

from attention_course.classifiers import Classifier
from attention_course.course import training
from attention_course.embeddings import FeatureTokens

SIZES = {"d_model": 16, "n_heads": 2, "n_layers": 2}
TRAINING = {"batch": 128, "d_hidden": 64}  # the second is the width of both hidden layers of the MLP
N_SENSORS = 4
ROWS = [100, 300, 1000, 3000]
TEST_ROWS, TEST_SEED = 2000, 10_000
SEEDS = [0, 1, 2, 3, 4]
TUNING_SEED, VALIDATION_SEED = 100, 10_001  # each way is tried on these, and measured on others
PEAK_LRS = [0.001, 0.003, 0.01, 0.03, 0.1]
WAYS = {
    **dict.fromkeys(
        ("attention", "no attention", "MLP"),
        [{"peak_lr": rate, "steps": steps} for rate in PEAK_LRS for steps in (400, 1200)],
    ),
    "boosted trees": [{"rate": rate, "depth": depth} for rate in (0.03, 0.1, 0.3, 1.0) for depth in (2, 3, 6)],
    "logistic regression": [{"C": c} for c in (0.1, 1.0, 10.0)],
}


class NoAttention(nn.Module):
    """In place of attention: adds nothing."""

    def forward(self, tokens, *rest, **options):
        """Zeros of the tokens' shape, and no weights."""
        return torch.zeros_like(tokens), None


def sensors(n_rows: int, seed: int) -> tuple[Tensor, Tensor]:
    """Rows of four columns of which a 1 says which sensor counts, and four readings; is that sensor's positive?"""
    generator = torch.Generator().manual_seed(seed)
    readings = torch.randn(n_rows, N_SENSORS, generator=generator)
    which = torch.randint(N_SENSORS, (n_rows,), generator=generator)
    counts = F.one_hot(which, N_SENSORS)
    answer = ((counts * readings).sum(1) > 0).long()
    return torch.cat([counts.float(), readings], dim=1), answer


def run() -> dict:
    """Every way of every model on tables of every length, and the best way with five others."""
    torch.set_num_threads(1)
    validation, test = sensors(TEST_ROWS, VALIDATION_SEED), sensors(TEST_ROWS, TEST_SEED)
    tried, results = [], []
    for n_rows in ROWS:
        for name, ways in WAYS.items():
            tried += [_measure(name, n_rows, way, TUNING_SEED, validation) for way in ways]
            best = best_way(tried, name, n_rows)
            results += [_measure(name, n_rows, best, seed, test) for seed in SEEDS]
            print(results[-1], flush=True)
    settings = SIZES | TRAINING | {"n_sensors": N_SENSORS, "rows": ROWS, "test": [TEST_ROWS, TEST_SEED], "ways": WAYS}
    return {"settings": settings, "tried": tried, "results": results}


def best_way(tried: list[dict], name: str, n_rows: int) -> dict:
    """The way in which a model is right most often on the rows set aside."""
    of = [row for row in tried if (row["model"], row["rows"]) == (name, n_rows)]
    return WAYS[name][max(range(len(of)), key=lambda number: of[number]["accuracy"])]


def _measure(name: str, n_rows: int, way: dict, seed: int, test) -> dict:
    train = sensors(n_rows, seed)
    start = time.process_time()
    if name in ("boosted trees", "logistic regression"):
        if name == "boosted trees":
            options = {"learning_rate": way["rate"], "max_depth": way["depth"], "random_state": seed}
            rival = GradientBoostingClassifier(**options)
        else:
            rival = LogisticRegression(C=way["C"])
        rival.fit(*train)
        seconds, accuracy = time.process_time() - start, rival.score(*test)
    else:
        model = _train(name, *train, seed, **way)
        seconds = time.process_time() - start
        with torch.no_grad():
            accuracy = (logits_of(model, test[0]).argmax(1) == test[1]).float().mean().item()
    measured = {"accuracy": round(accuracy, 4), "cpu_seconds": round(seconds, 2)}
    return {"rows": n_rows, "model": name, "seed": seed} | way | measured


def make(name: str, n_columns: int) -> nn.Module:
    """A network, untrained."""
    width = TRAINING["d_hidden"]
    if name == "MLP":
        layers = [nn.Linear(n_columns, width), nn.GELU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, 2)]
        return nn.Sequential(*layers)
    model = Classifier(FeatureTokens(n_columns, SIZES["d_model"]), 2, **SIZES)
    if name == "no attention":
        for block in model.encoder.blocks:
            block.attention = NoAttention()
    return model


def logits_of(model: nn.Module, x: Tensor) -> Tensor:
    """What a network says of rows; an encoder returns its weights, too."""
    return model(x) if isinstance(model, nn.Sequential) else model(x)[0]


def _train(name: str, x: Tensor, y: Tensor, seed: int, *, peak_lr: float, steps: int) -> nn.Module:
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = make(name, x.size(1))
    training.train(
        model,
        lambda: torch.randint(len(x), (TRAINING["batch"],), generator=generator),
        lambda model, rows: F.cross_entropy(logits_of(model, x[rows]), y[rows]),
        steps=steps,
        peak_lr=peak_lr,
        every=steps,
    )
    return model
