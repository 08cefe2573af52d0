"""Drive coding agents through blemeesd. Standard library only."""

from .client import Client, Session, Turn
from .transport import BlemeesError, find_socket

__all__ = ["BlemeesError", "Client", "Session", "Turn", "find_socket"]
