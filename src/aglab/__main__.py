"""``python -m aglab``: the command line, where the ``aglab`` script is not on the path."""

import sys

from aglab.cli import main

if __name__ == "__main__":
    sys.exit(main())
