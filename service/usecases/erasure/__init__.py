"""Erasure: a plan, its confirmation, what has to be done behind the transaction, and the guard."""
