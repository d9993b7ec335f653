"""SQL storage: SQLAlchemy Core over SQLite, one writer thread, readers beside it."""
