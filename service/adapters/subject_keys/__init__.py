"""The keys of users, in a small file of their own beside the signing keys."""
