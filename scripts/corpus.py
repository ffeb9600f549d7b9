#!/usr/bin/env python3
"""The difference corpus: record what servers answer, or ask the twin again and say what differs from a recording.

Usage: corpus.py record [--mode twin|docker] [--out DIR]        corpus.py replay [DIR] [--mode twin|docker] [--json]
Exit code of replay: 0 all the same, 1 something differs or is not known. Format: data/corpus/README.md
"""

from __future__ import annotations

import argparse
import collections
import json
import sys
from pathlib import Path

from aglab.core.errors import AglabError, UsageError
from aglab.core.paths import bundle_path
from aglab.lab import cluster, corpus
from aglab.lab.cluster import Cluster
from aglab.live.corpus import Recording, Verdict, load, load_questions

QUESTIONS = bundle_path("data", "corpus", "questions.toml")
RECORDED = bundle_path("data", "corpus", "recorded")


def opened(mode: str) -> Cluster:
    """A twin of its own with its group formed by the containers' scripts, or the containers that run."""
    if mode == "docker":
        return cluster("docker", attach=True)
    twin = cluster("twin", bare=True)
    try:
        corpus.form_group(twin, bundle_path("docker", "sql"))
    except BaseException:
        twin.close()
        raise
    return twin


def report(recordings: list[Recording], verdicts: list[Verdict]) -> list[str]:
    """The lines for a reader: what differs, in what, and who had answered."""
    lines = []
    for verdict in verdicts:
        if verdict.outcome != "same":
            lines += [f"{verdict.outcome:9} {verdict.name}", *(f"          {text}" for text in verdict.differences)]
    counted = collections.Counter(verdict.outcome for verdict in verdicts)
    who = collections.Counter(one.evidence for one in recordings)
    lines.append(", ".join(f"{counted[outcome]} {outcome}" for outcome in ("same", "differs", "not known")))
    lines.append("recorded from: " + ", ".join(f"{name} ({number})" for name, number in sorted(who.items())))
    if "stand-in" in who:
        lines.append("What a stand-in answered is no evidence about SQL Server.")
    return lines


def main(argv: list[str] | None = None) -> int:
    """Record or replay; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    jobs = parser.add_subparsers(dest="job", required=True)
    record = jobs.add_parser("record", help="ask every question and write the answers")
    record.add_argument("--out", type=Path, default=RECORDED, help="folder of the recordings")
    replay = jobs.add_parser("replay", help="ask again what was recorded")
    replay.add_argument("folder", type=Path, nargs="?", default=RECORDED, help="folder of the recordings")
    replay.add_argument("--json", action="store_true", help="for programs")
    for job in (record, replay):
        job.add_argument("--mode", choices=("twin", "docker"), default="twin", help="whom to ask")
    options = parser.parse_args(argv)
    try:
        if options.job == "record":
            questions = load_questions(QUESTIONS)
            with opened(options.mode) as asked:
                written = corpus.record(asked, questions, options.out)
            print(f"{len(written)} recordings in {options.out}")
            return 0
        recordings = load(options.folder)
        if not recordings:
            raise UsageError(f"{options.folder} holds no recording", "record first, or name another folder")
        with opened(options.mode) as asked:
            verdicts = corpus.replay(asked, recordings)
        found = {"evidence": sorted({one.evidence for one in recordings}), "verdicts": [vars(one) for one in verdicts]}
        print(json.dumps(found, indent=1) if options.json else "\n".join(report(recordings, verdicts)))
        return int(any(one.outcome != "same" for one in verdicts))
    except AglabError as error:
        print(f"corpus: {error}", file=sys.stderr)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
