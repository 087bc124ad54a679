from attention_course.exercises.one_head import decode

WRONG = {
    "one_head.decode": {
        "share of four fifths": lambda blends, share: decode(blends, 0.8),
        "counted from 1": lambda blends, share: tuple(letter + 1 for letter in decode(blends, share)),
        "two largest": lambda blends, share: blends.topk(2, dim=-1).indices.unbind(-1),
    },
}

RIGHT = {
    "one_head.decode": {
        "smallest above zero": lambda blends, share: (
            blends.argmax(-1),
            blends.masked_fill(blends < 1e-6, 2.0).argmin(-1),
        ),
        "the share that is left": lambda blends, share: (
            blends.argmax(-1),
            (blends - share * (blends == blends.amax(-1, keepdim=True)).float()).argmax(-1),
        ),
    },
}
