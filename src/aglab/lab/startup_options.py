"""Whether a server took its startup options: asked of the server itself, never assumed.

Two questions. *Taken*: a trace flag is taken when ``DBCC TRACESTATUS`` shows it globally on; another option, -k among them,
when the errorlog names it among the startup parameters. *Effect*: flag 834 asks for large pages, and ``sql_memory_model_desc``
of ``sys.dm_os_sys_info`` says whether the server has them; for the others no view tells, so the answer is "not confirmed".

834 is documented for Windows, 3979 with forced unit access on Linux, for 9921 no public documentation was found; what each
does in a container has not been confirmed by this project.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from aglab.core.errors import AglabError

Ask = Callable[[str], Any]  # T-SQL -> Result, on one server
NOT_CONFIRMED = "not confirmed here"
_MEMORY = "SELECT sql_memory_model_desc FROM sys.dm_os_sys_info"


@dataclass(frozen=True)
class Option:
    """One option on one node: ``taken``, the words that show it, and what is known of its effect."""

    node: str
    option: str
    taken: bool
    found: str
    effect: str = NOT_CONFIRMED

    def __str__(self) -> str:
        how = "taken" if self.taken else "NOT taken"
        return f"{self.node} {self.option}: {how} ({self.found}); effect: {self.effect}"


def read_back(node: str, options: Iterable[str], ask: Ask) -> list[Option]:
    """What a node says of each option; a probe that fails is an answer too."""
    found = []
    for option in options:
        flag = re.fullmatch(r"-[Tt](\d+)", option)
        try:
            found.append(_flag(node, option, int(flag[1]), ask) if flag else _parameter(node, option, ask))
        except AglabError as error:
            found.append(Option(node, option, False, f"it could not be asked: {error}"))
    return found


def _flag(node: str, option: str, flag: int, ask: Ask) -> Option:
    tables = ask(f"DBCC TRACESTATUS({flag}, -1) WITH NO_INFOMSGS").tables
    rows = tables[0].to_dict("records") if tables else []
    on = any(int(row["TraceFlag"]) == flag and int(row["Status"]) == 1 and int(row["Global"]) == 1 for row in rows)
    said = "DBCC TRACESTATUS shows it on" if on else "DBCC TRACESTATUS does not show it on"
    return Option(node, option, on, said, _large_pages(ask) if on and flag == 834 else NOT_CONFIRMED)


def _large_pages(ask: Ask) -> str:
    try:
        model = str(ask(_MEMORY).value)
    except AglabError as error:
        return f"{NOT_CONFIRMED}: {error}"
    return "large pages" if model == "LARGE_PAGES" else f"{NOT_CONFIRMED}: the memory model is {model}"


def _parameter(node: str, option: str, ask: Ask) -> Option:
    lines = ask("EXEC sp_readerrorlog 0, 1, N'startup parameters'").table
    said = re.sub(r"[\s\"]", "", " ".join(str(text) for text in lines["Text"]))
    plain = re.sub(r"[\s\"]", "", option)
    named = re.search(re.escape(plain) + r"(?!\d)", said) is not None  # -k75 is not -k750
    return Option(node, option, named, "its errorlog names it" if named else "its errorlog does not name it")
