#!/usr/bin/env python3
"""A stand-in for hammerdbcli, not HammerDB: reads the script it is given and prints the lines that HammerDB documents.

It proves that scripts are made and lines are read as agreed; that HammerDB agrees, only HammerDB can prove. ``STAND_IN`` chooses
what goes wrong: "", "login", "certificate", "bcp", "driver", "no result", "hang", "old" (the words of version 3).
"""

import json
import os
import re
import signal
import sys
from pathlib import Path

mode, auto, script = sys.argv[1:4]
assert (mode, auto) == ("tcl", "auto") and script.endswith(".tcl")
wrong = os.environ.get("STAND_IN", "")
text = Path(script).read_text(encoding="utf-8")
keys = dict(re.findall(r"^diset \w+ (\w+) \{?([^}\n]*)\}?$", text, flags=re.M))
users = int((re.search(r"^vuset vu (\d+)", text, flags=re.M) or [0, "1"])[1])

ERRORS = {
    "login": ["SQLState = 28000, NativeError = 18456", "Error = [Microsoft][ODBC Driver 18 for SQL Server]Login failed for user"],
    "certificate": [
        "SQLState = 08001, NativeError = -1",
        "Error = [Microsoft][ODBC Driver 18 for SQL Server]SSL Provider: certificate verify failed:self signed certificate]",
    ],
    "bcp": ['couldn\'t execute "bcp": no such file or directory'],
    "driver": ["[unixODBC][Driver Manager]Can't open lib 'ODBC Driver 18 for SQL Server' : file not found"],
}


def say(line):
    """One line, at once."""
    print(line, flush=True)


def part(content):
    """A part of the job as JSON."""
    say(json.dumps(content, indent=2))


def end_of(vusers):
    """How virtual users end."""
    for vuser in range(1, vusers + 1):
        if wrong in ERRORS and vuser > 1:
            first, *rest = ERRORS[wrong]
            say(f"Error in Virtual User {vuser}: {first}")
            for line in rest:
                say(line)
            say("child process exited abnormally")
        say(f"Vuser {vuser}:FINISHED {'FAILED' if wrong in ERRORS and vuser > 1 else 'SUCCESS'}")
    say("ALL VIRTUAL USERS COMPLETE")


say("HammerDB CLI v3.3" if wrong == "old" else "HammerDB CLI v5.0")
for line in text.splitlines():
    if line.startswith("puts {"):
        say(line[6:-1])
    elif line.startswith("diset "):
        section, key, value = line.split(" ", 3)[1:]
        value = re.sub(r"\$::env\((\w+)\)", lambda found: os.environ[found[1]], value.strip("{}"))
        say(f"Changed {section}:{key} from - to {value} for MSSQLServer")
    elif line == "buildschema":
        say("Schema Build jobid=6A84C0AA7B8503E213233323")
        end_of(int(keys["mssqls_num_vu"]) + 1)
    elif line == "set job [ vurun ]":
        say("Vuser 1:Beginning rampup time of 2 minutes")
        if wrong == "hang":
            signal.pause()
        if wrong != "no result":
            say(f"Vuser 1:{users} Active Virtual Users configured")
        if wrong == "old":
            say("Vuser 1:TEST RESULT : System achieved 42000 SQL Server TPM at 18000 NOPM")
        elif wrong != "no result" and wrong not in ERRORS:
            say("Vuser 1:TEST RESULT : System achieved 18000 NOPM from 42000 SQL Server TPM")
        end_of(users + 1)
        say("Benchmark Run jobid=63F495ED5F5303E263837373")
    elif "jobs $job timing" in line:
        one = dict.fromkeys(("min_ms", "p50_ms", "avg_ms", "p95_ms", "p99_ms", "max_ms", "total_ms", "sd", "ratio_pct"), "4.5")
        part({"NEWORD": {"elapsed_ms": "300000.0", "calls": "90000", **one}})
    elif "jobs $job tcount" in line:
        part({"MSSQLServer tpm": {"2026-01-01 10:00:00": "41000", "2026-01-01 10:00:10": "43000"}})
    elif "jobs $job result" in line:
        part(["63F495ED5F5303E263837373", "2026-01-01 10:00:20", f"{users} Active Virtual Users configured"])
