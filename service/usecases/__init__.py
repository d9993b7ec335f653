"""One module per verb; each opens at most one unit of work."""
