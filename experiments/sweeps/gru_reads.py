"""How far back a recurrent network of the front page model's size profits from what it reads."""

import ladder as sweep
from language_model import READ, bits_after

SETTINGS = sweep.LONGER | {"peak_lr": 0.003}  # the best of its rates in the ladder's record


def run() -> dict:
    """Bits by the letters that it may read, once it is trained as long as the front page's model."""
    model, _ = sweep.longer_rival(SETTINGS["peak_lr"])
    results = [{"letters": n, "bits": round(bits_after(model.eval(), n), 4)} for n in READ["letters"]]
    return {"settings": SETTINGS | {"read": READ}, "results": results}
