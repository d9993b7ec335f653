"""What is copied into every export: a script for the auditor, and the template of its guide."""
