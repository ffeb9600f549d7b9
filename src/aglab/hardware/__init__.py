"""What a machine is made of: processors, memory, volumes, network, as a validated :class:`Profile`."""

from aglab.hardware.parts import Cpu, Memory, Network, Volume
from aglab.hardware.profile import Profile, profile_names

__all__ = ["Cpu", "Memory", "Network", "Profile", "Volume", "profile_names"]
