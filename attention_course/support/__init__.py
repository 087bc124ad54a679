"""What several rooms need: checks of arguments, 16-bit arithmetic, arrays for drawing, names of version 0.1."""
