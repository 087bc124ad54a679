"""Luong's decoder on sorting, given the summary or what the last step found as well (`one_vector_enough`)."""

import bottleneck_lengths
import torch
from torch import nn

from attention_course import tasks
from attention_course.course import training
from attention_course.seq2seq_rnn import GRUEncoderDecoder

SETTINGS = bottleneck_lengths.LENGTHS["sorting"] | bottleneck_lengths.COMMON | {"score": "concat", "test_lengths": [10]}
EXTRAS = ["summary", "feeding"]
SEEDS = [0, 1, 2]


def run() -> dict:
    """Train both decoders with every seed; `{"settings": ..., "results": ...}`."""
    results = []
    for extra in EXTRAS:
        for seed in SEEDS:
            result = {"extra": extra, "seed": seed, "symbols": _train_and_test(SETTINGS, extra, seed)}
            print(result, flush=True)
            results.append(result)
    return {"settings": SETTINGS, "results": results}


class LuongWriter(GRUEncoderDecoder):
    """Luong's decoder, whose step takes one more vector beside the letter."""

    def __init__(self, n_symbols: int, d: int, score: str, extra: str):
        super().__init__(n_symbols, d, score)
        self.extra = extra
        self.decoder = nn.GRUCell(2 * d, d)

    def forward(self, source, target=None):
        states, summary, state = self.encode(source)
        state, summary = state[0], summary[:, 0]
        hidden = torch.zeros_like(state)
        previous = torch.full_like(source[:, 0], self.start_symbol)
        logits, weights = [], []
        for i in range(source.size(1)):
            found = summary if self.extra == "summary" else hidden
            state = self.decoder(torch.cat([self.embedding(previous), found], -1), state)
            context, looked = self.attention(state[:, None], states, states)
            hidden = self.readout(torch.cat([state, context[:, 0]], -1)).tanh()
            logits.append(self.lm_head(hidden))
            weights.append(looked[:, 0])
            previous = logits[-1].argmax(-1) if target is None else target[:, i]
        return torch.stack(logits, 1), torch.stack(weights, 1)


def _train_and_test(settings: dict, extra: str, seed: int) -> list[float]:
    """The share of symbols right, a number for each test length."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    n_symbols, steps = settings["n_symbols"], settings["steps"]
    model = LuongWriter(n_symbols, settings["d_hidden"], settings["score"], extra)
    shortest, longest = settings["train_lengths"]

    def next_batch():
        length = int(torch.randint(shortest, longest + 1, (1,), generator=generator))
        return tasks.sorting(settings["batch"], length, n_symbols, generator)

    training.train(model, next_batch, training.sequence_loss, steps=steps, peak_lr=settings["peak_lr"], every=steps)
    shares = []
    for length in settings["test_lengths"]:
        unseen = tasks.sorting(
            settings["test_examples"], length, n_symbols, torch.Generator().manual_seed(settings["test_seed"])
        )
        with torch.no_grad():
            written = model(unseen.source)[0].argmax(-1)
        shares.append(round(training.accuracy(written, unseen.target)["symbols"], 4))
    return shares
