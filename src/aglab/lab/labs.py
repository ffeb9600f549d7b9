"""A lab: a folder of T-SQL steps that a DBA can read, a cluster to run them on, a prediction, an exercise, a fault to repair."""

from __future__ import annotations

import html
import importlib.util
import os
import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aglab.core.errors import AglabError, UsageError, field_error, unknown_name
from aglab.core.paths import bundle_path
from aglab.core.progress import Progress, no_progress
from aglab.lab import answers, store
from aglab.lab.cluster import Cluster, StepNotPossible
from aglab.lab.results import Result
from aglab.record import Run
from aglab.viz import widget

_STEP = re.compile(r"^\d\d_[a-z0-9_]+$")


def lab_slugs() -> list[str]:
    """Every lab's folder name, in order."""
    return sorted(found.parent.name for found in bundle_path("labs").glob("*/lab.toml"))


def lab_folder(slug: str) -> Path:
    """A lab's folder: the learner's own copy where one stands beside the notebooks, else the one that came with aglab."""
    if slug not in lab_slugs():
        raise unknown_name("lab", slug, lab_slugs())
    here = Path.cwd()
    for folder in (here, here.parent):
        own = folder / "labs" / slug
        if (own / "lab.toml").is_file():
            return own
    return bundle_path("labs", slug)


def describe(slug: str) -> dict[str, Any]:
    """What lab.toml says: title, question, minutes, modes, profile, load."""
    path = lab_folder(slug) / "lab.toml"
    try:
        return {"slug": slug, **tomllib.loads(path.read_text(encoding="utf-8"))}
    except tomllib.TOMLDecodeError as error:
        raise AglabError(f"{path} is not TOML: {error}", "correct the line it names") from None


@dataclass(frozen=True)
class Step:
    """One T-SQL file of a lab; shows itself in a notebook."""

    name: str
    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        try:
            from pygments import highlight
            from pygments.formatters import HtmlFormatter
            from pygments.lexers import get_lexer_by_name
        except ImportError:
            return f"<pre>{html.escape(self.text)}</pre>"
        return highlight(self.text, get_lexer_by_name("tsql"), HtmlFormatter(cssclass="highlight"))


class Lab:
    """An opened lab.

    Parameters
    ----------
    slug : str
        Folder name below labs/.
    cluster : Cluster
        Where it runs.
    """

    def __init__(self, slug: str, cluster: Cluster) -> None:
        self.slug = slug
        self.about = describe(slug)
        self.cluster = cluster
        self.runs: dict[str, Run] = {}
        self._module: Any = None
        widget.SOLVED.clear()
        widget.SOLVED.append(store.keep_quiz)  # what a quiz in JupyterLab tells is kept with the predictions

    # -- steps -----------------------------------------------------------------------------------------------
    @property
    def steps(self) -> list[str]:
        """Names of the T-SQL steps, in order."""
        return sorted(path.stem for path in lab_folder(self.slug).glob("*.sql") if _STEP.match(path.stem))

    def show(self, step: str) -> Step:
        """A step's T-SQL; copy it, change it, run it with ``lab.sql(...)``, in SSMS or in sqlcmd."""
        matches = [name for name in self.steps if name == step or name.split("_")[0] == step]
        if not matches:
            raise unknown_name("step", step, self.steps)
        return Step(matches[0], (lab_folder(self.slug) / f"{matches[0]}.sql").read_text(encoding="utf-8"))

    def run_step(self, step: str, node: str | None = None) -> Result:
        """Run a step as it stands in the folder."""
        return self.sql(self.show(step).text, node)

    def sql(self, script: str, node: str | None = None) -> Result:
        """Run T-SQL on a node (the first by default), in the lab's own database or the one that its lab.toml names."""
        database = self.about.get("cluster", {}).get("database", self.cluster.database)
        return self.cluster.sql(script, node, database=database)

    # -- experiment ------------------------------------------------------------------------------------------
    def measure(self, name: str, seconds: float | None = None, progress: Progress | None = None, **changes: Any) -> Run:
        """Load the cluster and sample it as lab.toml says; the Run is kept as ``lab.runs[name]``."""
        load = {**self.about.get("load", {}), **changes}
        length = float(seconds if seconds is not None else load.pop("seconds", 600))
        load.pop("seconds", None)
        run = self.cluster.run_load(length, progress=progress or no_progress, **load)
        run.provenance["lab"] = self.slug
        self.runs[name] = run
        return run

    def run(self, progress: Progress | None = None) -> dict[str, Run]:
        """The whole experiment: the arms of the lab's script, one after the other."""
        self._hook("run")(self, progress or no_progress)
        return self.runs

    def do(self, name: str, /, *arguments: Any, **named: Any) -> Any:
        """A function of the lab's own script ``lab.py``, for what only this chapter does; it is there to be read."""
        return self._hook(name)(self, *arguments, **named)

    def reset(self) -> None:
        """Back to the chapter's start."""
        self._hook("reset")(self)
        self.runs.clear()

    # -- teaching --------------------------------------------------------------------------------------------
    def predict(self, choice: Any = None, reason: str = "") -> answers.Prediction:
        """Keep a prediction and its reason; call it without arguments to read it again."""
        return answers.predict(self.slug, choice, reason, self.about.get("prediction", {}))

    def check(self, answer: dict[str, Any], progress: Progress | None = None) -> answers.Verdict:
        """Apply an answer to the exercise to the cluster, measure, and say what came of it."""
        return answers.check_on(self.slug, answer, self, self._hook("check"), progress or no_progress)

    def break_it(self) -> None:
        """Bring the cluster into the state that the chapter's last part asks you to repair."""
        self._hook("break_it")(self)

    def repaired(self) -> answers.Verdict:
        """Whether the state of the cluster is healthy again."""
        return self._hook("repaired")(self)

    def ready(self) -> answers.Ready:
        """Mode, profile and versions, and what this machine cannot do."""
        version = str(self.sql("SELECT @@VERSION").value).splitlines()[0]
        return answers.Ready(self.slug, self.about["title"], self.cluster.mode, self.cluster.profile, version, self.cluster.label)

    def _hook(self, name: str) -> Callable[..., Any]:
        """A function of the lab's script ``lab.py``."""
        if self._module is None:
            path = lab_folder(self.slug) / "lab.py"
            spec = importlib.util.spec_from_file_location(f"aglab_lab_{self.slug.replace('-', '_')}", path)
            if spec is None or spec.loader is None or not path.is_file():
                raise AglabError(f"{path} is missing", "reinstall aglab")
            self._module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(self._module)
        found = getattr(self._module, name, None)
        if found is None:
            raise UsageError(
                f"lab {self.slug} has no {name}", f"it has: {', '.join(n for n in dir(self._module) if not n.startswith('_'))}"
            )
        return found

    def close(self) -> None:
        """End the lab's cluster if it is the lab's own."""
        self.cluster.close()

    def __enter__(self) -> Lab:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def cluster(
    mode: str | None = None,
    profile: str | None = None,
    bare: bool = False,
    seed: int = 1,
    attach: bool = False,
    cluster_type: str = "",
    servers: str | Path | None = None,
    allow: Sequence[str] = (),
) -> Cluster:
    """Open a cluster.

    Parameters
    ----------
    mode : str, optional
        "twin" (default, or AGLAB_MODE), "docker" or "remote".
    profile : str, optional
        Hardware profile: of a twin, or of a twin's containers. Real servers have their own.
    bare : bool
        Without the availability group.
    seed : int
        A twin's seed.
    attach : bool
        Use the cluster that ``aglab up`` started.
    cluster_type : str
        Of a twin's availability group: "EXTERNAL" (as ``aglab up`` forms it) or "NONE".
    servers : path, optional
        Mode remote: the file of your servers (or AGLAB_SERVERS); see :mod:`aglab.live.servers`.
    allow : sequence of str
        Mode remote: kinds of changes that may be made; see :mod:`aglab.lab.remote_changes`.
    """
    mode = mode or os.environ.get("AGLAB_MODE") or "twin"
    if seed < 0:
        raise field_error("seed", seed, "must be >= 0", "cluster", "use 1")
    if (servers is not None or allow) and mode != "remote":
        raise UsageError("a file of servers and allowed changes are for mode remote", f"leave them out in mode {mode}")
    if mode == "twin":
        from aglab.hardware import Profile
        from aglab.lab.twin_cluster import TwinCluster

        if profile is not None:
            Profile.load(profile)  # a name or a file of your own that is wrong is told here, before a process starts
            profile = str(Path(profile).resolve()) if profile.endswith(".toml") else profile
        return TwinCluster.attached() if attach else TwinCluster(profile=profile, bare=bare, seed=seed, cluster_type=cluster_type)
    if mode == "docker":
        from aglab.lab.docker_cluster import DockerCluster

        return DockerCluster.attached(None if attach else bare, profile)
    if mode == "remote":
        from aglab.lab.remote_cluster import RemoteCluster

        if profile is not None:
            raise StepNotPossible("hardware", mode)

        return RemoteCluster.opened(servers, allow)
    raise unknown_name("mode", mode, ["twin", "docker", "remote"])


def open_lab(
    slug: str,
    mode: str | None = None,
    profile: str | None = None,
    seed: int = 1,
    attach: bool = False,
    servers: str | Path | None = None,
    allow: Sequence[str] = (),
) -> Lab:
    """Open a lab with a cluster of its own, as its lab.toml asks for."""
    about = describe(slug)
    wanted = about.get("cluster", {})
    is_twin = (mode or os.environ.get("AGLAB_MODE") or "twin") == "twin"
    own = cluster(
        mode,
        profile or (wanted.get("profile") if is_twin else None),  # servers that run have the hardware they were started with
        bool(wanted.get("bare", False)),
        seed,
        attach,
        wanted.get("cluster_type", ""),
        servers,
        allow,
    )
    return Lab(slug, own)
