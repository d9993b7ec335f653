"""Backups on disk: copies of the database in which everything personal is encrypted."""
