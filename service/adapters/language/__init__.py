"""English through spaCy, with numbers, units and dates through libraries made for them."""
