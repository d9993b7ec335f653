"""Closed word classes that the rules refer to; each module is data with a sentence of reason."""
