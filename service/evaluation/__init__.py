"""Measures the gate on cases and public data sets; see ``docs/evaluation.md``."""
