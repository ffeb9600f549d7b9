"""A stand-in for fio, no load generator: answers in its JSON as FIO_SAYS asks, and notes how it was called in FIO_CALLS."""

import json
import os
import sys
import time

ARGUMENTS = dict(word[2:].partition("=")[::2] for word in sys.argv[1:])
SAYS = os.environ.get("FIO_SAYS", "")
with open(os.environ["FIO_CALLS"], "a", encoding="utf-8") as calls:  # noqa: PTH123
    calls.write(json.dumps(ARGUMENTS) + "\n")
with open(ARGUMENTS["filename"], "wb") as file:  # noqa: PTH123
    file.write(b"x" * 4096)


def side(share: float) -> dict:
    """Half of an answer: a device with ten channels of 0.5 ms each, so that 20 ms are reached at a depth of 400."""
    depth = int(ARGUMENTS["iodepth"])
    busy_ms = float(os.environ.get("FIO_SERVICE_MS", "0.5"))
    latency_ms = busy_ms * max(1.0, depth / 10)
    iops = share * depth / latency_ms * 1000
    used = share > 0
    return {"iops": iops, "lat_ns": {"mean": latency_ms * 1e6 * used}, "total_ios": int(100 * used), "bw_bytes": iops * 8192}


if SAYS == "garbage":
    print("{ not json")
elif SAYS == "hang":
    time.sleep(600)
elif SAYS == "no direct" and ARGUMENTS["direct"] == "1":
    print("fio: looks like your file system does not support direct=1/buffered=0: Invalid argument", file=sys.stderr)
    sys.exit(1)
elif SAYS == "job error":
    print(json.dumps({"jobs": [{"error": 5, "read": side(1), "write": side(0)}]}))
elif SAYS and SAYS != "no direct":
    print(f"fio: {SAYS}", file=sys.stderr)
    sys.exit(1)
else:
    reads = {"randrw": int(ARGUMENTS.get("rwmixread", 50)) / 100, "randread": 1.0, "read": 1.0}.get(ARGUMENTS["rw"], 0.0)
    print("note: fio talks before its JSON")
    print(json.dumps({"jobs": [{"error": 0, "read": side(reads), "write": side(1 - reads)}]}))
