"""What can be found, most serious first, and the lesson that explains it."""

from dataclasses import dataclass, field

LESSONS = {
    "dropout_in_eval": "scores#dropout-on-the-weights",
    "softmax_axis": "scaled_dot_product#break-it-the-softmax-of-the-columns",
    "heads_cut": "one_head#break-it-one-reshape-for-both-steps",
    "rows_do_not_sum_to_1": "mask_numbers#after-the-softmax-is-too-late",
    "batch_mixes": "troubleshooting#who-has-a-say",
    "mask_no_effect": "masking#build-it",
    "tokens_alone": "troubleshooting#who-has-a-say",
    "mask_inverted": "mask_numbers#what-does-true-mean",
    "mask_axis": "masking#build-it",
    "hidden_keys": "masking#padding-must-not-matter",
    "future": "masking#break-it-find-the-leak",
    "mask_corner": "mask_numbers#which-corner",
    "nan_output": "mask_numbers#a-query-with-nothing-to-see",
    "nan_gradient": "mask_numbers#nan-does-not-stay-where-it-is",
    "overflow": "flash#the-formula",
    "positions_restart": "relative#break-it-a-cache-that-forgets-to-count",
    "cache": "recipes#does-my-cache-change-my-logits",
    "remembers": "troubleshooting#who-has-a-say",
    "unequal_lengths": "cross_attention#break-it-one-length-for-two-sequences",
    "scale": "scale#where-the-argument-ends",
    "no_gradient": "troubleshooting#one-backward-pass",
    "writes_arguments": "diagnose#on-your-own-file",
    "half_precision": "mask_numbers#what-float16-does-with-a-billion",
    "autocast": "mask_numbers#what-float16-does-with-a-billion",
}
ORDER = list(LESSONS)


@dataclass(frozen=True)
class Finding:
    """Something that is wrong, or a note.

    Attributes:
        name: One of `ORDER`.
        sentence: What was seen, with the number measured.
        shown: The smallest input that was found to show it, in words.
        inputs: That input: the sequence, or query, key and value, as the attention takes them; for `overflow`, before
            they are multiplied by a hundred.
        note: Whether it is only worth knowing: what was meant cannot be told from inputs.
    """

    name: str
    sentence: str
    shown: str = ""
    inputs: tuple = field(default=(), compare=False, repr=False)
    note: bool = False

    @property
    def lesson(self) -> str:
        """The page that explains it."""
        return LESSONS[self.name]
