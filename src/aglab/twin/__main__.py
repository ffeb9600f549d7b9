"""``python -m aglab.twin``: see :mod:`aglab.twin.serve`."""

import gc
import sys

if __name__ == "__main__":
    gc.disable()  # what is loaded now stays: looking through it for garbage took a fifth of the start
    from aglab.twin.serve import serve

    sys.exit(serve())
