"""``aglab published`` and ``aglab profile``: the papers' numbers, and the machines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from aglab.cli import shell
from aglab.cli.measuring import profile_measure
from aglab.core.errors import UsageError


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    published = typer.Typer(help="Every published number, beside the twin's where it is compared.", no_args_is_help=True)
    published.command("list")(published_list)
    published.command("show")(published_show)
    published.command("score")(published_score)
    app.add_typer(published, name="published")
    profile = typer.Typer(help="Hardware profiles.", no_args_is_help=True)
    profile.command("list")(profile_list)
    profile.command("show")(profile_show)
    profile.command("copy")(profile_copy)
    profile.command("measure")(profile_measure)
    app.add_typer(profile, name="profile")


Paper = Annotated[str | None, typer.Option("--paper", help="000 to 004.")]


def published_list(paper: Paper = None, as_json: shell.Json = False) -> None:
    """Tables and figures of the papers."""
    from aglab.published import published, tables
    from aglab.published.rows import PAPERS

    rows = []
    for one in [paper] if paper else list(PAPERS):
        for table in tables(one):
            frame = published(table, one)
            compared = int((frame["role"] != "").sum())
            rows.append({"paper": one, "table": table, "numbers": len(frame), "compared": compared})
    if as_json:
        shell.print_json({"tables": rows, "papers": PAPERS})
        return
    shell.print_table(
        "Published numbers (compared: those with a role, beside the twin's)",
        ("paper", "table", "numbers", "compared"),
        [tuple(row.values()) for row in rows],
        right=("numbers", "compared"),
    )
    for number, title in PAPERS.items():
        shell.say(f"{number}  {title}")


def published_show(
    table: Annotated[str, typer.Argument(help='For example "Table 6".')], paper: Paper = None, as_json: shell.Json = False
) -> None:
    """The numbers of one table, as printed."""
    from aglab.published import published

    frame = published(table, paper)
    if as_json:
        shell.print_json({"table": table, "rows": frame.reset_index().to_dict("records")})
        return
    columns = ("subject", "condition", "metric", "stat", "value", "unit", "kind", "role", "note")
    rows = [
        [f"{cell:,.10g}" if isinstance(cell, float) else cell for cell in row]
        for row in frame[list(columns)].itertuples(index=False)
    ]
    shell.print_table(f"{table} of paper {frame['paper'].iloc[0]}", columns, rows, right=("value",))


def published_score(paper: Paper = None, seed: shell.Seed = 1, as_json: shell.Json = False) -> None:
    """Run every experiment and put the twin beside each published number that has a role."""
    from aglab.published import score

    with shell.progress_bar("scoring") as progress:
        result = score(paper, progress=progress, seed=shell.checked_seed(seed))
    if as_json:
        shell.print_json(result)
        return
    from aglab.published.orders import tally, verdict
    from aglab.viz import terminal_table

    if result["rows"]:
        shell.console().print(terminal_table(result["rows"], "Published and twin"))
    else:
        shell.say("No number of this paper is compared with the twin yet.")
    shell.say(f"{result['fitted_constants']} constants fitted on {result.get('rows_fitted', 0)} rows.")
    for role, value in result["median_abs_error_pct"].items():
        shell.say(f"Median absolute error, {role}: {value:g} %")
    counts = tally(result["orders"])
    told = counts["right"] + counts["wrong"]
    shell.say(f"Claims of order right: {counts['right']} of {told}; {counts['draw']} within the papers' own noise.")
    for one in result["orders"]:
        if verdict(one) == "wrong":
            shell.say(f"  wrong: {one['claim']}: {one['reason'] or 'not known why'}")


def profile_list(as_json: shell.Json = False) -> None:
    """The profiles that travel with aglab."""
    from aglab.hardware import Profile, profile_names

    rows = [{"name": name, "title": Profile.load(name).title} for name in profile_names()]
    if as_json:
        shell.print_json({"profiles": rows})
        return
    shell.print_table("Hardware profiles", ("name", "title"), [tuple(row.values()) for row in rows])


def profile_show(
    name: Annotated[str, typer.Argument(help="A profile's name, or a .toml file.")], as_json: shell.Json = False
) -> None:
    """Every value of a profile, and where it comes from."""
    from aglab.hardware import Profile

    profile = Profile.load(name)
    rows: list[dict[str, Any]] = profile.rows()
    if as_json:
        shell.print_json({"name": profile.name, "title": profile.title, "rows": rows})
        return
    shell.print_table(
        profile.title,
        ("key", "value", "unit", "tag", "meaning"),
        [(row["key"], row["value"], row["unit"], row["tag"], row["meaning"]) for row in rows],
        right=("value",),
    )


def profile_copy(
    name: Annotated[str, typer.Argument(help="A bundled profile; aglab profile list names them.")],
    file: Annotated[Path, typer.Argument(help="The file (.toml) to write.")],
    force: Annotated[bool, typer.Option("--force", help="Write over an existing file.")] = False,
    as_json: shell.Json = False,
) -> None:
    """A bundled profile as a file of your own, to change and to name in a scenario."""
    from aglab.core.paths import bundle_path
    from aglab.hardware import Profile
    from aglab.record.files import write_text

    Profile.load(name)
    if name.endswith(".toml"):
        raise UsageError(f"{name} is a file already (profile copy)", "name one of aglab profile list")
    if file.suffix != ".toml":
        raise UsageError(f"{file} must end in .toml (profile copy)", f"for example {file.stem}.toml")
    if file.exists() and not force:
        raise UsageError(f"{file} exists (profile copy)", "choose another name, or add --force to write over it")
    write_text(file, bundle_path("data", "profiles", f"{name}.toml").read_text(encoding="utf-8"))
    if as_json:
        shell.print_json({"profile": str(file), "from": name})
        return
    shell.say(f'Wrote {file}. Change it, then: profile = "{file.name}" in a scenario file beside it.')
