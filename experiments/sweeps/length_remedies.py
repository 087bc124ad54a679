"""What helps beyond the trained length: far keys hidden or clipped, slower turns, tuning."""

import math

import position_lengths as lengths
import torch

from attention_course import scaled_dot_product_attention, sliding_window_mask, tasks
from attention_course.course.training import train
from attention_course.language_model import CausalLanguageModel
from attention_course.mechanism import Mechanism

SETTINGS = lengths.SETTINGS | {
    "peak_lr": 0.01,
    "sees": 24,
    "factor": 8,
    "tuning_batch": 8,
    "tuning_lr": 0.001,
    "head_examples": 20,
    "queries": [160, 250],
}
SEEDS = list(range(10))
HIDDEN = ["sinusoidal", "sinusoidal, random start", "rotary"]
# After how many steps of fine-tuning each way to turn is tested; 0 is before.
TUNING = {
    "as trained": [0, 2, 5, 10, 20, 50],
    "interpolated": [0, 2, 5, 10, 20, 50, 100, 200, 400, 800],
    "base raised": [0, 2, 5, 10, 20, 50],
    "by parts": [0, 2, 5, 10, 20, 50],
}


def frequencies(way: str, d_head: int, length: int, factor: float) -> torch.Tensor:
    """By how many radians each pair of features turns a step, `(d_head / 2,)`."""
    pair = torch.arange(0, d_head, 2) / d_head
    trained = 10_000.0**-pair
    if way == "interpolated":
        return trained / factor
    if way == "base raised":
        return (10_000.0 * factor ** (d_head / (d_head - 2))) ** -pair
    if way == "by parts":
        # Kept: the pairs that come round within the trained length.
        return torch.where(trained * length >= 2 * math.pi, trained, trained / factor)
    return trained


class Turning(Mechanism):
    """RoPE whose pairs turn by the given angles a step."""

    caches = False  # positions count from 0 at the first token

    def __init__(self, frequency: torch.Tensor):
        super().__init__()
        self.frequency = frequency

    def turn(self, tokens, place=None):
        place = torch.arange(tokens.size(-2)) if place is None else place
        angle = place[:, None] * self.frequency
        even, odd = tokens[..., 0::2], tokens[..., 1::2]
        turned = [even * angle.cos() - odd * angle.sin(), even * angle.sin() + odd * angle.cos()]
        return torch.stack(turned, dim=-1).flatten(-2)

    def forward(self, query, key, value, mask=None, **options):
        return scaled_dot_product_attention(self.turn(query), self.turn(key), value, mask, **options)


class Clipped(Turning):
    """RoPE that scores each distance beyond the `farthest` as if it were that."""

    def __init__(self, frequency: torch.Tensor, farthest: int):
        super().__init__(frequency)
        self.farthest = farthest

    def forward(self, query, key, value, mask=None, **options):
        place = torch.arange(query.size(-2))
        distance = place[:, None] - place
        scores = torch.where(distance > self.farthest, self._far(query, key), self.turn(query) @ self.turn(key).mT)
        weights = (scores / math.sqrt(query.size(-1))).masked_fill(distance < 0, -math.inf).softmax(-1)
        return weights @ value, weights

    def _far(self, query, key):
        """Scores of all queries and keys as if they stood `farthest` places apart."""
        return self.turn(query, torch.tensor([self.farthest])) @ key.mT


def run() -> dict:
    """The same models with far keys hidden, and the rotary ones with other turns."""
    hidden, clipped, turned, farthest, scores = [], [], [], [], []
    for method in HIDDEN:
        for seed in SEEDS:
            model, make = _trained(method, seed)
            far = _hide_far_keys()
            free, near = (lengths.score(model, make, mask)["accuracy"] for mask in (None, far))
            hidden.append({"method": method, "seed": seed, "accuracy": free, "accuracy_near": near})
            print(method, seed, flush=True)
            if method == "rotary":
                turned += _turn_otherwise(model, make, seed)
                farthest += _untrained_distances(model, make, seed)
                clipped.append({"seed": seed, "accuracy": lengths.score(_clipped(model), make)["accuracy"]})
                scores.append({"seed": seed} | _scores(model, make))
    settings = SETTINGS | {"seeds": SEEDS, "tuning_steps": TUNING}
    return {
        "settings": settings,
        "hidden": hidden,
        "clipped": clipped,
        "turned": turned,
        "farthest": farthest,
        "scores": scores,
    }


def _trained(method, seed):
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = lengths.make_model(method)
    batch, length, steps = (SETTINGS[name] for name in ("batch", "train_length", "steps"))

    def make(n_examples, n_tokens, numbers):
        return tasks.looking_back(n_examples, n_tokens, SETTINGS["n_symbols"], SETTINGS["distance"], numbers)

    peak_lr = SETTINGS["peak_lr"]
    train(
        model, lambda: make(batch, length, generator), lengths.lookback_loss, steps=steps, peak_lr=peak_lr, every=steps
    )
    return model, make


def _hide_far_keys():
    return sliding_window_mask(SETTINGS["test_length"], SETTINGS["sees"], causal=True)


def _turn_otherwise(trained, make, seed) -> list[dict]:
    """Accuracy before and while the trained model is fine-tuned on long sequences, with each way to turn."""
    results = []
    head = looking_head(trained, make)
    for way, tested in TUNING.items():
        model = _copied(trained, way)
        generator = torch.Generator().manual_seed(seed + 100)
        optimizer = torch.optim.AdamW(model.parameters(), lr=SETTINGS["tuning_lr"])
        for step in range(max(tested) + 1):
            if step in tested:
                result = {"way": way, "seed": seed, "steps": step, "accuracy": lengths.score(model, make)["accuracy"]}
                if step == 0:
                    result["looks_back"] = _by_distance(model, make, head, SETTINGS["queries"][0]).argmax().item()
                results.append(result)
                print(way, seed, step, flush=True)
            loss = lengths.lookback_loss(model, make(SETTINGS["tuning_batch"], SETTINGS["test_length"], generator))
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
    return results


def _copied(trained, way) -> CausalLanguageModel:
    """The trained model with other turns."""
    return _with_attention(trained, Turning(_frequencies(way)))


def _clipped(trained) -> CausalLanguageModel:
    """The trained model, in which no distance is longer than the longest of the training."""
    return _with_attention(trained, Clipped(_frequencies("as trained"), SETTINGS["train_length"] - 1)).eval()


def _frequencies(way):
    return frequencies(way, SETTINGS["d_model"] // SETTINGS["n_heads"], SETTINGS["train_length"], SETTINGS["factor"])


def _with_attention(trained, attention) -> CausalLanguageModel:
    """RoPE has no parameters, so all weights fit."""
    sizes = [SETTINGS[name] for name in ("d_model", "n_heads", "n_layers")]
    model = CausalLanguageModel(SETTINGS["n_symbols"] + 1, *sizes, attention=attention)
    model.load_state_dict(trained.state_dict())
    return model


def _untrained_distances(model, make, seed) -> list[dict]:
    """At which distance that was never trained the head that looks back puts most of its weight."""
    head, length = looking_head(model, make), SETTINGS["train_length"]
    results = []
    for query in SETTINGS["queries"]:
        far = _by_distance(model, make, head, query)[length:]
        result = {"seed": seed, "query": query, "distance": far.argmax().item() + length, "weight": far.max().item()}
        results.append(result | {"weight": round(result["weight"], 4)})
    return results


def _scores(model, make) -> dict:
    """Of the head that looks back: how strong its pairs are, and its mean score at each distance."""
    generator = torch.Generator().manual_seed(SETTINGS["test_seed"])
    symbols = make(SETTINGS["test_examples"], SETTINGS["train_length"], generator).symbols
    strength, score = score_by_distance(model, symbols, looking_head(model, make), SETTINGS["test_length"])
    rounded = [[round(number, 3) for number in numbers.tolist()] for numbers in (strength, score)]
    return dict(zip(("strength", "score"), rounded, strict=True))


@torch.no_grad()
def score_by_distance(model, symbols, head, n_distances):
    """A head's mean score as the sum of one cosine a pair: the cosines' strengths `(d_head / 2,)`, and the sum.

    Queries and keys are taken before they are turned. Each pair of features is a complex number, which RoPE turns.
    """
    layer, head = divmod(head, SETTINGS["n_heads"])
    seen = []
    mechanism = model.blocks[layer].attention.attention
    hook = mechanism.register_forward_pre_hook(lambda module, inputs: seen.extend(inputs[:2]))
    model(symbols)
    hook.remove()
    query, key = (torch.complex(tokens[:, head, 1:, 0::2], tokens[:, head, 1:, 1::2]).mean((0, 1)) for tokens in seen)
    pair = query * key.conj() / math.sqrt(2 * len(query))
    angle = torch.arange(n_distances)[:, None] * _frequencies("as trained")
    return pair.abs(), (pair * torch.polar(torch.ones_like(angle), angle)).real.sum(1)


def looking_head(model, make) -> int:
    """Which head, counted through the layers, puts most weight on the gold within the trained length."""
    gold = _heads(model, make).diagonal(-SETTINGS["distance"], dim1=-2, dim2=-1)
    within = slice(1, SETTINGS["train_length"] - SETTINGS["distance"])
    return gold[..., within].mean((0, 2)).argmax().item()


def _by_distance(model, make, head, query):
    """Mean weights of a query on the keys before it by distance, from 0, the start symbol left out."""
    return _heads(model, make)[:, head, query, 1 : query + 1].flip(-1).mean(0)


@torch.no_grad()
def _heads(model, make):
    generator = torch.Generator().manual_seed(SETTINGS["test_seed"])
    symbols = make(SETTINGS["head_examples"], SETTINGS["test_length"], generator).symbols
    return torch.cat(model(symbols, need_weights=True)[1], dim=1)
