"""HammerDB as the load of real servers: builds TPROC-C, runs it, reads its results.

The class does not know where hammerdbcli lives. It is given ``execute(argv, stdin_text, on_line) -> exit code``, which starts
``argv``, writes ``stdin_text`` to its standard input and closes it, calls ``on_line`` with each line of output (standard output
and error together) and returns when the process ends. :func:`local` starts it on this machine, :func:`in_container` by
``docker exec``.

    from aglab.live.hammerdb import HammerDB, Target, in_container, plan_for
    load = HammerDB(in_container("aglab-hammerdb"), Target("sql1"), password)
    plan = plan_for(about["tier"]["laptop"], cpus=4, disk_free_gib=20)
    load.build(plan)
    output = load.run(plan)          # Output: nopm, tpm, timing, tcount, labels
    run = output.beside(run)         # a Run whose node "hammerdb" holds its counts
    with load.background(plan): ...  # load while something else happens; ends with the block
    load.delete()

The password goes to the process by standard input and from there into its environment: it is in no argument list, no file that
stays and no line that is passed on (HammerDB prints every value it is given, so lines are cleaned first). HammerDB keeps values
and jobs in SQLite files under ``$TMP``; that is a new folder of mode 0700, removed at the end. Needs a POSIX shell and setsid
where hammerdbcli lives: on Windows run the generated script by hand (:mod:`aglab.live.hammerdb_script`) or use the container.
Not yet confirmed against HammerDB itself by this project: tests use a stand-in that prints the documented lines, which proves
generation and parsing only.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import statistics
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from aglab.core.errors import MissingError, UsageError
from aglab.core.progress import Progress, no_progress
from aglab.live.hammerdb_errors import HammerDBError, not_found, why
from aglab.live.hammerdb_output import Output, parse
from aglab.live.hammerdb_script import PASSWORD_VARIABLE, Plan, Target, build_script, delete_script, plan_for, run_script

__all__ = ["HammerDB", "HammerDBError", "Output", "Plan", "Target", "in_container", "interleaved", "local", "plan_for"]

Execute = Callable[[Sequence[str], str, Callable[[str], None]], int]

IMAGE_HOME = "/home/hammerdb"  # where the images tpcorg/hammerdb keep it, itself or one folder below
_NOT_FOUND = 127

# $1 working folder, $2 HammerDB's folder. The images set the paths of unixODBC in ~/.bashrc only, which nobody reads here.
_START = f"""umask 077
folder="${{TMPDIR:-/tmp}}/$1"
mkdir "$folder" || exit 73
trap 'rm -rf "$folder"' EXIT
trap '[ -z "${{child:-}}" ] || kill -TERM "-$child"; exit 143' HUP INT TERM
IFS= read -r {PASSWORD_VARIABLE} && export {PASSWORD_VARIABLE}
cat > "$folder/run.tcl"
export TMP="$folder"
if [ -d /usr/local/unixODBC ]; then
  export PATH="$PATH:/opt/mssql-tools18/bin:/usr/local/unixODBC/bin" ODBCINI=/usr/local/unixODBC/etc/odbc.ini
  export ODBCSYSINI=/usr/local/unixODBC/etc LD_LIBRARY_PATH="${{LD_LIBRARY_PATH:-}}:/usr/local/unixODBC/lib"
fi
for home in "$2" "$2"/HammerDB-*; do
  if [ -x "$home/hammerdbcli" ]; then cd "$home" || exit 72; found=1; break; fi
done
[ -n "${{found:-}}" ] || exit {_NOT_FOUND}
setsid ./hammerdbcli tcl auto "$folder/run.tcl" </dev/null &
child=$!
echo "$child" > "$folder/pid"
wait "$child"
"""
_STOP = 'kill -TERM "-$(cat "${TMPDIR:-/tmp}/$1/pid")"'  # no --: dash does not know it here


class HammerDB:
    """One HammerDB, one server.

    Parameters
    ----------
    execute : callable
        Starts a process where hammerdbcli lives (see the module).
    target : Target
        The server as that process reaches it.
    password : str
        Of ``target.user``; one line.
    home : str
        HammerDB's folder there.
    """

    def __init__(self, execute: Execute, target: Target, password: str, home: str = IMAGE_HOME) -> None:
        if not password or "\n" in password or "\r" in password:
            raise UsageError("the password of the load must be one line of text", "give the one that the nodes were made with")
        self._execute = execute
        self.target = target
        self._password = password
        self.home = home
        self._folder = ""

    def build(self, plan: Plan, progress: Progress = no_progress, on_line: Callable[[str], None] | None = None) -> Output:
        """Create the database and load ``plan.warehouses``."""
        return self._finished(self._call(build_script(self.target, plan), on_line, progress, plan.build_users), "build")

    def run(self, plan: Plan, progress: Progress = no_progress, on_line: Callable[[str], None] | None = None) -> Output:
        """Ramp up, measure, and read NOPM, TPM, response times and the transaction counter.

        Raises
        ------
        HammerDBError
            A virtual user failed, or no result was printed; says why and what to do.
        """
        output = self._finished(self._call(run_script(self.target, plan), on_line, progress, plan.users), "run")
        if output.nopm is None or output.tpm is None:
            cause, remedy = why(output.errors)
            raise HammerDBError(f"the run printed no TEST RESULT: {cause}", remedy, output.errors)
        return output

    def delete(self, on_line: Callable[[str], None] | None = None) -> Output:
        """Drop the schema; its database must have left the availability group."""
        return self._finished(self._call(delete_script(self.target), on_line, no_progress, 1), "delete")

    def stop(self) -> None:
        """End the process that runs now, and its children; nothing to do where none runs."""
        if self._folder:
            self._execute(["sh", "-c", _STOP, "aglab-stop", self._folder], "", lambda line: None)

    @contextlib.contextmanager
    def background(self, plan: Plan) -> Iterator[Load]:
        """Load while the block runs; ended with it. ``Load.failed()`` says whether the load is still there, and why not.

        One deadlock victim must not end a load that stands for users: errors of single statements are passed over.
        """
        load = Load(self, replace(plan, raise_errors=False))
        load.start()
        try:
            yield load
        finally:
            load.stop()

    def _call(self, script: str, on_line: Callable[[str], None] | None, progress: Progress, users: int) -> Output:
        self._folder = f"aglab-hammerdb-{secrets.token_hex(8)}"
        lines: list[str] = []
        done = 0

        def heard(raw: str) -> None:
            nonlocal done
            line = raw.replace(self._password, "********").rstrip("\r\n")
            lines.append(line)
            if ":FINISHED " in line:
                done += 1
                progress(done, max(users, done), "virtual users done")
            if on_line is not None:
                on_line(line)

        try:
            code = self._execute(
                ["sh", "-c", _START, "aglab-start", self._folder, self.home], f"{self._password}\n{script}", heard
            )
        except BaseException:  # Ctrl-C too: nothing is left running where hammerdbcli lives
            with contextlib.suppress(OSError, MissingError):
                self.stop()
            raise
        finally:
            self._folder = ""
        if code == _NOT_FOUND:
            raise not_found(self.home)
        output = parse(lines)
        if code and not output.errors:
            output.errors.append((lines or [f"exit code {code}"])[-1])
        return output

    def _finished(self, output: Output, what: str) -> Output:
        if output.failed or f"{what} ended" not in output.marks:
            cause, remedy = why(output.errors)
            who = f"virtual users {', '.join(map(str, output.failed))} failed" if output.failed else "it did not end"
            raise HammerDBError(f"HammerDB's {what} on {self.target.server}: {who}: {cause}", remedy, output.errors)
        return output


class Load:
    """A run in the background."""

    def __init__(self, hammerdb: HammerDB, plan: Plan) -> None:
        self._hammerdb, self._plan = hammerdb, plan
        self._error: BaseException | None = None
        self._running = threading.Event()
        self._stopping = False
        self.output: Output | None = None
        self._thread = threading.Thread(target=self._work, daemon=True)

    def start(self) -> None:
        """Return when HammerDB has said that the run starts, or has failed before."""
        self._thread.start()
        while self._thread.is_alive() and not self._running.wait(0.1):
            pass
        self.failed()

    def failed(self) -> None:
        """Raise what ended the load, if anything did."""
        if self._error is not None and not self._stopping:
            raise self._error

    def stop(self) -> None:
        """End the load and wait until it is gone."""
        self._stopping = True
        while self._thread.is_alive():
            self._hammerdb.stop()
            self._thread.join(0.5)

    def _work(self) -> None:
        try:
            self.output = self._hammerdb.run(self._plan, on_line=self._heard)
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread by failed()
            self._error = error

    def _heard(self, line: str) -> None:
        if line.strip() == "AGLAB run starts":
            self._running.set()


def interleaved(
    arms: Mapping[str, Callable[[], None]], measure: Callable[[], Output], repetitions: int
) -> tuple[list[tuple[str, Output]], dict[str, float]]:
    """Several runs of each arm, every other round in reverse order, so that a slow drift of the machine hits all arms alike.

    Parameters
    ----------
    arms : mapping
        Name -> what sets the arm up.
    measure : callable
        One run.
    repetitions : int
        Rounds; three or more make a median.

    Returns
    -------
    list, dict
        Every (arm, Output) in the order run; and the median NOPM of each arm.
    """
    if repetitions < 1 or not arms:
        raise UsageError(f"repetitions={repetitions!r} of {len(arms)} arms measure nothing", "use 3 and at least one arm")
    runs: list[tuple[str, Output]] = []
    for round_number in range(repetitions):
        names = list(arms) if round_number % 2 == 0 else list(arms)[::-1]
        for name in names:
            arms[name]()
            runs.append((name, measure()))
    return runs, {name: statistics.median(out.nopm or 0 for arm, out in runs if arm == name) for name in arms}


def local(argv: Sequence[str], stdin_text: str, on_line: Callable[[str], None]) -> int:
    """Start a process on this machine (an ``execute``)."""
    return _start(list(argv), stdin_text, on_line)


def in_container(container: str, docker: str = "docker") -> Execute:
    """An ``execute`` that starts processes in a running container."""

    def execute(argv: Sequence[str], stdin_text: str, on_line: Callable[[str], None]) -> int:
        return _start([docker, "exec", "-i", container, *argv], stdin_text, on_line)

    return execute


def _start(argv: list[str], stdin_text: str, on_line: Callable[[str], None]) -> int:
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            cwd=Path.home() if os.name == "posix" else None,
            start_new_session=os.name == "posix",  # Ctrl-C comes to us, and we end it
        )
    except OSError as error:
        raise MissingError(f"{argv[0]} cannot be started: {error.strerror}", "HammerDB needs a POSIX shell, or docker") from None
    assert process.stdin is not None and process.stdout is not None
    with process:
        try:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(stdin_text)
                process.stdin.close()
            for line in process.stdout:
                on_line(line)
            return process.wait()
        except BaseException:
            process.terminate()
            raise
