"""Where a node listens: all that whoever looks for a twin has to know, without the engine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NodeInfo:
    """Where a node listens."""

    name: str
    host: str
    port: int
    role: str = ""

    @property
    def server(self) -> str:
        """As a connection string wants it."""
        return f"{self.host},{self.port}"

    @property
    def connection_string(self) -> str:
        """For mssql-python and ODBC, without the password."""
        return f"Server={self.server};UID=sa;TrustServerCertificate=yes;Encrypt=yes"
