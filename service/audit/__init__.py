"""The format of the audit log and its verification; needs only the standard library and rfc8785.

Nothing here imports the rest of the service: the package can be handed to an auditor alone.
"""
