"""Explanations of measured figures: documents under `specs/explanations/`, predicted again, solved and ranked."""
