import numpy as np
import torch
from reading import drawn, texts

from attention_course import tasks
from attention_course.diagrams.vision import picture_tokens
from attention_course.embeddings import ImagePatches


def test_the_rows_are_the_patches_that_the_package_makes_tokens_of():
    image = tasks.handwritten_digits()[1].images[0]
    picture = picture_tokens(image, 2, 5, chosen=7)
    shown = drawn(picture)
    np.testing.assert_allclose(shown["picture"], image, atol=1e-3)
    embed = ImagePatches(2, 6)
    rows = torch.tensor(shown["sequence"], dtype=torch.float32)
    torch.testing.assert_close(embed.proj(rows), embed(image[None])[0], atol=1e-3, rtol=1e-3)
    for number in range(16):
        np.testing.assert_allclose(shown[f"patch {number + 1}"].flatten(), shown["sequence"][number], atol=1e-4)
    np.testing.assert_allclose(shown["patch 7"], image[2:4, 4:6], atol=1e-3)


def test_words_and_frames_follow_the_chosen_patch():
    picture = picture_tokens(torch.zeros(8, 8), 2, 0, chosen=12)
    assert "row 3 and column 4" in picture.alt and picture.svg.count('class="course-frame"') == 3
    assert "plus one for patches in column 4" in texts(picture)
    assert "16 patches" in texts(picture) and "8 × 8 pixels" in texts(picture)
