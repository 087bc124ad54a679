"""The colours of the course: the same in diagrams, plots and explorers."""

# Okabe & Ito's colours, told apart by people with every kind of colour vision. Yellow and
# light blue are left out: they vanish on a white page.
BLUE = "#0072B2"
ORANGE = "#D55E00"
GREEN = "#009E73"
PINK = "#CC79A7"
BLACK = "#000000"
