"""Real servers: what this machine can run, and clusters of containers or of the user's own servers."""

from aglab.live.doctor import examine

__all__ = ["examine"]
