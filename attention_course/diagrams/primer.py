"""The diagram of the primer: one training loop, as a circle."""

import torch.nn.functional as F
from torch import Tensor, nn

from attention_course.diagrams.diagram import Diagram


def training_loop(embedding: nn.Embedding, to_logits: nn.Linear, letter: Tensor, follower: Tensor, names: str):
    """One turn of the loop, with the numbers of a model on one letter.

    Args:
        embedding: Of the letters, of at most 20 numbers each.
        to_logits: From a letter's numbers to a score for each letter.
        letter: What the model reads, an integer `()`.
        follower: The letter that comes next, an integer `()`.
        names: A sign for each letter.
    """
    vector = embedding(letter).detach()
    logits = to_logits(vector).detach()
    loss = F.cross_entropy(logits, follower).item()
    read, right = names[letter], names[follower]
    picture = Diagram(
        f"One turn of a training loop, drawn as a circle. The letter {read} becomes an embedding, a row of "
        f"{len(vector)} numbers; the embedding becomes {len(logits)} logits, a score for each possible next letter; "
        f"compared with the right letter, {right}, they give a loss of {loss:.2f}; its gradient says how the loss "
        "changes with every parameter; a small step changes the parameters, and the next turn begins.",
        height=372,
    )
    picture.text(110, 18, f"the letter {read}", anchor="end", quiet=True)
    picture.arrow((114, 18), (160, 40))
    row = picture.tensor(164, 34, vector, name="embedding", cell=(152 / len(vector), 26))
    picture.text(240, 18, "1. embedding", anchor="middle", bold=True)
    scores = picture.tensor(270, 148, logits, name="logits", cell=(202 / len(logits), 26))
    picture.text(372, 132, "2. logits", anchor="middle", bold=True)
    picture.text(371, 190, "one for each letter", anchor="middle", quiet=True)
    cost = picture.box(280, 268, 176, 68, f"3. loss: {loss:.2f}\nthe next letter is {right}", tone="key")
    slope = picture.box(24, 268, 176, 68, "4. gradient:\nwhich way is worse?", tone="value")
    step = picture.box(14, 130, 186, 68, "5. step: all parameters\na little the other way", tone="query")
    picture.arrow((row.right[0] + 6, row.right[1]), (372, row.right[1]), (372, 120))
    picture.arrow((scores.bottom[0], 204), (scores.bottom[0], cost.y - 4))
    picture.arrow((cost.x - 4, cost.left[1]), (slope.x + slope.width + 4, slope.left[1]))
    picture.arrow((slope.top[0], slope.y - 4), (slope.top[0], step.y + step.height + 4))
    picture.arrow((step.top[0], step.y - 4), (step.top[0], 52), (158, 52))
    picture.text(240, 356, "and again, some thousand times", anchor="middle", quiet=True)
    return picture
