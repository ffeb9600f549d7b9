"""What one transaction costs: CPU, pages, log, as a validated :class:`Workload`."""

from aglab.workload.model import Workload, workload_names

__all__ = ["Workload", "workload_names"]
