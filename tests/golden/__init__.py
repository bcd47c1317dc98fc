"""Golden cases: published figures (`cases.yaml`), how the product gives them (`adapters`), and those it does not (`skipped.yaml`)."""
