import numpy as np
import torch
from reading import drawn, texts

from attention_course import MultiHeadAttention
from attention_course.diagrams.tables import table_tokens


def test_both_ways_show_the_layer_s_weights():
    torch.manual_seed(0)
    layer = MultiHeadAttention(8, 1)
    with torch.no_grad():
        _, one = layer(torch.randn(1, 1, 8), need_weights=True)
        _, several = layer(torch.randn(1, 4, 8), need_weights=True)
    columns, row = ["sepal length", "sepal width", "petal length", "petal width"], torch.tensor([5.1, 3.5, 1.4, 0.2])
    picture = table_tokens(columns, row, one[0, 0], several[0, 0])
    shown = drawn(picture)
    assert shown["one"].tolist() == [[1.0]]
    np.testing.assert_allclose(shown["several"], several[0, 0], rtol=1e-3)
    np.testing.assert_allclose(shown["row"][0], row, rtol=1e-3)
    assert [shown[name].item() for name in columns] == [round(number, 4) for number in row.tolist()]
    assert "sepal length 5.1" in picture.alt and "16 weights" in picture.alt
    assert texts(picture).count("sl") == 2  # it asks, and is asked
