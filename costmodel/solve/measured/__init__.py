"""Measurements against predictions: which case a measured run is, what is predicted for it, and the fit of coefficients."""
