"""What is measured: sizes, families and rivals of the suites of training steps; see bench/README.md."""

from __future__ import annotations

from collections.abc import Callable

from contenders import Case

STUDY = {
    "model.d_model": 256, "model.n_layers": 6, "model.n_heads": 4, "data.seq_len": 128, "train.batch_size": 8,
}  # fmt: skip
MEDIUM = {**STUDY, "model.d_model": 128, "train.lr": 1e-3, "train.weight_decay": 0.1}
SMALL = {**STUDY, "model.d_model": 64, "data.seq_len": 64}
FAMILIES = ("standard", "time_indexed")
FACTORS = {
    4: {"train.lr": "3e-4,1e-3", "model.residual.scale": "1,0.5"},
    16: {"train.lr": "3e-4,1e-3", "train.weight_decay": "0,0.1", "model.residual.scale": "1,0.5", "seeds": "2"},
}
"""Factors in which cells differ, so that per-cell rates, decays and steps are part of the comparison."""
VARIANTS: dict[str, tuple[str, dict[str, str]]] = {
    "standard": ("standard", {}),
    "standard, one block": ("standard", {"model.share": "all"}),
    "time_indexed": ("time_indexed", {}),
    "time_indexed, ssm": ("time_indexed", {"model.mixer": "ssm"}),
    "tong": ("tong", {}),
    "tdt": ("tdt", {"model.tdt.execution": "gathered"}),
    "mod": ("mod", {"model.mod.execution": "gathered", "train.lr": 3e-4}),
}
"""Every family, and leaves that are not its defaults."""
SCANS = ("loop", "fft", "blocks")
"""Ways of computing a state-space layer in PyTorch; the last one, which consists of products, is also compiled."""


def d256_cases(cores: int | None) -> list[Case]:
    """One cell at the study's size; one thread unless told otherwise."""
    cores, cases = cores or 1, []
    for family in FAMILIES:
        for precision in ("fp32", "bf16"):
            rivals: list[tuple[str, ...]] = [("torch_eager.py",), ("torch_compile.py",)]
            if precision == "fp32":
                rivals.append(("jax_jit.py",))
            name = f"d=256, {family}, {precision}, E=1"
            cases.append(Case(name, family, 1, STUDY, precision, cores, 10, tuple(rivals)))
    return cases


def small_cases(cores: int | None) -> list[Case]:
    """Small cells; every rival with each way of using the cores that could be its best."""
    cores = cores or 2
    split = ("--processes", str(cores))
    rivals = (
        ("torch_eager.py", *split),
        ("torch_compile.py",),
        ("torch_compile.py", *split),
        ("torch_vmap.py",),
        ("torch_vmap.py", "--compile"),
        ("torch_vmap.py", "--compile", "--attention", "sdpa"),
        ("torch_vmap.py", "--compile", *split),
        ("jax_jit.py",),
        ("jax_jit.py", "--vmap"),
    )
    return [
        Case(
            f"d=64, {family}, fp32, E={cells}", family, cells, SMALL, "fp32", cores, 80 // cells, rivals, FACTORS[cells]
        )
        for family in FAMILIES
        for cells in FACTORS
    ]


def family_cases(cores: int | None) -> list[Case]:
    """Every family: one cell on one core, and four small cells on two."""
    cases = []
    for cells, sizes, own in ((1, MEDIUM, 1), (4, SMALL, 2)):
        here = cores or own
        split = ("--processes", str(here)) if here > 1 and cells > 1 else ()
        for variant, (family, leaves) in VARIANTS.items():
            rivals: list[tuple[str, ...]] = [("torch_eager.py", *split), ("torch_compile.py", *split)]
            if leaves.get("model.mixer") == "ssm":
                rivals = [("torch_eager.py", "--scan", scan, *split) for scan in SCANS]
                rivals.append(("torch_compile.py", "--scan", SCANS[-1], *split))
            if cells > 1 and family not in ("tdt", "mod"):
                rivals.append(("torch_vmap.py", "--compile", *split))
            name = f"d={sizes['model.d_model']}, {variant}, fp32, E={cells}"
            every, factors = {**sizes, **leaves}, FACTORS.get(cells, {})
            cases.append(Case(name, family, cells, every, "fp32", here, 10, tuple(rivals), factors))
    return cases


GPU_CELLS = 8
GPU_VARIANTS = {
    "standard": ("standard", {}),
    "time_indexed, mlp": ("time_indexed", {}),
    "time_indexed, ssm": ("time_indexed", {"model.mixer": "ssm"}),
}


def gpu_cases(device: str) -> list[Case]:
    """Several cells at the study's size on one card, TF32 on all sides; small ones where a CPU plays it."""
    cases, on_card = [], device == "cuda"
    sizes = STUDY if on_card else {**SMALL, "model.n_layers": 2, "data.seq_len": 32, "train.batch_size": 4}
    graphs = ("--mode", "reduce-overhead") if on_card else ()
    for variant, (family, leaves) in GPU_VARIANTS.items():
        rivals: list[tuple[str, ...]] = [("torch_compile.py", *graphs), ("torch_vmap.py", "--compile", *graphs)]
        if family == "standard":  # the slowest rival has shown what it can there
            rivals.insert(0, ("torch_eager.py",))
        if not leaves:
            rivals += [("jax_jit.py",), ("jax_jit.py", "--vmap")]
        precision, cells = ("tf32", GPU_CELLS) if on_card else ("fp32", 2)
        name = f"{variant}, {precision}, E={cells}"
        every = {**sizes, **leaves}
        cases.append(Case(name, family, cells, every, precision, 1, 30 if on_card else 2, tuple(rivals), {}, device))
    return cases


STEP_SUITES: dict[str, Callable[[int | None], list[Case]]] = {
    "d256": d256_cases, "small": small_cases, "families": family_cases,
}  # fmt: skip
"""Suites of training steps; cases for the given number of cores, or for each suite's default."""
