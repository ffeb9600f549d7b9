"""``python -m aglab.twin``: see :mod:`aglab.twin.serve`."""

import sys

from aglab.twin.serve import serve

if __name__ == "__main__":
    sys.exit(serve())
