"""``aglab lab``, ``check`` and ``class``: the labs of the book."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from aglab.cli import seat, shell
from aglab.cli.folders import result_folder, staged
from aglab.core.errors import AglabError, UsageError, field_error, unknown_name

LOAD = {"seconds": (2, 86_400), "users": (0, 1e6), "warm_up_s": (0, 86_400), "sample_s": (1, 3600)}


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    lab = typer.Typer(help="The labs of the book; alone, it opens them in JupyterLab.", invoke_without_command=True)
    lab.callback()(lab_start)
    lab.command("list")(lab_list)
    lab.command("show")(lab_show)
    lab.command("run")(lab_run)
    app.add_typer(lab, name="lab")
    app.command()(check)
    classes = typer.Typer(help="For an instructor.", no_args_is_help=True)
    classes.callback()(_class)
    classes.command("summary")(class_summary)
    classes.command("reset")(seat.reset)
    app.add_typer(classes, name="class")


def _class() -> None:
    """For an instructor."""


def lab_start(
    context: typer.Context,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the browser, or only print the addresses.")
    ] = True,
    folder: Annotated[
        Path | None, typer.Option("--folder", help="Where your copy of the notebooks lies (default: aglab in your home).")
    ] = None,
    port: Annotated[int, typer.Option("--port", help="Port of JupyterLab; 0 takes a free one.")] = 0,
    as_json: shell.Json = False,
) -> None:
    """The labs of the book; without a subcommand, start JupyterLab on your own copy of the notebooks."""
    if context.invoked_subcommand is not None:
        return
    from aglab.cli.jupyter import serve

    if port != 0 and not 1024 <= port <= 65535:
        raise field_error("port", port, "must be 1024 to 65535, or 0", "aglab lab", "leave --port out to have a free one chosen")
    serve(folder, port, browser, as_json)


def lab_list(as_json: shell.Json = False) -> None:
    """The labs, in the order of the book."""
    from aglab.lab import describe, lab_slugs

    rows = []
    for slug in lab_slugs():
        about = describe(slug)
        rows.append(
            {
                "slug": slug,
                "title": about.get("title", slug),
                "minutes": sum(about.get(part, 0) for part in ("reading_minutes", "lab_minutes")),
                "modes": about.get("modes", ["twin"]),
            }
        )
    if as_json:
        shell.print_json({"labs": rows})
        return
    shell.print_table(
        "Labs",
        ("slug", "title", "minutes", "modes"),
        [(r["slug"], r["title"], r["minutes"], ", ".join(r["modes"])) for r in rows],
    )


def lab_show(slug: Annotated[str, typer.Argument(help="A lab; aglab lab list names them.")], as_json: shell.Json = False) -> None:
    """What a lab asks, and its T-SQL steps."""
    from aglab.lab import describe, lab_folder

    about = describe(slug)
    steps = {path.name: path.read_text(encoding="utf-8") for path in sorted(lab_folder(slug).glob("[0-9][0-9]_*.sql"))}
    if as_json:
        shell.print_json({**about, "folder": str(lab_folder(slug)), "steps": steps})
        return
    shell.say(str(about.get("title", slug)))
    if about.get("question"):
        shell.say(str(about["question"]))
    shell.say(f"Folder: {lab_folder(slug)}")
    for name, text in steps.items():
        shell.say(f"\n==> {name}\n{text.rstrip()}")


def lab_run(
    slug: Annotated[str, typer.Argument(help="A lab; aglab lab list names them.")],
    mode: shell.Mode = None,
    profile: shell.Profile = None,
    set_: shell.Settings = None,
    seed: shell.Seed = 1,
    out: shell.Out = None,
    servers: shell.Servers = None,
    allow: shell.Allow = None,
    as_json: shell.Json = False,
) -> None:
    """Run a lab's whole experiment and save its runs."""
    from aglab.lab import describe, open_lab

    about = describe(slug)
    settings = _load_settings(shell.typed(shell.settings_of(set_)))
    folder = result_folder(out, shell.home(), slug)
    with staged(folder) as stage:
        opened = open_lab(slug, mode, profile, shell.checked_seed(seed), servers=servers, allow=tuple(allow or ()))
        with shell.progress_bar(slug) as progress, opened as lab:
            lab.about["load"] = {**lab.about.get("load", {}), **settings}
            runs = lab.run(progress=progress)
        if not runs:
            raise AglabError(f"lab {slug!r} recorded no run", "see its folder: aglab lab show " + slug)
        for name, run in runs.items():
            run.save(stage / _file_name(name))
    arms = {name: run.summary() for name, run in runs.items()}
    last = list(runs.values())[-1]
    result = {
        "lab": slug,
        "summary": list(arms.values())[-1],
        "arms": arms,
        "events": [{**event, "arm": name} for name, run in runs.items() for event in run.events],
        "warnings": about.get("warnings", []),
        "provenance": last.provenance,
        "out": str(folder),
    }
    if as_json:
        shell.print_json(result)
        return
    from aglab.cli.summaries import print_summary

    shell.say(last.label)
    for name, summary in arms.items():
        print_summary(summary, name)
    shell.say(f"Runs: {folder}")


def _load_settings(settings: dict[str, Any]) -> dict[str, float]:
    """What ``--set`` may change of a lab: the load that its lab.toml describes.

    Raises
    ------
    UsageError
        Another key, or a value out of range.
    """
    for key, value in settings.items():
        if key not in LOAD:
            raise unknown_name("setting of a lab", key, tuple(LOAD))
        low, high = LOAD[key]
        if not isinstance(value, (int, float)) or not low <= value <= high:
            raise field_error(
                key, value, f"must be a number from {low:g} to {high:g}", "lab run", "see [load] in the lab's lab.toml"
            )
    return settings


def _file_name(name: str) -> str:
    """A run's name as a folder name that every system takes."""
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in name).strip("_.") or "run"


def check(
    slug: Annotated[str, typer.Argument(help="A lab; aglab lab list names them.")],
    answer: Annotated[Path | None, typer.Option("--answer", help="File with your answer (TOML or JSON).")] = None,
    mode: shell.Mode = None,
    as_json: shell.Json = False,
) -> int:
    """Check your answer to a lab's exercise: it is applied to a cluster and measured."""
    from aglab.lab import check as run_check
    from aglab.lab import lab_folder

    given = _answer(answer or lab_folder(slug) / "exercise.toml")
    with shell.progress_bar("checking") as progress:
        verdict = run_check(slug, given, mode=mode, progress=progress)
    if as_json:
        shell.print_json({"lab": slug, "passed": verdict.passed, "seen": verdict.seen, "hint": verdict.hint})
    else:
        shell.say(repr(verdict))
    return 0 if verdict.passed else 1


def _answer(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise UsageError(f"the answer file {str(path)!r} does not exist", "name it with --answer") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the answer file {str(path)!r} cannot be read: {error}", "check the path") from error
    try:
        found = json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except ValueError as error:
        raise UsageError(
            f"the answer file {str(path)!r} is not valid: {shell.one_line(str(error))}", "write KEY = VALUE lines (TOML)"
        ) from error
    if not isinstance(found, dict):
        raise UsageError(f"the answer file {str(path)!r} must hold a table of settings", "write KEY = VALUE lines (TOML)")
    return found


def class_summary(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="One folder per learner, copied from where aglab doctor says.")],
    out: Annotated[Path | None, typer.Option("--out", help="HTML file for the pictures of the predictions.")] = None,
    as_json: shell.Json = False,
) -> None:
    """Predictions and progress of a class."""
    from aglab.lab import class_summary as summarise

    frame = summarise(folder)
    figure = str(_draw_class(frame, out)) if out is not None else None
    skipped = [{"file": name, "reason": why} for name, why in frame.attrs["skipped"]]
    for item in skipped:
        shell.note(f"{item['file']} is left out: {item['reason']}")
    if as_json:
        shell.print_json({"rows": frame.to_dict("records"), "skipped": skipped, "figure": figure})
        return
    heads = ("learner", "lab", "prediction", "reason", "tries", "passed", "quiz")
    lines = []
    for row in frame.to_dict("records"):
        quiz = f"{row['quiz_solved']} of {row['quiz_of']}" if row["quiz_of"] else ""
        lines.append([*(row[name] for name in heads[:5]), "yes" if row["passed"] else "no", quiz])
    shell.print_table("Class", heads, lines, right=("tries",))
    for lab, group in frame.groupby("lab"):
        shell.say(f"\n{lab}: {int(group['passed'].sum())} of {len(group)} passed")
        for choice, count in _chosen(str(lab), group).items():
            shell.say(f"  {choice:24} {'#' * count} {count}")
    if figure:
        shell.say(f"\nFigure: {figure}")


def _chosen(lab: str, group: Any) -> dict[str, int]:
    """How many chose what; choices that nobody took stand there with 0."""
    counts = dict.fromkeys(_choices(lab), 0)
    for choice in group["prediction"].dropna().astype(str):
        counts[choice] = counts.get(choice, 0) + 1
    none = int(group["prediction"].isna().sum())
    return {**counts, "no prediction": none} if none else counts


def _choices(lab: str) -> list[str]:
    from aglab.lab import describe, lab_slugs

    return [str(one) for one in describe(lab).get("prediction", {}).get("choices", [])] if lab in lab_slugs() else []


def _draw_class(frame: Any, out: Path) -> Path:
    """One page with a picture for each lab.

    Raises
    ------
    UsageError
        ``out`` is a folder.
    """
    from aglab.lab import describe, lab_slugs
    from aglab.viz import class_predictions, save_page

    if out.is_dir():
        raise UsageError(f"--out {str(out)!r} is a folder", "name a file, for example class.html")
    blocks = []
    for lab in dict.fromkeys(frame["lab"]):
        title = str(describe(lab)["title"]) if lab in lab_slugs() else str(lab)
        blocks.append(class_predictions(frame, lab, title, _choices(lab)).html())
    return save_page(out, "Predictions of the class", blocks)
