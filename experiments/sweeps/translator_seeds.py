"""Ten translators that differ in the seed alone: what a beam finds, and what their weights show, for two pages."""

import itertools
import time
from functools import partial

import torch

from attention_course.course import training
from attention_course.course.checkpoints import make_translator
from attention_course.decoding import beam_search, cut_after
from attention_course.tasks import translation
from attention_course.tasks.sequences import SequencePairs

SETTINGS = {
    "d_model": 64,
    "n_heads": 4,
    "n_layers": 2,
    "batch": 64,
    "steps": 300,
    "searched_at": [100, 300],
    "every": 100,
    "peak_lr": 0.003,
    "test_sentences": 200,
    "widths": [1, 2, 4, 8, 16],
    "searched_whole": 100,
    "test_seed": 1000,
    "seeds": list(range(10)),
}
KINDS = {
    "determiner": [*itertools.chain(*translation.DETERMINERS.values()), "de", "d'"],
    "size": list(itertools.chain(*translation.SIZES.values())),
    "noun": [form for noun in translation.NOUNS for form in noun[2:4]],
    "colour": list(itertools.chain(*translation.COLOURS.values())),
    "verb": [form for verb in translation.VERBS for form in verb[2:]],
    "ne": ["ne", "n'"],
    "pas, jamais": ["pas", "jamais"],
    "adverb": list(translation.ADVERBS.values()),
}
ENDINGS = ["the tree.", "my small house.", "a big red boat.", "these white stars."]
NOUNS = [(a, b) for a in ("cat", "dog", "horse") for b in ("mouse", "cow", "ant")]  # masculine and feminine
VERBS = [("sees", "loves"), ("follows", "avoids"), ("finds", "hears")]  # French: with a consonant, with a vowel
PAD, END, N_TARGET = translation.PAD, translation.END, translation.N_TARGET


def run() -> dict:
    """Train and measure each; `{"settings": ..., "results": ...}`, one result a seed."""
    return {"settings": SETTINGS, "results": [_one_seed(seed) for seed in SETTINGS["seeds"]]}


def _one_seed(seed: int) -> dict:
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = make_translator(SETTINGS)
    test = torch.Generator().manual_seed(SETTINGS["test_seed"])
    held_out = translation.translation_pairs(SETTINGS["test_sentences"], test)
    counter = itertools.count(0, SETTINGS["every"])
    searched, likeliest_found = {}, {}
    start = time.perf_counter()

    def look(model) -> dict[str, float]:
        step = next(counter)
        if step in SETTINGS["searched_at"]:
            searched[str(step)] = search_results(model, held_out, SETTINGS["widths"])
            few = held_out[: SETTINGS["searched_whole"]]
            likeliest_found[str(step)] = likeliest_results(model, few, max(SETTINGS["widths"]))
        return {}

    training.train(
        model,
        lambda: translation.translation_pairs(SETTINGS["batch"], generator),
        partial(training.sequence_loss, pad=PAD),
        steps=SETTINGS["steps"],
        peak_lr=SETTINGS["peak_lr"],
        evaluate=look,
        every=SETTINGS["every"],
    )
    result = {
        "seed": seed,
        "search": searched,
        "likeliest": likeliest_found,
        "weights": weight_results(model, held_out),
        "patched": patch_results(model),
        "threads": torch.get_num_threads(),
        "seconds": round(time.perf_counter() - start, 1),
    }
    print(result, flush=True)
    return result


def search_results(model, pairs: SequencePairs, widths: list[int]) -> list[dict]:
    """For each width: how many sentences a beam gets right, how likely it finds them, and how many are too short.

    `divided` is for the same beam when the sentence with the largest log-probability a word is taken.
    """
    lengths = (pairs.target != PAD).sum(-1)
    results = []
    for width in widths:
        beams, scores = beam_search(model, pairs.source, N_TARGET, width=width, end=END, pad=PAD)
        per_word = scores / (beams != PAD).sum(-1)
        result = {"width": width}
        for name, best in (("as found", scores.argmax(1)), ("divided", per_word.argmax(1))):
            written = cut_after(beams[torch.arange(len(beams)), best], END, PAD)
            result[name] = {
                "exact": _share((written == pairs.target).all(-1)),
                "shorter": _share((written != PAD).sum(-1) < lengths),
                "log_p": round(scores.gather(1, best[:, None]).mean().item(), 4),
            }
        results.append(result)
    return results


def likeliest_results(model, pairs: SequencePairs, width: int) -> dict:
    """The same for the likeliest of all sentences, and how often a beam of this width has found that one."""
    beams, scores = beam_search(model, pairs.source, N_TARGET, width=width, end=END, pad=PAD)
    written, log_p = cut_after(beams[:, 0], END, PAD), scores[:, 0].clone()
    for row, source in enumerate(pairs.source):
        written[row], log_p[row] = likeliest(model, source, written[row], log_p[row].item())
    return {
        "sentences": len(pairs),
        "exact": _share((written == pairs.target).all(-1)),
        "shorter": _share((written != PAD).sum(-1) < (pairs.target != PAD).sum(-1)),
        "nothing": _share(written[:, 0] == END),
        "log_p": round(log_p.mean().item(), 4),
        "found by the beam": _share(log_p < scores[:, 0] + 1e-4),
    }


@torch.no_grad()
def likeliest(model, source: torch.Tensor, best: torch.Tensor, log_p: float) -> tuple[torch.Tensor, float]:
    """The likeliest of all translations of one source `(n_source,)`, up to `N_TARGET` words, and its log-probability.

    A beginning that is less likely than a whole sentence cannot become likelier: only the others are gone through, of
    which there are at most one over that sentence's probability at each length.
    """
    memory, mask = model.encode(source[None])
    begun, scores = torch.tensor([[model.start_symbol]]), torch.zeros(1)
    for _ in range(N_TARGET):
        n = len(begun)
        logits, _ = model.decode(begun, memory.expand(n, -1, -1), mask.expand(n, -1, -1, -1))
        totals = scores[:, None] + logits[:, -1].log_softmax(-1)
        ended = totals[:, END]
        if ended.max() > log_p + 1e-5:
            log_p = ended.max().item()
            best = torch.full_like(best, PAD)
            best[: begun.size(1)] = torch.cat([begun[ended.argmax(), 1:], torch.tensor([END])])
        totals[:, END] = -torch.inf
        row, symbol = (totals > log_p).nonzero(as_tuple=True)
        if not len(row):
            break
        begun, scores = torch.cat([begun[row], symbol[:, None]], dim=1), totals[row, symbol]
    return best, log_p


@torch.no_grad()
def weight_results(model, pairs: SequencePairs) -> dict:
    """Alignment errors of the mean maps and of heads, by kind of word, and where *ne* looks in the last layer."""
    _, weights = model(pairs.source, pairs.target, need_weights=True)
    words, last = pairs.gold.any(-1), weights[-1].mean(1)
    rows = _is_one_of(KINDS["ne"], pairs.target)
    verbs = _is_one_of([form for verb in translation.VERBS for form in verb[:2]], pairs.source)
    return {
        "layers": [_missed(layer.mean(1), pairs.gold, words) for layer in weights],
        "heads": [[_missed(head, pairs.gold, words) for head in layer.unbind(1)] for layer in weights],
        "kinds": {kind: _missed(last, pairs.gold, _is_one_of(some, pairs.target)) for kind, some in KINDS.items()},
        "ne on gold": round((last * pairs.gold)[rows].sum(-1).mean().item(), 4),
        "ne on the verb": round((last * verbs[:, None])[rows].sum(-1).mean().item(), 4),
    }


def patch_results(model) -> dict:
    """The shares of sentences whose next word turns when the memory of some places is exchanged, in some layers."""
    nouns = [[f"the {pair[side]} sees {ending}" for pair in NOUNS for ending in ENDINGS] for side in (0, 1)]
    verbs = [[f"the cat never {pair[side]} {ending}" for pair in VERBS for ending in ENDINGS] for side in (0, 1)]
    negations = [
        [f"the cat {word} {pair[0]} {ending}" for pair in VERBS for ending in ENDINGS] for word in ("never", "often")
    ]
    after_noun = ("le", "chat")
    experiments = {
        "article": (nouns, (), "la", {"the": [0], "noun": [1], "all but the noun": _all_but(1)}),
        "ne": (verbs, after_noun, "n'", {"never": [2], "verb": [3], "all but the verb": _all_but(3)}),
        "negation": (negations, after_noun, "ne", {"never": [2], "verb": [3]}),
    }
    results: dict = {}
    for name, ((before, after), prefix, word, places) in experiments.items():
        results[name] = {
            "none": _turned(model, before, after, [], prefix, word, (0, 1)),
            "weights": _weights_of_next(model, before, prefix, list(places.values())[:2]),
        }
        for place, positions in places.items():
            for title, layers in (("both", (0, 1)), ("layer 1", (0,)), ("layer 2", (1,))):
                share = _turned(model, before, after, positions, prefix, word, layers)
                results[name][f"{place}, {title}"] = share
    return results


def _all_but(place: int) -> list[int]:
    return [other for other in range(translation.N_SOURCE) if other != place]


@torch.no_grad()
def _turned(model, before, after, positions, prefix, word, layers) -> float:
    (memory, mask), (other, _) = _encode(model, before), _encode(model, after)
    mixed = memory.clone()
    mixed[:, positions] = other[:, positions]
    hooks = [
        model.decoder.blocks[layer].register_forward_pre_hook(lambda _, inputs: (inputs[0], mixed, *inputs[2:]))
        for layer in layers
    ]
    logits, _ = model.decode(_begun(model, prefix, len(memory)), memory, mask)
    for hook in hooks:
        hook.remove()
    return _share(logits[:, -1].argmax(-1) == translation.IDS[word])


@torch.no_grad()
def _weights_of_next(model, before, prefix, places) -> list[list[float]]:
    """The mean over heads and sentences of the weight that the next word gives to places, a row a layer."""
    memory, mask = _encode(model, before)
    _, weights = model.decode(_begun(model, prefix, len(memory)), memory, mask, need_weights=True)
    rows = [layer[:, :, -1].mean((0, 1)) for layer in weights]
    return [[round(row[positions].sum().item(), 4) for positions in places] for row in rows]


def _encode(model, sentences):
    return model.encode(torch.cat([translation.from_text(sentence) for sentence in sentences]))


def _begun(model, prefix, n):
    begun = torch.tensor([model.start_symbol, *(translation.IDS[word] for word in prefix)])
    return begun.expand(n, -1)


def _is_one_of(words: list[str], symbols: torch.Tensor) -> torch.Tensor:
    return torch.isin(symbols, torch.tensor([translation.IDS[word] for word in words]))


def _missed(weights, gold, rows) -> float:
    return round(training.alignment_error(weights[rows], gold[rows]), 4)


def _share(condition: torch.Tensor) -> float:
    return round(condition.float().mean().item(), 4)
