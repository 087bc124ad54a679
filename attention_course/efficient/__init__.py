"""Attention for long sequences: one mechanism a file, on `(batch, heads, tokens, d_head)`."""
