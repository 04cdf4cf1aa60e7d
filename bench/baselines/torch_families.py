"""The model of each family."""

from __future__ import annotations

import re
from functools import partial

from dump import Dump, group_of
from torch_mod import Mod
from torch_model import Model, Standard, TimeIndexed, fill_models
from torch_ssm import TimeIndexedSsm
from torch_tdt import Tdt
from torch_tong import Tong


def standard(dump: Dump, cell: int, **more: bool) -> Model:
    return Standard(dump.config, shared=dump.leaf(cell, "model.share") == "all", **more)


def time_indexed(dump: Dump, cell: int, *, scan: str = "blocks", **more: bool) -> Model:
    if dump.leaf(cell, "model.mixer") != "ssm":
        return TimeIndexed(dump.config, **more)
    states, dt_min = dump.leaf(cell, "model.ssm.state_size"), dump.leaf(cell, "model.ssm.dt_min")
    return TimeIndexedSsm(dump.config, states=states, dt_min=dt_min, scan=scan, **more)


def tong(dump: Dump, cell: int, **more: bool) -> Model:
    return Tong(dump.config, hidden=dump.leaf(cell, "model.hypernet.hidden"), **more)


FAMILIES = {"standard": standard, "time_indexed": time_indexed, "tong": tong, "tdt": Tdt, "mod": Mod}


def make_models(dump: Dump, device: str = "cpu", **options: bool | str) -> list[Model]:
    """One model per cell with the dumped weights. Options: `explicit` (attention), `scan` (state-space layers)."""
    return fill_models(dump, partial(FAMILIES[dump.family], **options), device)


def groups_of(dump: Dump, model: Model) -> dict[str, str]:
    """Parameter group of each parameter of a model, in its order."""
    fused = {re.sub(r"\.attn\.[qkv]\.", ".attn.qkv.", name): name for name in dump.weights}
    groups = {model.module_name(new): group_of(old) for new, old in fused.items()}
    return {name: groups[name] for name, _ in model.named_parameters()}
