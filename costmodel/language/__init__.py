"""The spec language: YAML with marks, quantities and units, formulas, and problems that point at the user's line."""
