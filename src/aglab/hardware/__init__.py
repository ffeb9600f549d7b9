"""What a machine is made of: processors, memory, volumes, network, as a validated :class:`Profile`."""

from aglab.hardware.arrays import DiskArray, Spindle, array_names
from aglab.hardware.parts import Cpu, Memory, Network, Volume
from aglab.hardware.profile import Profile, profile_names

__all__ = ["Cpu", "DiskArray", "Memory", "Network", "Profile", "Spindle", "Volume", "array_names", "profile_names"]
