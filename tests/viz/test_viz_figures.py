"""Figures: what they draw, what they say about themselves, what they refuse."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from aglab.core.errors import MissingError, UsageError
from aglab.record import Run
from aglab.viz import arms, comparison, errors, parts, sparkline, sweep_curve, terminal_table, time_series
from aglab.viz.figures import resample
from aglab.viz.palette import palette, themed
from aglab.viz.text import human, inline, numbers, script_json, significant

TPS = "SQLServer:Databases(OLTP)\\Transactions/sec"
CKPT = "SQLServer:Buffer Manager\\Checkpoint pages/sec"
WRITER = "SQLServer:Buffer Manager\\Background writer pages/sec"
READ = "PhysicalDisk(D:)\\Avg. Disk sec/Read"
LOG = "SQLServer:Databases(OLTP)\\Log Bytes Flushed/sec"


def make_run(level: float = 50_000.0, paths: tuple[str, ...] = (TPS, CKPT, WRITER, LOG)) -> Run:
    """Ten seconds of flat counters, sampled every second."""
    index = np.arange(1.0, 11.0)
    columns = pd.MultiIndex.from_tuples([("sql1", path) for path in paths])
    return Run(pd.DataFrame(level, index=index, columns=columns), [], {"mode": "twin", "profile": "test"})


def row(**more: object) -> dict[str, object]:
    """A comparison row."""
    base = {
        "id": "x-avg",
        "condition": "-k750",
        "counter": "Transactions/sec",
        "stat": "avg",
        "role": "predicted",
        "published": 100.0,
    }
    return {**base, "twin": 93.0, "unit": "tx/s", "error_pct": -7.0, "reason": "", "subject": "", **more}


def test_time_series_has_a_panel_per_counter_and_its_label() -> None:
    """One panel and one axis for each counter; bytes become MB; the label is stamped into the picture."""
    figure = time_series(make_run(3e8), ["Transactions/sec", "Log Bytes Flushed/sec"])
    spec = figure.spec()
    assert [trace["yaxis"] for trace in spec["data"]] == ["y", "y2"]
    assert spec["data"][1]["y"][0] == 300
    texts = [note["text"] for note in spec["layout"]["annotations"]]
    assert spec["layout"]["title"]["text"] == "SIMULATED, profile test" and "Log Bytes Flushed/sec (MB/s)" in texts
    assert "SIMULATED, profile test" in figure.plotly()["layout"]["title"]["text"]
    assert "average 300,000,000" in figure.alt


def test_arms_overlay_with_colour_and_dash_and_the_cap() -> None:
    """Arms differ by colour and by dash, share a legend, and the cap of -k is drawn in pages/s."""
    figure = arms({"automatic": make_run(), "-k750": make_run(90_000.0)}, k_mb_s=750)
    first, second = figure.data[0], figure.data[1]
    assert (first["line"]["color"], first["line"]["dash"]) != (second["line"]["color"], second["line"]["dash"])
    assert [trace["showlegend"] for trace in figure.data].count(True) == 2
    assert figure.layout["shapes"][0]["y0"] == 96_000
    assert any("96,000 pages/s" in note["text"] for note in figure.layout["annotations"])


def test_arms_show_read_latency_where_it_is_known() -> None:
    """A fourth panel in ms appears when every run has the counter."""
    paths = (TPS, CKPT, WRITER, READ)
    figure = arms({"a": make_run(0.05, paths)})
    assert len(figure.data) == 4
    assert figure.data[-1]["y"][0] == 50


def test_resample_averages_whole_spans() -> None:
    """Samples stamped with the end of their second fall into the span they cover."""
    series = pd.Series([1.0, 3.0, 5.0, 7.0], index=[1.0, 2.0, 3.0, 4.0])
    times, values = resample(series, 2.0)
    assert times.tolist() == [2.0, 4.0] and values.tolist() == [2.0, 6.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: time_series({}, ["Transactions/sec"]), "at least one run"),
        (lambda: time_series(make_run(), []), "at least one run"),
        (lambda: time_series(make_run(), "Transactions/sec", sample_s=0), "sample_s=0 must be > 0"),
        (lambda: time_series(make_run(), "Transaction/sec"), "did you mean"),
        (lambda: sweep_curve(pd.DataFrame({"k": [1]}), "k", "tps"), "no column 'tps'"),
        (lambda: comparison([]), "no row to compare"),
        (lambda: errors([row(error_pct=None)]), "no row has an error"),
        (lambda: sparkline([1.0], width=0), "width=0 must be >= 1"),
        (lambda: themed({}, "sepia"), "theme 'sepia' is not known"),
    ],
)
def test_wrong_requests_are_named(call: object, message: str) -> None:
    """Each wrong request is an error that says what and which limit."""
    with pytest.raises(UsageError, match=message):
        call()


def test_comparison_pairs_paper_and_twin_and_shows_roles() -> None:
    """Both sides have a range; the twin's marker carries the role; the text alternative has the error."""
    rows = [row(), row(stat="min", published=80.0, twin=85.0), row(stat="max", published=120.0, twin=None)]
    figure = comparison(rows, label="SIMULATED, profile test")
    paper, twin = figure.data
    assert paper["error_x"]["arrayminus"] == [20] and paper["error_x"]["array"] == [20]
    assert twin["marker"]["symbol"] == ["circle"] and twin["error_x"]["array"] == [0]
    assert "-7.0 %" in figure.alt and "predicted" in figure.alt


def test_errors_name_rows_that_would_read_the_same() -> None:
    """Two rows with one counter, condition and statistic are told apart by what was measured."""
    figure = errors([row(subject="data volume D:"), row(subject="log volume L:", error_pct=3.0, role="fitted")])
    assert any("data volume D:" in text for text in figure.layout["yaxis"]["ticktext"])
    assert {trace["name"] for trace in figure.data} == {"predicted", "fitted"}


def test_sweep_draws_in_order_with_marks() -> None:
    """Points are sorted along x; marks become lines with a text."""
    frame = pd.DataFrame({"k": [900, 100, 500], "tps": [90.0, 95.0, 94.0]})
    figure = sweep_curve(frame, "k", "tps", label="SIMULATED, profile test", marks={750: "-k750"})
    assert figure.data[0]["x"] == [100, 500, 900]
    assert len(figure.layout["shapes"]) == 1
    assert len(figure.tables[0].rows) == 3


def test_html_block_is_safe_and_complete() -> None:
    """Names cannot break out of the block; it holds text alternative, table and one JSON specification."""
    figure = time_series({"</script><b>": make_run()}, "Transactions/sec", title="A <title>")
    html = figure.html()
    assert "</script><b>" not in html and "A &lt;title&gt;" in html
    spec = re.search(r'class="aglab-spec">(.*?)</script>', html, flags=re.DOTALL).group(1)
    assert json.loads(spec)["data"][0]["name"] == "</script><b>"
    assert "aglab-alt" in html and "<table" in html


def test_mime_bundle_serves_jupyterlab_and_the_book() -> None:
    """JupyterLab gets Plotly's MIME type with real colours, the book the HTML block, a terminal one line."""
    bundle = time_series(make_run(), "Transactions/sec")._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "application/vnd.plotly.v1+json"}
    assert "@" not in json.dumps(bundle["application/vnd.plotly.v1+json"]["data"])
    assert bundle["text/plain"].startswith("Figure('Transactions/sec over time'")


def test_plotly_accepts_what_we_emit() -> None:
    """Plotly's own validation takes the data and the layout of every kind of figure."""
    import plotly.graph_objects as go

    frame = pd.DataFrame({"k": [1, 2], "tps": [3.0, 4.0]})
    runs = {"a": make_run(), "b": make_run()}
    for figure in (arms(runs, k_mb_s=750), comparison([row()]), errors([row()]), sweep_curve(frame, "k", "tps", marks={1: "x"})):
        spec = figure.plotly("dark")
        go.Figure(data=spec["data"], layout=spec["layout"])


def test_saving_is_atomic_and_checked(tmp_path: Path) -> None:
    """A figure becomes one HTML file; another ending is refused; an unwritable place leaves nothing behind."""
    figure = time_series(make_run(), "Transactions/sec")
    path = figure.save(tmp_path / "new" / "figure.html")
    assert path.stat().st_size > 4_000_000 and "SIMULATED, profile test" in path.read_text(encoding="utf-8")
    with pytest.raises(UsageError, match=r"\.png"):
        figure.save(tmp_path / "figure.png")
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(MissingError, match="cannot write"):
        figure.save(tmp_path / "file" / "figure.html")
    assert sorted(item.name for item in tmp_path.iterdir()) == ["file", "new"]


def test_palettes_have_the_same_names_and_enough_contrast() -> None:
    """Every series colour keeps 3:1 against its paper, text 4.5:1, in both themes."""

    def luminance(colour: str) -> float:
        parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    def contrast(one: str, two: str) -> float:
        high, low = sorted((luminance(one), luminance(two)), reverse=True)
        return (high + 0.05) / (low + 0.05)

    themes = palette()
    assert set(themes["light"]) == set(themes["dark"])
    for colours in themes.values():
        assert all(contrast(colours[name], colours["paper"]) >= 3 for name in colours if re.fullmatch(r"s\d", name))
        assert all(contrast(colours[name], colours["paper"]) >= 4.5 for name in ("ink", "muted"))


def test_numbers_and_texts() -> None:
    """Numbers are rounded the same everywhere and gaps become null; inline marks become HTML, everything else is escaped."""
    assert numbers([1.23456, float("nan"), 2.0]) == [1.235, None, 2]
    assert np.isnan(significant(float("inf")))
    assert [human(value) for value in (99149.4, 0.41237, -0.0, None)] == ["99,149", "0.4124", "0", "n/a"]
    assert inline("a `b` **c** *d* <e>") == "a <code>b</code> <strong>c</strong> <em>d</em> &lt;e&gt;"
    assert "<" not in script_json("</script>")


def test_themed_replaces_tokens_only() -> None:
    """Tokens become colours, with transparency where asked; other text stays."""
    light = themed({"a": "@s0", "b": ["@s0/0.5"], "c": "@nobody", "d": "x@s0"})
    assert light == {"a": "#0060a8", "b": ["rgba(0,96,168,0.5)"], "c": "@nobody", "d": "x@s0"}


def test_terminal_forms() -> None:
    """A sparkline fits its width, in blocks or ASCII; the table has a line for each row."""
    assert sparkline([0, 1, 2, 3], width=4) == "▁▃▆█"
    assert sparkline(range(100), width=10, plain=True)[-1] == "#"
    assert sparkline([]) == "" and sparkline([0, 0]) == "▁▁"
    assert terminal_table([row(), row(error_pct=None)], title="Table 6").row_count == 2


def test_parts_stack_and_tell_every_number() -> None:
    """One trace for each part, the same bars in each; the text alternative and the table hold every size and the sum."""
    figure = parts(
        {"before": {"log": 320.0, "rest": 1660.0}, "after": {"log": 10.0, "rest": 1660.0}}, title="A request", unit="us"
    )
    assert [trace["name"] for trace in figure.data] == ["log", "rest"]
    assert figure.data[0]["y"] == ["before", "after"] and figure.layout["barmode"] == "stack"
    assert len({trace["marker"]["pattern"]["shape"] for trace in figure.data}) == 2
    assert "before: log 320, rest 1,660" in figure.alt
    assert figure.tables[0].rows[1] == ("after", 10.0, 1660.0, 1670.0)


@pytest.mark.parametrize(
    ("bars", "says"),
    [
        ({}, "no bar to draw"),
        ({"a": {"log": 1.0}, "b": {"rest": 1.0}}, "bar 'b' has the parts"),
        ({"a": {"log": -1.0}}, "log=-1 us must be >= 0"),
    ],
)
def test_parts_refuses_what_it_cannot_stack(bars: dict[str, dict[str, float]], says: str) -> None:
    """Nothing, parts that differ, or a negative size."""
    with pytest.raises(UsageError, match=says):
        parts(bars, title="A request", unit="us")
