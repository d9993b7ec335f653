"""Optional helpers that propose facts; the gate decides about them as about all others."""
