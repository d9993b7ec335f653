"""Alembic migrations; run in-process by service.adapters.db.migrate."""
