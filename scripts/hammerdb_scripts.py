"""Write the HammerDB scripts of labs, laptop size: ``labs/NN-slug/hammerdb_build.tcl`` and ``hammerdb_run.tcl``.

python scripts/hammerdb_scripts.py
"""

from __future__ import annotations

from aglab.core.paths import bundle_path
from aglab.lab.labs import describe, lab_slugs
from aglab.live.hammerdb_script import PASSWORD_VARIABLE, Target, build_script, plan_for, run_script
from aglab.record.files import write_text

SHOWN_TIER = "laptop"
LABS = (
    "03-workloads",
    "12-synchronous-commit",
    "13-redo-and-failover",
    "16-checkpoint-throttle",
    "17-backup-options",
    "21-tail-of-the-log",
)


def scripts(slug: str) -> dict[str, str]:
    """File name -> text of a lab's scripts."""
    plan = plan_for(describe(slug)["tier"][SHOWN_TIER], cpus=4, disk_free_gib=1000)
    head = (
        f"# HammerDB 5 or 6, chapter {slug[:2]}, tier {SHOWN_TIER}; written by scripts/hammerdb_scripts.py from lab.toml.\n"
        f"# The password comes from the environment: export {PASSWORD_VARIABLE}=...; then: ./hammerdbcli tcl auto THIS_FILE\n"
    )
    target = Target("sql1")
    return {"hammerdb_build.tcl": head + build_script(target, plan), "hammerdb_run.tcl": head + run_script(target, plan)}


def main() -> None:
    """Write them."""
    for slug in (slug for slug in lab_slugs() if slug in LABS):
        for name, text in scripts(slug).items():
            write_text(bundle_path("labs", slug, name), text)


if __name__ == "__main__":
    main()
