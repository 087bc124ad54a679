"""What can be found, most serious first, and the lesson that explains it."""

from typing import NamedTuple

SITE = "chapters"
LESSONS = {
    "dropout_in_eval": "scaled_dot_product#dropout-on-the-weights",
    "batch_mixes": "troubleshooting",
    "softmax_axis": "recipes#is-my-softmax-over-the-wrong-axis",
    "heads_cut": "multi_head#break-it-one-reshape-for-both-steps",
    "rows_do_not_sum_to_1": "scaled_dot_product",
    "mask_no_effect": "masking",
    "mask_inverted": "masking#two-polarities-three-conventions",
    "mask_axis": "masking#padding-must-not-matter",
    "hidden_keys": "mask_numbers",
    "future": "masking#break-it-find-the-leak",
    "mask_corner": "masking#which-corner",
    "nan_output": "mask_numbers#a-query-with-nothing-to-see",
    "nan_gradient": "mask_numbers#a-query-with-nothing-to-see",
    "positions_restart": "positions",
    "cache": "cache",
    "remembers": "cache",
    "scale": "scale",
    "no_gradient": "three_matrices",
    "writes_arguments": "recipes",
    "half_precision": "mask_numbers#what-float16-does-with-a-billion",
    "autocast": "mask_numbers",
}
ORDER = list(LESSONS)


class Finding(NamedTuple):
    """Something that is wrong, or a note.

    Attributes:
        name: One of `ORDER`.
        sentence: What was seen, with the number measured.
        shown: The smallest input that was found to show it.
        note: Whether it is only worth knowing: what was meant cannot be told from inputs.
    """

    name: str
    sentence: str
    shown: str = ""
    note: bool = False

    @property
    def lesson(self) -> str:
        """The page that explains it."""
        return LESSONS[self.name]
