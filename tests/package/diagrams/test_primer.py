import numpy as np
import torch
import torch.nn.functional as F
from reading import drawn, texts
from torch import nn

from attention_course import diagrams


def test_the_loop_shows_what_the_model_computes():
    torch.manual_seed(0)
    embedding, to_logits = nn.Embedding(5, 4), nn.Linear(4, 5)
    picture = diagrams.training_loop(embedding, to_logits, torch.tensor(2), torch.tensor(3), "abcde")
    vector = embedding.weight[2]
    logits = to_logits.weight @ vector + to_logits.bias
    shown = drawn(picture)
    np.testing.assert_allclose(shown["embedding"][0], vector.detach(), rtol=1e-3)
    np.testing.assert_allclose(shown["logits"][0], logits.detach(), rtol=1e-3)
    loss = F.cross_entropy(logits[None], torch.tensor([3])).item()
    assert f"3. loss: {loss:.2f}" in texts(picture) and "the next letter is d" in texts(picture)
    assert f"{loss:.2f}" in picture.alt and "the letter c" in texts(picture)
