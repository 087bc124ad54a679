"""Which chapters keep to the form of a lesson, until all do."""

IN_THE_NEW_FORM: set[str] = {"primer", "scaled_dot_product"}  # lessons: one sitting, one question
FURTHER: set[str] = {"memory", "scale"}  # further pages of lessons: proofs, derivations, sweeps
