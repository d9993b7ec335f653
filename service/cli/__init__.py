"""The command line; ``app`` has the commands of the service, other modules those of one subject."""

from service.cli.app import main

__all__ = ["main"]
