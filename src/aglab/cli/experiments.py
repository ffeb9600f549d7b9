"""``aglab demo``, ``simulate``, ``sweep`` and ``bench``: what the engine computes."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from aglab.cli import shell
from aglab.cli.folders import result_folder, staged
from aglab.cli.summaries import print_summary, print_transactions
from aglab.core.errors import UsageError, field_error

SECONDS_MAX = 30 * 86400.0


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.command()(demo)
    app.command()(simulate)
    app.command()(sweep)
    app.command()(bench)


def demo(set_: shell.Settings = None, seed: shell.Seed = 1, out: shell.Out = None, as_json: shell.Json = False) -> None:
    """The flagship experiment: checkpoint throttling, default against -k750, beside the paper's Table 6."""
    from aglab.published import demo as run_demo

    begin = time.perf_counter()
    settings = shell.typed(shell.settings_of(set_))
    folder = result_folder(out, shell.home(), "demo")
    with staged(folder) as stage:
        with shell.progress_bar("demo") as progress:
            found = run_demo(progress=progress, settings=settings, seed=shell.checked_seed(seed), out=stage / "runs")
        _save_figure(stage / "demo.html", found)
        result = {key: value for key, value in found.items() if key not in ("runs", "saved")}
        result["runs"] = {name: str(folder / "runs" / name) for name in found["runs"]}
        result["figure"] = str(folder / "demo.html")
        result["seconds"] = round(time.perf_counter() - begin, 2)
        (stage / "demo.json").write_text(_json_text(result), encoding="utf-8")
    if as_json:
        shell.print_json(result)
    else:
        _print_demo(result)


def _json_text(value: Any) -> str:
    import json

    return json.dumps(shell.plain(value), indent=1, ensure_ascii=False) + "\n"


def _save_figure(path: Path, found: dict[str, Any]) -> None:
    from aglab.viz import arms, comparison, save_page

    runs = found["runs"]
    k = found["settings"].get("k", found["settings"].get("settings.k_mb_s", 750))
    cap = float(k) if isinstance(k, (int, float)) and k > 0 else None
    blocks = []
    for place, title in (
        ("standalone", "One server, as Table 6 is read"),
        ("group", "With two synchronous secondaries: a prediction"),
    ):
        named = {name.removeprefix(place + "-"): run for name, run in runs.items() if name.startswith(place + "-")}
        blocks.append(arms(named, title=title, k_mb_s=cap).html())
    blocks.append(comparison(found["published"], title="Table 6: paper and twin", label=found["label"]).html())
    save_page(path, "aglab demo: checkpoint throttling", blocks)


def _print_demo(result: dict[str, Any]) -> None:
    from aglab.viz import terminal_table

    shell.say(result["label"])
    shell.console().print(terminal_table(result["published"], "Table 6, paper and twin"))
    changed = ", ".join(f"{key}={value}" for key, value in result["settings"].items())
    if changed:
        shell.say(f"Inputs changed: {changed}. The errors compare with the paper's own inputs.")
    shell.say(
        f"{result['constants']} constants were fitted on {result['rows_fitted']} published rows; the -k column is a prediction."
    )
    medians = ", ".join(f"{role} {value:g} %" for role, value in result["median_abs_error_pct"].items())
    shell.say(f"Median absolute error of these rows: {medians}.")
    _print_group(result["with_two_secondaries"])
    rows = [
        (
            cost["arm"],
            f"{cost['transactions_per_s']:,.0f}",
            f"{cost['transactions_per_s_min']:,.0f}",
            f"{cost['checkpoint_pages_per_s']:,.0f}",
            f"{cost['background_writer_pages_per_s']:,.0f}",
            f"{cost['recovery_s_max']:,.0f}",
            f"{cost['log_kept_gb_max']:,.1f}",
        )
        for cost in result["costs"]
    ]
    heads = ("throttle", "tx/s", "worst 2 s", "checkpoint pages/s", "writer pages/s", "recovery s", "log kept GB")
    shell.say()
    shell.print_table("What a throttle costs: recovery time and log that cannot be reused", heads, rows, right=heads[1:])
    shell.say(f"Figure: {result['figure']}")
    shell.say(f"Runs:   {Path(next(iter(result['runs'].values()))).parent}")
    shell.say(f"{result['seconds']:.1f} s")


def _print_group(rows: list[dict[str, Any]]) -> None:
    """Averages of the three arms with two synchronous secondaries, one line per counter."""
    arms = list(dict.fromkeys(row["condition"] for row in rows))
    lines: dict[str, dict[str, float]] = {}
    for row in rows:
        if row["stat"] == "avg":
            lines.setdefault(row["counter"], {})[row["condition"]] = row["twin"]
    table = [(counter, *(f"{values.get(arm, float('nan')):,.1f}" for arm in arms)) for counter, values in lines.items()]
    shell.say()
    shell.print_table("Predicted with two synchronous secondaries (averages)", ("counter", *arms), table, right=arms)


def simulate(
    scenario: Annotated[Path, typer.Argument(help="Scenario file (TOML).")],
    set_: shell.Settings = None,
    seed: shell.Seed = 1,
    out: shell.Out = None,
    as_json: shell.Json = False,
) -> None:
    """Any machine, workload, layout and timeline, from a scenario file.

    The book's page "Describe your own system" has two examples to copy, and every key with unit, range and default.
    `aglab profile copy NAME FILE` gives a machine to start from.
    """
    from aglab.engine.run_all import log_waits, notes, run_all, transaction_ms
    from aglab.engine.run_notes import run_warnings
    from aglab.engine.tick_error import tick_warnings
    from aglab.scenario import Scenario

    plan = Scenario.load(scenario).with_settings(shell.typed(shell.settings_of(set_)))
    folder = result_folder(out, shell.home(), scenario.stem)
    with staged(folder) as stage:
        with shell.progress_bar("simulating") as progress:
            run, flows = run_all(plan, shell.checked_seed(seed), progress=progress)
        run.save(stage)
    found = [warning for each in plan.each() for warning in run_warnings(each, run)]
    times = transaction_ms(flows)
    summary, warnings = run.summary(), [*plan.warnings(), *tick_warnings(plan), *found, *notes(flows)]
    result = {
        "summary": summary,
        "events": run.events,
        "warnings": warnings,
        "log_reuse_wait": log_waits(flows),
        "transaction_ms": times,
        "provenance": run.provenance,
        "out": str(folder),
    }
    if as_json:
        shell.print_json(result)
        return
    shell.say(run.label)
    print_summary(summary)
    print_transactions(times)
    for event in run.events:
        details = ", ".join(f"{key} {value}" for key, value in event.items() if key not in ("time_s", "event"))
        shell.say(f"{event['time_s']:>10,.1f} s  {event['event']}{': ' + details if details else ''}")
    for warning in warnings:
        shell.note(f"warning: {warning}")
    shell.say(f"Run: {folder}")


def sweep(
    slug: Annotated[str, typer.Argument(help="A lab; aglab lab list names them.")],
    over: Annotated[list[str], typer.Option("--over", metavar="KEY=FIRST:LAST:COUNT", help="What varies; may be repeated.")],
    set_: shell.Settings = None,
    seconds: Annotated[float, typer.Option("--seconds", help="Length of each run.")] = 300.0,
    seed: shell.Seed = 1,
    scheduler: Annotated[
        str, typer.Option("--scheduler", help="local (threads) or tcp://host:port of a Dask scheduler.")
    ] = "local",
    profile: shell.Profile = None,
    out: shell.Out = None,
    as_json: shell.Json = False,
) -> None:
    """Many runs of a lab's machine over a grid of settings; with --out the table is kept as sweep.parquet."""
    from aglab.lab import describe
    from aglab.lab import sweep as run_sweep
    from aglab.lab.sweeps import grid
    from aglab.scenario import Scenario

    if not 0 < seconds <= SECONDS_MAX:
        raise field_error("seconds", seconds, f"must be > 0 and <= {SECONDS_MAX:.0f}", "sweep", "use for example 300")
    wanted = describe(slug).get("cluster", {})
    base = Scenario.default(profile or wanted.get("profile", "hpe-dl380-gen9-ssd"), 1 if wanted.get("bare") else 3)
    base = base.with_settings(shell.typed(shell.settings_of(set_)))
    axes: dict[str, list[float]] = {}
    for text in over:
        key, values = grid(text)
        if key in axes:
            raise UsageError(f"--over names {key!r} twice", "give all its values at once")
        axes[key] = values
    folder = None if out is None else result_folder(out, shell.home(), slug)  # said before anything runs
    with shell.progress_bar("sweep") as progress:
        frame = run_sweep(base, axes, seconds=seconds, seed=shell.checked_seed(seed), scheduler=scheduler, progress=progress)
    if folder is not None:
        frame.attrs = {"label": f"SIMULATED, profile {base.profile.name}", "lab": slug, "seed": seed, "seconds": seconds}
        with staged(folder) as stage:
            frame.to_parquet(stage / "sweep.parquet", index=False)
    if as_json:
        saved = None if folder is None else str(folder)
        shell.print_json({"lab": slug, "over": axes, "rows": frame.to_dict("records"), "out": saved})
        return
    shown = [name for name in frame.columns if name in axes or name.endswith(".avg")]
    rows = [
        [f"{value:,.5g}" if isinstance(value, float) else value for value in row] for row in frame[shown].itertuples(index=False)
    ]
    shell.print_table(f"Sweep of {slug} (averages; SIMULATED, profile {base.profile.name})", shown, rows, right=shown)
    if folder is not None:
        shell.say(f"Sweep: {folder}")


def bench(
    what: Annotated[str, typer.Argument(help="speed, wire, or ablation.")] = "speed",
    history: Annotated[
        Path | None,
        typer.Option("--history", help="Append the ratios to this file; exit code 1 when one is 1.3 x worse."),
    ] = None,
    as_json: shell.Json = False,
) -> None:
    """How fast the engine and the wire are on this machine; or what breaks when a mechanism is taken out (a minute)."""
    import datetime

    from aglab.cli.benchmarks import measure, remember
    from aglab.published.removals import removals

    with shell.progress_bar("bench") as progress:
        rows = measure(what, progress)
    more = {}
    if what == "ablation":
        with shell.progress_bar("other papers") as progress:
            more = {"removals": removals(progress)}
    warnings = remember(rows, history, datetime.date.today()) if history is not None else []
    if as_json:
        shell.print_json({"rows": rows, "warnings": warnings, **more})
    else:
        _print_bench(what, rows)
        _print_removals(more.get("removals", []))
    for warning in warnings:
        shell.note(f"warning: {warning}")
    if warnings:
        raise typer.Exit(1)


def _print_removals(rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    heads = ("without", "paper", "rows", "with it %", "without %", "worst row", "%")
    lines = [
        (
            row["title"],
            row["paper"],
            str(row["rows"]),
            f"{row['with_pct']:.2f}",
            f"{row['without_pct']:.2f}",
            row["worst_id"],
            f"{row['worst_error_pct']:+.1f}",
        )
        for row in rows
    ]
    shell.print_table("Taken out, nothing fitted again (median absolute errors of its rows)", heads, lines, right=heads[2:5])


def _print_bench(what: str, rows: list[dict[str, Any]]) -> None:
    if what == "ablation":
        heads = ("without", "loss", "before refit", "fitted %", "predicted %", "worst fitted row", "%")
        keys = ("loss", "loss_not_refitted", "fitted_median_abs_error_pct", "predicted_median_abs_error_pct")
        lines = [
            (row["title"], *(f"{row[key]:,.2f}" for key in keys), row["worst_id"], f"{row['worst_error_pct']:+.1f}")
            for row in rows
        ]
        shell.print_table(
            "One mechanism taken out, the rest fitted again (median absolute errors)", heads, lines, right=heads[1:5]
        )
        return
    table = [
        (row["what"], f"{row['value']:,.1f}" if row["value"] >= 10 else f"{row['value']:.2f}", row["unit"], row["note"])
        for row in rows
    ]
    shell.print_table("On this machine, now", ("what", "value", "unit", "note"), table, right=("value",))
