"""Which chapters keep to the form of a lesson, until all do."""

IN_THE_NEW_FORM: set[str] = {"primer"}  # lessons: one sitting, one question
FURTHER: set[str] = {"memory"}  # further pages of lessons: proofs, derivations, sweeps
