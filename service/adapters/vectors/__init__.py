"""Vector indexes: exact in memory, Chroma on disk, and what keeps them equal to SQL."""
