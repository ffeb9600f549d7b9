"""``aglab doctor`` and ``aglab bundle``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from aglab.cli import kit, shell
from aglab.core.errors import AglabError, MissingError


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.command()(doctor)
    app.command()(kit.bundle)


def doctor(
    seat: Annotated[bool, typer.Option("--seat", help="Check one seat of a class: start the twin and ask it something.")] = False,
    as_json: shell.Json = False,
) -> None:
    """What this machine can run, and why not."""
    from aglab.live import examine

    result: dict[str, Any] = examine(seat=seat)
    result["home"] = str(shell.home())
    if seat and result["modes"]["twin"]:
        result["findings"].append(_seat())
        result["modes"]["twin"] = result["findings"][-1]["ok"]
    if not seat:
        from aglab.lab.readiness import lab_readiness

        result["labs"] = lab_readiness(result)
    if as_json:
        shell.print_json(result)
    else:
        rows = []
        for found in result["findings"]:
            remedy = "" if found["ok"] else found["remedy"]
            rows.append((found["what"], "ok" if found["ok"] else "missing", found["found"], found["modes"], remedy))
        shell.print_table("This machine", ("what", "", "found", "needed for", "what to do"), rows)
        for mode, able in result["modes"].items():
            shell.say(f"{mode}: {'can run here' if able else 'cannot run here'}")
        if not seat:
            _print_labs(result["labs"])
        shell.say(f"Your predictions, progress and runs: {result['home']}")
    if not result["modes"]["twin"]:
        missing = next(f for f in result["findings"] if not f["ok"] and f["modes"] == "twin")
        raise MissingError(f"the twin cannot run here: {missing['what']} {missing['found']}", missing["remedy"])


def _print_labs(labs: list[dict[str, Any]]) -> None:
    """Lab by mode: can it run here; what is missing for some of them stands below, once."""
    reasons: list[str] = []
    rows = []
    for lab in labs:
        cells = []
        for found in lab["modes"].values():
            places = []
            for reason in found["missing"]:
                if reason not in reasons:
                    reasons.append(reason)
                places.append(str(reasons.index(reason) + 1))
            cells.append(("yes" if found["ok"] else "no") + (f" ({', '.join(places)})" if places else ""))
        rows.append((lab["lab"], *cells, lab["modes"]["docker"]["start"]))
    shell.print_table("Labs that can run here", ("lab", "twin", "docker", "remote", "containers as it wants them"), rows)
    for number, reason in enumerate(reasons, start=1):
        shell.say(f"({number}) {reason}")


def _seat() -> dict[str, Any]:
    """Start a twin, log in through the driver, ask for its version, end it."""
    import time

    from aglab.lab import cluster

    begin = time.perf_counter()
    try:
        with cluster() as nodes:
            version = str(nodes.sql("SELECT @@VERSION AS version").tables[0].iat[0, 0]).splitlines()[0]
    except AglabError as error:
        return {"what": "twin", "ok": False, "found": str(error), "modes": "twin", "remedy": "run aglab doctor without --seat"}
    took = time.perf_counter() - begin
    return {"what": "twin", "ok": True, "found": f"{version} ({took:.1f} s)", "modes": "twin", "remedy": ""}
