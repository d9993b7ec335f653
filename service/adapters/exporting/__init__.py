"""The audit log as files that can be read and verified without this service."""
