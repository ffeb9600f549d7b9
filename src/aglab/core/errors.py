"""Errors that a user can act on: what, value, limit, where, remedy.

Every error that reaches a user derives from :class:`AglabError`; the command line prints its text
on one line and exits with ``exit_code``. A traceback is a defect.
"""

from __future__ import annotations

NAMES_SHOWN_MAX = 12  # a longer list would not be read


class AglabError(Exception):
    """An experiment or check failed (exit code 1).

    Parameters
    ----------
    message : str
        What is wrong, with the value and the limit.
    remedy : str
        What the user can do about it; printed after a semicolon.
    """

    exit_code = 1

    def __init__(self, message: str, remedy: str = "") -> None:
        self.message = message
        self.remedy = remedy
        super().__init__(f"{message}; {remedy}" if remedy else message)


class UsageError(AglabError):
    """The request itself is wrong: unknown name, value out of range (exit code 2)."""

    exit_code = 2


class MissingError(AglabError):
    """Something this machine lacks: a package, a port, permission, disk (exit code 3)."""

    exit_code = 3


def field_error(field: str, value: object, limit: str, where: str, remedy: str) -> UsageError:
    """A :class:`UsageError` about one field, in the house form.

    >>> str(field_error("redo_rate_bytes_s", -5, "must be >= 0", "replica 'sql2'", "use 0 to suspend redo"))
    "redo_rate_bytes_s=-5 must be >= 0 (replica 'sql2'); use 0 to suspend redo"
    """
    return UsageError(f"{field}={value!r} {limit} ({where})", remedy)


def unknown_name(kind: str, value: str, known: list[str] | tuple[str, ...]) -> UsageError:
    """A :class:`UsageError` for a name that is not in a list, with the nearest known name.

    >>> str(unknown_name("lab", "16-chekpoint", ["16-checkpoint-throttle"]))
    "lab '16-chekpoint' is not known; did you mean '16-checkpoint-throttle'? known: 16-checkpoint-throttle"
    """
    import difflib

    near = difflib.get_close_matches(value, known, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}? " if near else ""
    names = list(known)
    if len(names) > NAMES_SHOWN_MAX:
        alike = difflib.get_close_matches(value, names, n=NAMES_SHOWN_MAX, cutoff=0.0)
        return UsageError(f"{kind} {value!r} is not known", f"{hint}nearest of {len(names)} names: {', '.join(alike)}")
    return UsageError(f"{kind} {value!r} is not known", f"{hint}known: {', '.join(names) or 'none'}")
