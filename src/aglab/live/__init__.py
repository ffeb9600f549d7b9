"""Real servers: what this machine can run, and clusters of containers or of the user's own servers."""

from aglab.live.doctor import examine
from aglab.live.modes import open_cluster

__all__ = ["examine", "open_cluster"]
