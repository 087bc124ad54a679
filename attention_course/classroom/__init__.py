"""For instructors: exercises turned round, notebooks to hand out, and marks for what comes back."""
