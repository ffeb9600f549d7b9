"""The flow engine: throughput, queues and times of a whole cluster over minutes to hours."""

from aglab.engine.flow import Block, Flow
from aglab.engine.jit import COMPILED
from aglab.engine.simulate import simulate
from aglab.engine.steady import Steady, steady

__all__ = ["COMPILED", "Block", "Flow", "Steady", "simulate", "steady"]
