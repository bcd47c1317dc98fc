"""Cases asked backwards: the unknown from a target, crossings of two regimes, and how much each parameter weighs (see `api.py`)."""
