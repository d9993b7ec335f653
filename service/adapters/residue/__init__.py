"""Looking for what is left of erased texts in the bytes of our files."""
