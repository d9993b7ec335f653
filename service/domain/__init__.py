"""The pure core: what facts, clauses, signals and verdicts are; no I/O, no clock, no framework."""
