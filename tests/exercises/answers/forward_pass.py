import torch

from attention_course.exercises.forward_pass import sick_sentences

WRONG = {
    "forward_pass.sick_sentences": {
        "the first token": lambda output: output[:, 0].isnan().any(-1),
        "the last token": lambda output: output[:, -1].isnan().any(-1),
        "the first feature": lambda output: output[:-1, :, :1].isnan().flatten(1).any(-1),
        "a count": lambda output: output.isnan().flatten(1).sum(-1),
        "one for the batch": lambda output: output.isnan().any(),
        "none": lambda output: torch.zeros(len(output), dtype=torch.bool),
        "the mean": lambda output: ~output.mean((1, 2)).isfinite(),
    },
}

RIGHT = {
    "forward_pass.sick_sentences": {
        "not equal to itself": lambda output: (output != output).any(-1).any(-1),
        "the sum of a sentence without infinities": lambda output: (
            output.nan_to_num(nan=torch.nan, posinf=0, neginf=0).sum((1, 2)).isnan()
        ),
        "a list of booleans": lambda output: torch.tensor([bool(sick) for sick in sick_sentences(output)]),
    },
}
