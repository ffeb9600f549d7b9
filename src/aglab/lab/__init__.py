"""What a learner holds: a cluster, a lab, a prediction, a check. The same in every mode."""

from aglab.lab.answers import Prediction, Ready, Verdict, check, number_in, predict
from aglab.lab.batches import split_batches
from aglab.lab.classes import class_summary, progress
from aglab.lab.cluster import Cluster, Node, StepNotPossible
from aglab.lab.commit_client import CommitClient
from aglab.lab.driver import Connection
from aglab.lab.labs import Lab, Step, cluster, describe, lab_folder, lab_slugs, open_lab
from aglab.lab.results import Result, SqlFailed
from aglab.lab.sweeps import sweep

__all__ = [
    "Cluster",
    "CommitClient",
    "Connection",
    "Lab",
    "Node",
    "Prediction",
    "Ready",
    "Result",
    "SqlFailed",
    "Step",
    "StepNotPossible",
    "Verdict",
    "check",
    "class_summary",
    "cluster",
    "describe",
    "lab_folder",
    "lab_slugs",
    "number_in",
    "open_lab",
    "predict",
    "progress",
    "split_batches",
    "sweep",
]
