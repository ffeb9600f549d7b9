"""Which machine a published row is run on: the profile, or the disk array, that its label names."""

from __future__ import annotations

from collections.abc import Iterable

AG = "hpe-dl380-gen9-ssd"
_TWO, _FOUR = "hpe-dl560-gen10-2p", "hpe-dl560-gen10-4p"
_BY_PREFIX: dict[str, tuple[str, ...]] = {  # the longest prefix of the id counts
    "hpe380-": (AG,),
    "nvdimm-ssd-": ("hpe-dl380-gen9-nvdimm",),
    "nvdimm-pcie-": ("hpe-dl380-gen9-nvdimm-pcie",),
    "nvdimm-pmm-gain-claim": ("hpe-dl380-gen9-nvdimm",),
    "dl560-t13-": (_FOUR,),
    "dl560-t14-": (_FOUR,),
    "dl560-ix-": (_FOUR,),
    "dl560-scale-": (_TWO, _FOUR),
    "dl560-rg-gain-2s": (_TWO,),
    "dl560-rg-gain-4s": (_FOUR,),
    "dl560-bk-noload-speedup": (_TWO,),
    "dl560-bk-load-speedup": (_TWO,),
    "dl560-bk-load-impact-min": (_FOUR,),
    "dl560-bk-load-impact-max": (_TWO,),
    **{f"dl560-t{table}-{name}s-": (profile,) for table in (10, 11, 12) for name, profile in (("2", _TWO), ("4", _FOUR))},
    **{f"dl560-bk-{load}-{end}": (_TWO,) for load in ("noload", "load") for end in ("from", "to")},
    **{f"dl560-ix-{what}": (_FOUR,) for what in ("from", "to", "speedup", "gain-analysis")},
    "nvdimm-wl-warm-to": ("hpe-dl380-gen9-nvdimm",),
    "eql-": ("dell-ps6100xv",),
    "blog-": ("laptop-hyperv",),
}


def machines(row_id: str) -> tuple[str, ...]:
    """Profiles (or arrays) behind a row; empty for a row that nothing is run for.

    >>> machines("dl560-t11-4s-switches-during"), machines("hpe380-t3-tps"), machines("somebody-else")
    (('hpe-dl560-gen10-4p',), ('hpe-dl380-gen9-ssd',), ())
    """
    fitting = [prefix for prefix in _BY_PREFIX if row_id.startswith(prefix)]
    return _BY_PREFIX[max(fitting, key=len)] if fitting else ()


def label(row_ids: Iterable[str]) -> str:
    """The honest label of some rows: their profile where they share one, else that each row names its own.

    >>> label(["hpe380-t3-tps", "hpe380-t3-cpu"]), label(["hpe380-t3-tps", "eql-raid10-vs-50"])
    ('SIMULATED, profile hpe-dl380-gen9-ssd', 'SIMULATED, profile named in each row')
    """
    found = dict.fromkeys(machines(row_id) for row_id in row_ids)
    names = list(dict.fromkeys(name for group in found for name in group))
    if len(names) == 1:
        return f"SIMULATED, profile {names[0]}"
    if len(names) == 2:
        return f"SIMULATED, profiles {names[0]} and {names[1]}"
    return "SIMULATED, profile named in each row"
