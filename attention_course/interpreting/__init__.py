"""What trained models do, and how one finds out: maps, gradients, heads, and what happens without them."""
