"""Which chapters keep to the form of a lesson, until all do."""

# Lessons: one sitting, one question.
IN_THE_NEW_FORM: set[str] = {
    "bottleneck",
    "interpretability",
    "language_model",
    "masking",
    "multi_head",
    "positions",
    "primer",
    "scaled_dot_product",
    "self_attention",
    "theory",
    "transformer",
}
# Further pages of lessons: proofs, derivations, sweeps.
FURTHER: set[str] = {
    "cache",
    "circuits",
    "depth",
    "forward_pass",
    "generation",
    "length",
    "limits",
    "mask_numbers",
    "memory",
    "modern_block",
    "one_head",
    "order",
    "own_model",
    "rank",
    "recurrence",
    "relative",
    "scale",
    "scores",
    "shared_heads",
    "speculative",
    "three_matrices",
}
