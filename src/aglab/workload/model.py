"""A workload: the demands of one average transaction, each a number with a tag.

Two sets of data pages: *hot* pages are written again and again and stay in memory (stock, customer, district of a
TPC-C-like mix); the rest is *cold* and read at random, from memory or from disk. Left out: plans, locks, procedure mix.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aglab.core.errors import UsageError, unknown_name
from aglab.core.paths import bundle_path
from aglab.core.quantity import Tag, check, load_toml, number, read_fields
from aglab.core.units import MIB, PAGE_BYTES


@dataclass(frozen=True)
class Workload:
    """The demands of one average transaction (see each field's meaning with :meth:`rows`)."""

    think_us: float = number("us", 0, 1e9, "time that is neither CPU nor data read nor commit")
    cpu_us: float = number("core-us", 0.01, 1e8, "CPU work on one core of the reference machine")
    log_bytes_per_tx: float = number("B", 0, 1e9, "log an average transaction writes")
    page_touches_per_tx: float = number("pages", 0, 1e6, "hot pages it dirties")
    cold_touches_per_tx: float = number("pages", 0, 1e6, "cold pages it reads, from memory or from disk")
    hot_pages_per_warehouse: float = number("pages", 1e-6, 1e7, "hot pages of one warehouse")
    data_mb_per_warehouse: float = number("MB", 0.1, 1e5, "data of one warehouse")
    warehouses: int = number("warehouses", 1, 1_000_000, "size of the database", integer=True)
    pages_per_checkpoint_write: float = number("pages", 1, 128, "neighbouring dirty pages gathered into one write")
    batches_per_tx: float = number("batches", 0.01, 1000, "batch requests of one transaction", default=1.0)
    read_only_share: float = number("", 0, 1, "share of transactions that write nothing", default=0.0)
    tempdb_objects_per_tx: float = number("objects", 0, 1e4, "temporary tables and work tables it makes and drops", default=0.0)
    tempdb_kb_per_tx: float = number("KB", 0, 1e9, "what it writes to them", default=0.0)
    sort_kb_per_tx: float = number("KB", 0, 1e9, "what it sorts or hashes in memory that a grant limits", default=0.0)
    version_kb_per_tx: float = number("KB", 0, 1e6, "row versions that one which writes leaves, where they are on", default=0.0)
    name: str = field(default="", compare=False)
    title: str = field(default="", compare=False)
    tags: dict[str, Tag] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        where = f"workload {self.name or 'of the scenario'}"
        check(self, where)
        if self.hot_pages > self.data_pages:
            raise UsageError(
                f"hot_pages={self.hot_pages:,.0f} must be <= {self.data_pages:,.0f}, the pages of the database ({where})",
                "lower hot_pages or raise warehouses",
            )

    @property
    def hot_pages(self) -> float:
        """Hot pages of the database."""
        return self.hot_pages_per_warehouse * self.warehouses

    @property
    def data_pages(self) -> float:
        """All data pages of the database."""
        return self.data_mb_per_warehouse * self.warehouses * MIB / PAGE_BYTES

    def cold_miss_ratio(self, buffer_pool_pages: float) -> float:
        """Share of cold touches that find no page in memory, when hot pages are kept first."""
        cold = self.data_pages - self.hot_pages
        if cold <= 0:
            return 0.0
        return min(1.0, max(0.0, 1.0 - (buffer_pool_pages - self.hot_pages) / cold))

    def page_reads_per_tx(self, buffer_pool_pages: float) -> float:
        """Physical page reads of one transaction, warm: cold misses, and hot misses when memory is short of the hot set."""
        hot_miss = max(0.0, 1.0 - buffer_pool_pages / self.hot_pages)
        return self.cold_touches_per_tx * self.cold_miss_ratio(buffer_pool_pages) + self.page_touches_per_tx * hot_miss

    @classmethod
    def load(cls, name: str | Path) -> Workload:
        """Load a workload by name, or from a path that ends in ``.toml``."""
        if isinstance(name, Path) or str(name).endswith(".toml"):
            return _read(Path(name))
        if name not in workload_names():
            raise unknown_name("workload", str(name), workload_names())
        return _bundled(str(name))

    def rows(self) -> list[dict[str, Any]]:
        """Every demand as a row (key, value, unit, tag, meaning)."""
        import dataclasses

        return [
            {
                "key": spec.name,
                "value": getattr(self, spec.name),
                "unit": spec.metadata["unit"],
                "tag": str(self.tags.get(spec.name, Tag("assumed", "default"))),
                "meaning": spec.metadata["meaning"],
            }
            for spec in dataclasses.fields(self)
            if spec.metadata
        ]


def workload_names() -> tuple[str, ...]:
    """Names of the workloads that travel with aglab."""
    return tuple(sorted(path.stem for path in bundle_path("data", "workloads").glob("*.toml")))


@functools.lru_cache(maxsize=64)
def _bundled(name: str) -> Workload:
    return _read(bundle_path("data", "workloads", f"{name}.toml"))


def _read(path: Path) -> Workload:
    table = dict(load_toml(path, "workload"))
    title = str(table.pop("title", path.stem))
    import dataclasses

    workload, tags = read_fields(Workload, table, f"workload {path.stem}")
    return dataclasses.replace(workload, name=path.stem, title=title, tags=tags)
