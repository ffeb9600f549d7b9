"""What Docker, an image or a node says when it does not work, as a cause and a remedy.

Texts are those of Docker Engine, Compose and SQL Server's errorlog, matched by the words that have stayed the same between
versions. What is not in the table is passed on as it was said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from aglab.core.errors import AglabError, MissingError, UsageError

TWIN = "the twin needs none of it (--mode twin)"

# words of the engine, Compose or a container -> kind of error, cause, remedy
_CAUSES: tuple[tuple[str, type[AglabError], str, str], ...] = (
    (
        r"permission denied while trying to connect|dial unix \S+: connect: permission denied",
        MissingError,
        "you may not use the Docker Engine",
        f"add yourself to group docker (sudo usermod -aG docker $USER, then log in again); {TWIN}",
    ),
    (
        r"Cannot connect to the Docker daemon|error during connect|docker daemon is not running|dockerDesktopLinuxEngine",
        MissingError,
        "the Docker Engine does not answer",
        f"start it (Docker Desktop, or sudo systemctl start docker); {TWIN}",
    ),
    (
        r"'compose' is not a docker command|unknown shorthand flag: 'f' in -f|unknown docker command: \"compose",
        MissingError,
        "Docker has no Compose plugin",
        "install docker-compose-plugin (Compose 2.20 or later)",
    ),
    (
        r"no matching manifest for|does not match the (?:detected host|specified) platform",
        MissingError,
        "the image does not exist for this machine's processor (SQL Server has none for ARM)",
        "use the twin (--mode twin); Docker Desktop on Apple Silicon can emulate x86-64",
    ),
    (
        r"manifest unknown|manifest for \S+ not found|pull access denied|repository does not exist|No such image",
        MissingError,
        "the image is not there and the registry does not have it under that name",
        "check AGLAB_SQL_IMAGE (docker/compose.yaml names the default)",
    ),
    (
        r"no such host|TLS handshake timeout|i/o timeout|proxyconnect|connection refused.*registry|network is unreachable"
        r"|Temporary failure in name resolution|unexpected EOF|Client\.Timeout exceeded|connection reset by peer",
        MissingError,
        "the image cannot be fetched: the registry does not answer",
        "check the network, or load the image from a file (docker load -i FILE) and run it again",
    ),
    (
        r"port is already allocated|address already in use|Ports are not available|bind: An attempt was made",
        MissingError,
        "a port is taken",
        "stop what listens there, or choose others with --port-base N",
    ),
    (
        r"Pool overlaps with other one|invalid pool request",
        MissingError,
        "the replicas' network overlaps with one that Docker already has",
        "choose another with AGLAB_SUBNET=10.177.78 (its first three numbers)",
    ),
    (r"no space left on device", MissingError, "Docker's disk is full", "docker system df shows what uses it; free some space"),
    (
        r"sa_password\.txt is not the password",
        UsageError,
        "sa_password.txt is not the password that the volumes were made with; SQL Server ignores a new one",
        "put the old file back, or start anew with aglab down --delete-data",
    ),
    (
        r"ACCEPT_EULA is not set|End-User License Agreement|must be accepted before",
        UsageError,
        "SQL Server's licence has not been accepted",
        "read it, and if you accept it set ACCEPT_EULA=Y in your environment; nothing sets it for you",
    ),
    (
        r"at least 2000 ?(?:megabytes|MB)",
        MissingError,
        "a node has too little memory: SQL Server needs at least 2000 MB",
        "raise AGLAB_NODE_MEMORY, or close programs",
    ),
    (
        r"Login failed for user 'sa'",
        UsageError,
        "a node refuses sa's password: its volume was made with another one",
        "put the old sa_password.txt back, or start anew with aglab down --delete-data",
    ),
    (
        r"does not meet SQL Server password policy|Password validation failed|MSSQL_SA_PASSWORD has",
        UsageError,
        "sa's password does not meet SQL Server's policy",
        "use eight characters or more of three kinds, or delete sa_password.txt",
    ),
    (
        r"Error: 17113|O_DIRECT|error 87\(",
        MissingError,
        "a volume does not take direct I/O",
        "leave the tmpfs overlay out (tmpfs takes it from Linux 6.6)",
    ),
    (r"startup option \S+ is not known", UsageError, "a startup option is not known", "use for example -k750 or -T1222"),
)

LINE_MAX = 240  # of a quoted line
_NOISE = re.compile(r"informational message|^\s*$|Starting up database|^\s*Container \S+\s+\w+$|DEPRECATED")
_TROUBLE = re.compile(r"Error: \d+|fail|unable|cannot|could not|denied|refus|sqlservr|prepare:|init:|Msg \d+", re.IGNORECASE)


def telling_lines(text: str, most: int = 4, any_line: bool = True) -> list[str]:
    """The last lines of a log that speak of trouble, shortened; the last of any kind where none does, if ``any_line``."""
    lines = [line.strip()[:LINE_MAX] for line in text.splitlines() if not _NOISE.search(line)]
    return ([line for line in lines if _TROUBLE.search(line)] or (lines if any_line else []))[-most:]


def explain(said: str, where: str = "", logs: Sequence[str] = ()) -> AglabError:
    """The error for what was said.

    Parameters
    ----------
    said : str
        Standard error of a docker command, or a node's log.
    where : str
        What was being done.
    logs : sequence of str
        Lines of the node's own errorlog, quoted after the cause.
    """
    quoted = f" [{' | '.join(logs)}]" if logs else ""
    before = f"{where}: " if where else ""
    for source in (said, "\n".join(logs)):
        for pattern, kind, cause, remedy in _CAUSES:
            match = re.search(pattern, source, re.IGNORECASE)
            if match:
                detail = _line_of(source, match.start()) if kind is MissingError and source is said else ""
                return kind(f"{before}{cause}{f' ({detail})' if detail else ''}{quoted}", remedy)
    last = (telling_lines(said, 1) or ["no message"])[0]
    return AglabError(f"{before}{last}{quoted}", "aglab doctor looks at this machine; docker compose logs has the rest")


def _line_of(text: str, position: int) -> str:
    begin = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    return text[begin : end if end >= 0 else len(text)].strip()[:200]
