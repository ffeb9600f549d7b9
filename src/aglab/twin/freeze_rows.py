"""Objects of the T-SQL room as bytes, and back: a pickle with an allow-list of classes, so that a file from elsewhere cannot
run code."""

from __future__ import annotations

import builtins
import importlib
import io
import itertools
import pickle
from typing import Any

_SAFE = {
    "builtins": {"set", "frozenset", "bytearray", "complex", "range"},
    "datetime": {"datetime", "date", "time", "timedelta", "timezone"},
    "decimal": {"Decimal"},
    "uuid": {"UUID", "SafeUUID"},
    "collections": {"deque", "OrderedDict", "defaultdict"},
    "itertools": {"count"},
    "copyreg": {"_reconstructor"},
}
_ROOMS = ("aglab.tsql.", "aglab.core.sqltypes")


class _Pickler(pickle.Pickler):
    def reducer_override(self, item: Any) -> Any:
        if type(item) is itertools.count:
            # itertools.count(5, 16) -> (5, 16); its own pickling went away in Python 3.14
            numbers = [int(one) for one in repr(item)[len("count(") : -1].split(",")]
            return itertools.count, tuple(numbers)
        return NotImplemented


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if name in _SAFE.get(module, ()):
            return getattr(importlib.import_module(module), name)
        if module.startswith(_ROOMS) and "." not in name:
            found = getattr(importlib.import_module(module), name)
            if isinstance(found, type) or name == "NULL_KEY":
                return found
        if module == "builtins" and name == "object":
            return builtins.object
        raise pickle.UnpicklingError(f"{module}.{name} does not belong in a state file")


def dump(content: Any) -> bytes:
    """Objects of the T-SQL room as bytes."""
    buffer = io.BytesIO()
    _Pickler(buffer, protocol=5).dump(content)
    return buffer.getvalue()


def load(data: bytes) -> Any:
    """The inverse of :func:`dump`; ValueError where the bytes are damaged or hold anything else."""
    try:
        return _Unpickler(io.BytesIO(data)).load()
    except Exception as error:  # pickle raises almost anything on damaged bytes
        raise ValueError(f"the rows cannot be read ({type(error).__name__}: {error})") from error
