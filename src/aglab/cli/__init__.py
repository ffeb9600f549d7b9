"""The command line: arguments in, one call, table or JSON out.

Exit codes: 0 done, 1 the experiment or check failed, 2 wrong use, 3 something is missing on this machine, 130 interrupted.
Nothing heavy is imported until a command runs, so that ``aglab --help`` is quick.
"""

from aglab.cli.app import main

__all__ = ["main"]
