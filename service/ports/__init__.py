"""What the use cases need from the outside, as protocols: one module per capability."""
