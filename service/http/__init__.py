"""The HTTP layer: thin routes over the use cases."""
