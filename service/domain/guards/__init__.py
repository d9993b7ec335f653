"""The guards of the gate: each can veto a STORE, none can cause one.

Every guard is a pure function from analysed text to a named finding; ``decide`` alone turns
findings into a verdict.
"""
