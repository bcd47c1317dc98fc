"""`costmodel report`: a study as one interactive HTML file, whose numbers come from the solver's formulas as JavaScript."""
