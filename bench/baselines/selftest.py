"""Proves that the baselines compute the same mathematics: equal losses over 20 steps, every family.

Random weights in the dump format, two cells that differ in rate, decay and Δt. The loss of the first step
is also compared with the formulas written out in float64 NumPy (q, k, v separate, gates on the outputs),
which detects an error common to all frameworks. Small sizes, one thread.

    python bench/baselines/selftest.py [--compile]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from dump import LOSS_STEPS, TARGETS, Dump, load_dump, save_dump, time_features
from plain import Plain
from runner import Trainer

TOLERANCE = 1e-4
SMALL = {
    "d_model": 32, "n_layers": 3, "n_heads": 2, "d_ff": 64, "seq_len": 16, "batch_size": 4, "vocab_size": 48,
    "modulation_hidden": 8, "frequencies": 4, "include_t": True, "targets": list(TARGETS),
    "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "clip": 1.0,
}  # fmt: skip


PROBLEMS: dict[str, tuple[str, dict[str, Any]]] = {
    "standard": ("standard", {}),
    "one block": ("standard", {"model.share": "all"}),
    "time_indexed": ("time_indexed", {}),
    "ssm": ("time_indexed", {"model.mixer": "ssm", "model.ssm.state_size": 8, "model.ssm.dt_min": 1e-4}),
    "tong": ("tong", {"model.hypernet.hidden": 8}),
    "tdt": (
        "tdt",
        {
            "model.tdt.layers": "odd", "model.tdt.capacity": 0.3, "model.tdt.ma_window": 5, "model.rope_base": 10000,
            "model.tdt.lambda_tpn": 0.05, "model.tdt.lambda_causal": 0.1, "train.clip_scope": "group",
            "train.groups.router.lr": 3e-3, "train.groups.scalars.lr": 1e-3, "train.groups.router.weight_decay": 0,
        },
    ),
    "mod": (
        "mod",
        {
            "model.mod.layers": [1], "model.mod.capacity": 0.3, "model.mod.predictor_hidden": 12,
            "model.mod.lambda_predictor": 0.1, "model.rope_base": 10000,
        },
    ),
}  # fmt: skip
"""Family and leaves of each problem."""


def block_shapes(c: dict[str, Any], leaves: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    """Weights of all layers."""
    d, f, h = c["d_model"], c["d_ff"], leaves.get("model.hypernet.hidden")
    features, ssm = time_features(c).shape[1], leaves.get("model.mixer") == "ssm"
    shared = c["family"] in ("time_indexed", "tong") or leaves.get("model.share") == "all"
    maps = [(f"attn.{x}", d, d) for x in ("q", "k", "v", "out")]
    maps += [] if ssm else [("mlp.up", f, d), ("mlp.down", d, f)]
    shapes: dict[str, tuple[int, ...]] = {}
    for at in ["block"] if shared else [f"layers.{i}" for i in range(c["n_layers"])]:
        shapes |= {f"{at}.{n}.{k}": (d,) for n in ("norm1", "norm2") for k in ("scale", "shift")}
        for name, out, inner in maps:
            if not h:
                shapes |= {f"{at}.{name}.weight": (out, inner), f"{at}.{name}.bias": (out,)}
                continue
            shapes |= network_shapes(f"{at}.{name}.time", features, h, h)
            shapes |= {f"{at}.{name}.generator": (h, out * inner), f"{at}.{name}.base": (out * inner,)}
            shapes |= {f"{at}.{name}.bias_generator": (h, out)}
    n, gated = leaves.get("model.ssm.state_size", 0), c["targets"] if c["family"] == "time_indexed" else []
    widths = {x: f if x == "up" else d for x in gated}
    if ssm:
        shapes |= {"block.ssm.A": (n, 1), "block.ssm.B": (n, d), "block.ssm.C": (d, n), "block.ssm.D": (d, 1)}
        widths |= {"ssm.A": n, "ssm.B": n, "ssm.C": d, "ssm.D": d, "ssm.delta": n}
    for x, out in widths.items():
        shapes |= network_shapes(f"modulation.{x}", features, c["modulation_hidden"], out)
    return shapes


def network_shapes(name: str, features: int, hidden: int, out: int) -> dict[str, tuple[int, ...]]:
    first = {f"{name}.w1": (hidden, features), f"{name}.b1": (hidden,)}
    return {**first, f"{name}.w2": (out, hidden), f"{name}.b2": (out,)}


def dynamic_shapes(family: str, d: int, hidden: int) -> dict[str, tuple[int, ...]]:
    """Weights that layer 1 has beside its block where it skips tokens."""
    if family == "tdt":
        shapes = {"tpn.up.weight": (16, d), "tpn.down.weight": (d, 8), "router.weight": (2 * d,), "router.bias": (1,)}
        return shapes | {f"gate.{k}": (1,) for k in ("o_ce", "m_cu", "beta_ce", "beta_cu")}
    shapes = {"router.weight": (d,), "predictor.hidden.weight": (hidden, d), "predictor.hidden.bias": (hidden,)}
    return shapes | {"predictor.out.weight": (hidden,), "predictor.out.bias": (1,)}


def random_dump(problem: str, cells: int, *, seed: int = 0) -> Dump:
    """A dump with random weights and learnable tokens (each token follows its predecessor plus 1, mostly)."""
    family, leaves = PROBLEMS[problem]
    c = {**SMALL, "family": family, "E": cells, "leaves": [leaves] * cells}
    if leaves.get("model.mixer") == "ssm":
        c["targets"] = ["q", "k", "v", "out"]
    spread = np.linspace(0.0, 1.0, cells)
    c["lr"] = (3e-3 * (1.0 - 0.5 * spread)).tolist()
    c["weight_decay"] = (0.1 * spread).tolist()
    c["residual_scale"] = (1.0 - spread * (1.0 - 1.0 / c["n_layers"])).tolist()
    d, v, t, routed = c["d_model"], c["vocab_size"], c["seq_len"], family in ("tdt", "mod")
    shapes: dict[str, tuple[int, ...]] = {"embedding.weight": (v, d)} | ({} if routed else {"position.weight": (t, d)})
    shapes |= {"final_norm.scale": (d,), "final_norm.shift": (d,), "head.weight": (v, d)}
    shapes |= block_shapes(c, leaves)
    if routed:
        extra = dynamic_shapes(family, d, leaves.get("model.mod.predictor_hidden", 0))
        shapes |= {f"layers.1.{name}": shape for name, shape in extra.items()}
    rng = np.random.default_rng(seed)
    weights = {k: (0.1 * rng.standard_normal((cells, *s))).astype(np.float32) for k, s in shapes.items()}
    for name in weights:
        if name.endswith(".scale"):
            weights[name] += 1.0
    starts = rng.integers(0, v, (LOSS_STEPS, cells, c["batch_size"], 1))
    noise = rng.random((LOSS_STEPS, cells, c["batch_size"], t + 1)) < 0.1
    tokens = (starts + np.arange(t + 1) + noise.cumsum(-1)) % v
    return Dump(c, weights, np.ascontiguousarray(tokens[..., :-1]), np.ascontiguousarray(tokens[..., 1:]))


def difference(a: np.ndarray, b: np.ndarray) -> float:
    """Largest relative difference."""
    return float(np.max(np.abs(a - b) / np.abs(b)))


def trainers(problem: str, dump: Dump, *, compiled: bool) -> dict[str, Trainer]:
    """All baselines on one dump, in this process."""
    from jax_jit import JaxCells
    from torch_compile import compiled_loop
    from torch_eager import CellLoop
    from torch_ssm import SCANS
    from torch_vmap import FusedCells

    family, leaves = PROBLEMS[problem]
    made: dict[str, Trainer] = {"torch eager": CellLoop(dump, "fp32")}
    if leaves.get("model.mixer") == "ssm":
        made |= {f"torch eager {scan}": CellLoop(dump, "fp32", scan=scan) for scan in SCANS}
    if family not in ("tdt", "mod"):
        made["torch vmap"] = FusedCells(dump, "fp32", compiled=False, explicit=True)
        made["torch vmap sdpa"] = FusedCells(dump, "fp32", compiled=False, explicit=False)
    if not leaves:
        made |= {"jax jit": JaxCells(dump, mapped=False), "jax jit+vmap": JaxCells(dump, mapped=True)}
    if compiled:
        made["torch.compile"] = compiled_loop(dump, "fp32")
    if compiled and "torch vmap" in made:
        made["torch vmap compiled"] = FusedCells(dump, "fp32", compiled=True, explicit=True)
    return made


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--compile", action="store_true", help="also torch.compile (a minute or two)")
    arguments = p.parse_args()
    import torch

    torch.set_num_threads(1)
    worst = 0.0
    for problem, (family, leaves) in PROBLEMS.items():
        with tempfile.TemporaryDirectory() as folder:
            save_dump(random_dump(problem, 2), Path(folder))
            dump = load_dump(Path(folder))
        plain = np.array([x for cell in range(dump.cells) for x in Plain(dump, cell).losses()])
        reference: np.ndarray | None = None
        for name, trainer in trainers(problem, dump, compiled=arguments.compile).items():
            losses = trainer.train(0, LOSS_STEPS)
            reference = losses if reference is None else reference
            start, whole = difference(losses[0], plain), difference(losses, reference)
            worst = max(worst, start, whole)
            print(
                f"{problem:13}{name:20} loss {losses[0, 0]:.4f} → {losses[-1, 0]:.4f}"
                f"   from formulas {start:.1e}   from eager, 20 steps {whole:.1e}"
            )
        assert reference is not None
        if difference(reference[:, 0], reference[:, reference.shape[1] // 2]) < 1e-3:
            raise SystemExit(f"{problem}: the two cells train alike; per-cell numbers are not used")
        if leaves or family not in ("standard", "time_indexed"):
            continue  # measured in fp32 only
        halves = [dump.take(i, i + 1) for i in range(2)]
        from torch_eager import CellLoop

        split = np.concatenate([CellLoop(half, "bf16").train(0, LOSS_STEPS) for half in halves], axis=1)
        bf16 = difference(split, reference)
        print(f"{problem:13}{'torch eager bf16':20} 20 steps {bf16:.1e} (limit 1e-2)")
        if bf16 > 1e-2:
            raise SystemExit("bf16 losses are too far from fp32")
    print(f"largest relative difference {worst:.1e} (limit {TOLERANCE:.0e})")
    if not worst <= TOLERANCE:
        raise SystemExit("the baselines do not compute the same mathematics")


if __name__ == "__main__":
    main()
