"""What a run leaves behind: counters over time, events and provenance; Parquet and PerfMon CSV, in and out."""

from aglab.record.perfmon import read_perfmon, write_perfmon
from aglab.record.run import Run, label_of

__all__ = ["Run", "label_of", "read_perfmon", "write_perfmon"]
