"""The instructors' program: notebooks to hand out, and marks for what comes back."""
