"""Exercises of pages that were dissolved: on no page any more, and found until 0.3 by notebooks that name them."""
