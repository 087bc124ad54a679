"""What the pages do besides attention: set up, claim, train, plot, measure, and load what was recorded."""
