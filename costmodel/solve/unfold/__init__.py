"""A figure unfolded into its formula, values and the places that these come from; two cases held against each other."""
