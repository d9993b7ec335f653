"""Keys on disk."""
