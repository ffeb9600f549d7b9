"""What one transaction costs: CPU, pages, log, as a validated :class:`Workload`."""

from aglab.workload.mix import mixed
from aglab.workload.model import Workload, workload_names

__all__ = ["Workload", "mixed", "workload_names"]
