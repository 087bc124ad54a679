"""Where SmolLM2's heads look: at the token before, and at the first token."""

from _models import Models, head_scores, rounded, untrained
from _texts import ordinary, pieces, shuffled

from attention_course.course.checkpoints import load_character_model
from attention_course.interpreting.circuits import previous_token_score, sink_score, uniform_causal_weights

LENGTH = 64


def second_token(weights):
    """Mean weight that the queries of the second half give to the second token."""
    return weights[..., weights.size(-1) // 2 :, 1].mean(-1)


def run(models: Models) -> dict:
    """Both findings on the same pieces."""
    model, uniform = models.model, uniform_causal_weights(LENGTH)
    chosen_on, texts = pieces(models.encode, LENGTH)
    (chosen,) = head_scores(model, chosen_on, previous_token_score)
    block, head = divmod(chosen.argmax().item(), chosen.size(1))
    previous, sinks, second = head_scores(model, texts, previous_token_score, sink_score, second_token)
    (out_of_order,) = head_scores(model, shuffled(texts), previous_token_score)
    (random,) = head_scores(untrained(model), texts, previous_token_score)
    exchanged = texts.clone()
    exchanged[:, 0] = ordinary(len(texts), seed=1)
    (sinks_exchanged,) = head_scores(model, exchanged, sink_score)
    small, characters = load_character_model()
    known = {character: symbol for symbol, character in enumerate(characters)}  # of the Python that trained it
    _, of_characters = pieces(lambda text: [known[one] for one in text if one in known], LENGTH)
    (small_sinks,) = head_scores(small, of_characters, sink_score)
    return {
        "previous_token": {
            "best": previous[block, head].item(),
            "block": block,
            "head": head,
            "n_heads": (previous >= 0.5).sum().item(),
            "untrained": random.max().item(),
            "uniform": previous_token_score(uniform).item(),
            "shuffled": out_of_order[block, head].item(),
            "scores": rounded(previous),
        },
        "sinks": {
            "share": (sinks >= 0.5).float().mean().item(),
            "mean": sinks.mean().item(),
            "exchanged": sinks_exchanged.mean().item(),
            "second": second.mean().item(),
            "uniform": sink_score(uniform).item(),
            "small": (small_sinks >= 0.5).float().mean().item(),
            "scores": rounded(sinks),
        },
    }
