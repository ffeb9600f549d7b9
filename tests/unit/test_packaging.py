"""What travels in the wheel, what the lock pins, and that the entrance scripts can be run."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(not (ROOT / "pyproject.toml").is_file(), reason="looks at a checkout")


@pytest.fixture(scope="module")
def project():
    """pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built as pip would and unpacked where nobody may write."""
    pytest.importorskip("build")
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout + made.stderr
    site = folder / "site"
    with zipfile.ZipFile(next(folder.glob("aglab-*.whl"))) as archive:
        archive.extractall(site)
    for path in [site, *site.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    yield site
    for path in [site, *site.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)


def test_the_wheel_carries_what_a_learner_needs(wheel):
    """Labs, numbers, profiles, notebooks, the sampler's T-SQL and the front end are inside; tests and workings are not."""
    package = wheel / "aglab"
    for name in (
        "_bundle/data/published/figures.csv",
        "_bundle/data/profiles/hpe-dl380-gen9-ssd.toml",
        "_bundle/data/calibration/constants.toml",
        "_bundle/labs/16-checkpoint-throttle/lab.toml",
        "_bundle/labs/16-checkpoint-throttle/01_which_checkpoint.sql",
        "_bundle/notebooks/16_checkpoint_throttle.ipynb",
        "lab/sample.sql",
        "viz/frontend/aglab.css",
    ):
        assert (package / name).is_file(), name
    assert not list(wheel.rglob("__pycache__"))
    assert not list(wheel.rglob("test_*.py"))


def test_answer_keys_stay_outside_what_a_learner_gets(wheel, tmp_path):
    """No file of instructor/ is in the wheel, under its own name or another, nor in the copy that `aglab lab` makes of it."""
    from aglab.cli.workcopy import bring_up_to_date

    keys = [path for path in (ROOT / "instructor").rglob("*") if path.is_file()]
    assert keys
    bring_up_to_date(wheel / "aglab" / "_bundle", tmp_path / "copy")
    contents = {path.read_bytes() for path in keys}
    for place in (wheel, tmp_path / "copy"):
        files = [path for path in place.rglob("*") if path.is_file()]
        assert files and not [path for path in files if "instructor" in path.relative_to(place).parts]
        assert not [path for path in files if path.read_bytes() in contents]


def test_the_wheel_works_from_a_read_only_place(wheel, tmp_path):
    """Outside the checkout, from a place nobody may write, the commands find their files."""
    environment = {**os.environ, "PYTHONPATH": str(wheel), "AGLAB_HOME": str(tmp_path / "home"), "PYTHONDONTWRITEBYTECODE": "1"}
    code = (
        "import sys, aglab; assert aglab.__file__.startswith(sys.argv[1]), aglab.__file__\n"
        "from aglab.cli import main\n"
        "assert main(['lab', 'list']) == 0\n"
        "assert main(['profile', 'show', 'laptop-generic', '--json']) == 0\n"
        "assert main(['published', 'show', 'Table 6', '--json']) == 0\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", code, str(wheel)], capture_output=True, text=True, env=environment, cwd=tmp_path, check=False
    )
    assert said.returncode == 0, said.stderr
    assert "16-checkpoint-throttle" in said.stdout


def _name(requirement):
    return re.match(r"[A-Za-z0-9._-]+", requirement).group().lower().replace("_", "-").replace(".", "-")


def test_the_lock_pins_every_dependency(project):
    """Each direct dependency has one exact version in the lock, which names no host."""
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[^\s;]+(\s*;.*)?", line) for line in lines)
    assert "://" not in text
    pinned = {_name(line) for line in lines}
    wanted = list(project["project"]["dependencies"])
    for extra, names in project["project"]["optional-dependencies"].items():
        wanted += names if extra != "pyodbc" else []
    assert {_name(one) for one in wanted} - pinned == set()


def _imported(path):
    """Top names of the modules that a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module.split(".")[0]


def test_every_import_of_the_package_is_declared(project):
    """What src/ and the book's extension import is the standard library, aglab, or a declared dependency."""
    extras = project["project"]["optional-dependencies"]
    declared = {_name(one) for one in project["project"]["dependencies"]}
    declared |= {_name(one) for names in extras.values() for one in names}
    known = {"mssql_python": "mssql-python", "IPython": "ipywidgets", "jupyter_book": "jupyter-book", "distributed": "dask"}
    comes_with = {
        "click",
        "docutils",
        "sphinx",
        "traitlets",
        "pygments",
        "pybtex",
        "nbformat",
        "myst_nb",
        "bs4",
        "yaml",
        "bench_engine",  # tests/bench of a checkout, where there is one
    }
    undeclared = {}
    for path in [*(ROOT / "src").rglob("*.py"), *(ROOT / "book" / "_ext").rglob("*.py")]:
        for module in _imported(path):
            name = known.get(module, module)
            if module in sys.stdlib_module_names or module.startswith("aglab") or name in comes_with:
                continue
            if _name(name) not in declared:
                undeclared.setdefault(module, path.name)
    assert undeclared == {}


@pytest.mark.skipif(sys.platform == "win32", reason="modes of files")
@pytest.mark.parametrize("name", [".ci/run", "scripts/bootstrap.sh", "scripts/wheel_smoke.sh"])
def test_scripts_can_be_run_and_parsed(name):
    """Entrance scripts are executable, and the shell can read them."""
    path = ROOT / name
    assert os.access(path, os.X_OK)
    shell = path.read_text(encoding="utf-8").splitlines()[0].rsplit("/", 1)[-1].split()[-1]
    assert subprocess.run([shell, "-n", str(path)], check=False).returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell")
def test_bootstrap_refuses_another_purpose():
    """A purpose that does not exist is named, exit code 2."""
    said = subprocess.run([str(ROOT / "scripts" / "bootstrap.sh"), "nope"], capture_output=True, text=True, check=False)
    assert said.returncode == 2
    assert "'nope' must be lab, book or test" in said.stderr


def test_workflows_are_valid_and_call_what_exists():
    """Every workflow parses; the scripts that it calls are there."""
    yaml = pytest.importorskip("yaml")
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
        for job in found["jobs"].values():
            for step in job["steps"]:
                for script in re.findall(r"(?:^|\s)((?:scripts/|\.ci/)[\w.]+)", step.get("run", "")):
                    assert (ROOT / script).is_file(), script


def test_the_source_assumes_no_posix():
    """No fork, no /tmp, no signal that Windows lacks by its bare name."""
    banned = re.compile(
        r"os\.fork|[\"']/tmp|os\.kill\(|signal\.SIG(HUP|KILL|USR1|ALRM)|import (fcntl|pwd|grp|resource|termios)\b"
    )
    for path in (ROOT / "src").rglob("*.py"):
        assert not banned.search(path.read_text(encoding="utf-8")), path


def test_the_lock_installs_on_debian_12(project):
    """Debian 12 has Python 3.11.2: no version in the lock may ask for a later one."""
    metadata = pytest.importorskip("importlib.metadata")
    specifiers = pytest.importorskip("packaging.specifiers")
    too_new = []
    for line in (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines():
        name, _, version = line.partition(";")[0].strip().partition("==")
        try:
            found = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        asked = found.metadata["Requires-Python"]
        if found.version == version and asked and "3.11.2" not in specifiers.SpecifierSet(asked):
            too_new.append(f"{name} {version} asks for Python {asked}")
    assert too_new == []
