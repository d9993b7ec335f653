"""Signed checkpoints: their store on disk, and the thread that signs."""
