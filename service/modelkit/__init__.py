"""Tools around the models: train the head, export others, list and verify. Not used by requests."""
