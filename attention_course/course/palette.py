"""The colours of the course: the same in diagrams, plots and explorers."""

# Okabe & Ito's colours, told apart by people with every kind of colour vision. Yellow and
# light blue are left out: they vanish on a white page.
BLUE = "#0072B2"
ORANGE = "#D55E00"
GREEN = "#009E73"
PINK = "#CC79A7"
BLACK = "#000000"

NAVY = "#08264f"

# From weight 0, the page, to weight 1.
WEIGHTS = ["#ffffff", BLUE, NAVY]

# The same colours where the page is dark.
ON_DARK = {BLUE: "#4b9fdb", ORANGE: "#f08a45", GREEN: "#3fc59b"}
