"""Groundkeeper checks a fact before an AI is allowed to remember it."""

__version__ = "0.1.0"
