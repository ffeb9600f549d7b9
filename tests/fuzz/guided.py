"""Hostile bytes and texts, guided by the code they reach: a developer's tool, part of ``make soak`` where atheris is installed.

    .venv/bin/python -m pip install atheris          (Linux and macOS; not a dependency of anything here)
    .venv/bin/python tests/fuzz/guided.py wire --seconds 600
    .venv/bin/python tests/fuzz/guided.py text --seconds 600

Atheris (https://github.com/google/atheris) instruments the wire and the parser and keeps every input that reaches new code, so
that it walks into branches that random bytes never meet. A failing input is written to ``build/fuzz`` and printed; once mended
it is kept in ``FOUND`` of tests/wire/test_wire_fuzz.py or tests/tsql/test_text_fuzz.py. The targets are those tests' own checks.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
INPUT_BYTES_MAX = 1200
HANG_S = 20  # libFuzzer's clock for one input; the slowest that is not a hang takes well under a second
MEMORY_MB_MAX = 2048
SLOW_WORDS = re.compile(r"(?i)while|goto|waitfor|generate_series|replicate|space\s*\(|with\b.*\bunion")


def wire_target() -> tuple[Callable[[bytes], None], list[bytes]]:
    """A check of one input on the wire, and inputs to begin with: first byte the place, second the packets' size."""
    import test_wire_fuzz as wire
    from test_wire_requests import REFUSED, TYPED

    def check(data: bytes) -> None:
        if len(data) < 2:
            return
        place, size, body = data[0] % 8, (64, 512, 4096)[data[1] % 3], data[2:]
        begun = wire.ServerConnection(wire.CONFIG) if place < 3 else wire.logged_in(wire.CONFIG)
        stream = (
            lambda: body,
            lambda: wire.packets(18, body, size),
            lambda: wire.prelogin(data[1] % 4) + wire.packets(16, body, size),
            lambda: body,
            lambda: wire.packets(1, body, size),
            lambda: wire.packets(3, wire.HEADERS + body, size),
            lambda: wire.packets(7, body, size),
            lambda: wire.packets(14, wire.HEADERS + body, size),
        )[place]()
        wire.survive(begun, stream, [data[1] * 3, data[1] * 11])

    features = b"\x0a\x01\x00\x00\x00\x01\xff"
    seeds = [b"\x00\x00" + wire.prelogin(0), b"\x00\x01" + wire.prelogin(2) + wire.packet(16, wire.login7())]
    seeds += [b"\x01\x01" + wire.prelogin(1)[8:], b"\x02\x01" + wire.login7(features=features, database="OLTP")]
    seeds += [
        b"\x04\x01" + wire.HEADERS + "SELECT 1".encode("utf-16-le"),
        b"\x03\x02" + wire.packet(6) + wire.packet(1, wire.HEADERS),
    ]
    for pick in TYPED:
        if not pick[0].startswith(("1f", "22", "23", "63")):
            order = (b"", b"\x10\x01\x00\x01\x00\x01", b"\x11\x01\x00\x01\x00")[len(seeds) % 3]
            seeds.append(b"\x05\x02" + wire.by_name("p", wire.param("@t", wire.table_value([pick], 2, order))))
    for hexed, *_ in TYPED + REFUSED:
        typed = bytes.fromhex(hexed)
        seeds.append(b"\x05\x02" + wire.by_name("p", wire.param("@p", typed), wire.param("", wire.INT7)))
        size = wire.info_bytes(typed)
        row = b"\xd1" + typed[size:] + b"\xfd" + b"\0" * 12
        seeds.append(b"\x06\x02" + b"\x81\x01\x00" + b"\0\0\0\0\x09\x00" + typed[:size] + b"\x01c\x00" + row)
    seeds += [b"\x07\x02" + kind.to_bytes(2, "little") + b"\x00\x00" for kind in (0, 5, 6, 7, 8, 9)]
    return check, seeds


def text_target() -> tuple[Callable[[bytes], None], list[bytes]]:
    """A check of one text: statements or a T-SQL error from the parser; what parses and cannot take long is run."""
    from aglab.tsql.messages import TsqlError
    from aglab.tsql.parser.statements import parse_batch
    from tsql import test_text_fuzz as texts

    def check(data: bytes) -> None:
        text = data.decode("utf-8", "replace")
        try:
            parse_batch(text)
        except (TsqlError, RecursionError):  # what the interpreter turns into messages
            return
        if not SLOW_WORDS.search(text):
            texts.answered(text)

    return check, [text.encode() for text in (*texts.TEXTS, *texts.FOUND)]


def dictionary() -> list[str]:
    """Words of the language in libFuzzer's form."""
    from tsql import test_text_fuzz as texts

    return [f'"{word}"' for word in texts.TOKENS if word.isascii() and '"' not in word and "\\" not in word]


def main() -> int:
    """Run until time is up, or until an input fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("target", choices=("wire", "text"))
    parser.add_argument("--seconds", type=int, default=600)
    options = parser.parse_args()
    try:
        import atheris  # type: ignore[import-not-found]
    except ImportError:
        print("guided fuzzing needs atheris: .venv/bin/python -m pip install atheris", file=sys.stderr)
        return 3
    sys.path[:0] = [str(TESTS), str(TESTS / "wire")]
    with atheris.instrument_imports(include=["aglab.tds", "aglab.tsql", "aglab.core"]):
        check, seeds = wire_target() if options.target == "wire" else text_target()
    folder = ROOT / "build" / "fuzz" / options.target
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds):
        (corpus / f"seed-{number:04d}").write_bytes(seed)
    words: list[Any] = [sys.argv[0], str(corpus), f"-max_total_time={options.seconds}", f"-max_len={INPUT_BYTES_MAX}"]
    words += [f"-timeout={HANG_S}", f"-rss_limit_mb={MEMORY_MB_MAX}", f"-artifact_prefix={folder}/", "-print_final_stats=1"]
    if options.target == "text":
        (folder / "words.txt").write_text("\n".join(dictionary()), encoding="ascii")
        words += [f"-dict={folder / 'words.txt'}", "-only_ascii=0"]
    atheris.Setup(words, check)
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
