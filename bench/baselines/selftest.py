"""Proves that the baselines compute the same mathematics: equal losses over 20 steps, both families.

Random weights in the dump format, two cells that differ in rate, decay and Δt. The loss of the first step
is also compared with the formulas written out plainly in float64 NumPy (q, k, v apart, gates on the
outputs), so that all frameworks being wrong in the same way would show. Small sizes, one thread.

    python bench/baselines/selftest.py [--compile]
"""

from __future__ import annotations

import argparse
import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from dump import LOSS_STEPS, TARGETS, Dump, load_dump, save_dump, time_features
from runner import Trainer

TOLERANCE = 1e-4
SMALL = {
    "d_model": 32, "n_layers": 3, "n_heads": 2, "d_ff": 64, "seq_len": 16, "batch_size": 4, "vocab_size": 48,
    "modulation_hidden": 8, "frequencies": 4, "include_t": True, "targets": list(TARGETS),
    "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "clip": 1.0,
}  # fmt: skip


def random_dump(family: str, cells: int, *, sizes: dict[str, Any] | None = None, seed: int = 0) -> Dump:
    """A dump with random weights and learnable tokens (each token follows its predecessor plus 1, mostly)."""
    c = {**SMALL, **(sizes or {}), "family": family, "E": cells}
    spread = np.linspace(0.0, 1.0, cells)
    c["lr"] = (3e-3 * (1.0 - 0.5 * spread)).tolist()
    c["weight_decay"] = (0.1 * spread).tolist()
    c["residual_scale"] = (1.0 - spread * (1.0 - 1.0 / c["n_layers"])).tolist()
    d, f, v, t = c["d_model"], c["d_ff"], c["vocab_size"], c["seq_len"]
    shapes: dict[str, tuple[int, ...]] = {"embedding.weight": (v, d), "position.weight": (t, d)}
    shapes |= {"final_norm.scale": (d,), "final_norm.shift": (d,), "head.weight": (v, d)}
    time_indexed = family == "time_indexed"
    for at in ["block"] if time_indexed else [f"layers.{i}" for i in range(c["n_layers"])]:
        shapes |= {f"{at}.{n}.{k}": (d,) for n in ("norm1", "norm2") for k in ("scale", "shift")}
        for name, out, inner in [(f"attn.{x}", d, d) for x in ("q", "k", "v", "out")] + [
            ("mlp.up", f, d),
            ("mlp.down", d, f),
        ]:
            shapes |= {f"{at}.{name}.weight": (out, inner), f"{at}.{name}.bias": (out,)}
    if time_indexed:
        features, h = time_features(c).shape[1], c["modulation_hidden"]
        for x in c["targets"]:
            out = f if x == "up" else d
            shapes |= {f"modulation.{x}.w1": (h, features), f"modulation.{x}.b1": (h,)}
            shapes |= {f"modulation.{x}.w2": (out, h), f"modulation.{x}.b2": (out,)}
    rng = np.random.default_rng(seed)
    weights = {k: (0.1 * rng.standard_normal((cells, *s))).astype(np.float32) for k, s in shapes.items()}
    for name in weights:
        if name.endswith(".scale"):
            weights[name] += 1.0
    starts = rng.integers(0, v, (LOSS_STEPS, cells, c["batch_size"], 1))
    noise = rng.random((LOSS_STEPS, cells, c["batch_size"], t + 1)) < 0.1
    tokens = (starts + np.arange(t + 1) + noise.cumsum(-1)) % v
    return Dump(c, weights, np.ascontiguousarray(tokens[..., :-1]), np.ascontiguousarray(tokens[..., 1:]))


def plain_loss(dump: Dump, cell: int) -> float:
    """Loss of the first step from the formulas written out: float64, one projection at a time."""
    c, dt = dump.config, dump.per_cell("residual_scale")[cell]
    p = {k: v[cell].astype(np.float64) for k, v in dump.weights.items()}
    erf = np.vectorize(math.erf)

    def norm(at: str, x: np.ndarray) -> np.ndarray:
        y = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
        return y * p[f"{at}.scale"] + p[f"{at}.shift"]

    def project(at: str, target: str, x: np.ndarray, e: np.ndarray | None) -> np.ndarray:
        y = x @ p[f"{at}.weight"].T
        if e is not None and f"modulation.{target}.w1" in p:
            w1, b1, w2, b2 = (p[f"modulation.{target}.{k}"] for k in ("w1", "b1", "w2", "b2"))
            y = y / (1.0 + np.exp(-(w2 @ np.maximum(w1 @ e + b1, 0.0) + b2)))
        return y + p[f"{at}.bias"]

    def attention(at: str, x: np.ndarray, e: np.ndarray | None) -> np.ndarray:
        b, t, d = x.shape
        h = c["n_heads"]
        q, k, v = (
            project(f"{at}.attn.{n}", n, x, e).reshape(b, t, h, d // h).transpose(0, 2, 1, 3) for n in ("q", "k", "v")
        )
        scores = np.where(np.tri(t, dtype=bool), q @ k.swapaxes(-1, -2) / math.sqrt(d // h), -np.inf)
        a = np.exp(scores - scores.max(-1, keepdims=True))
        y = (a / a.sum(-1, keepdims=True)) @ v
        return project(f"{at}.attn.out", "out", y.transpose(0, 2, 1, 3).reshape(b, t, d), e)

    def mlp(at: str, x: np.ndarray, e: np.ndarray | None) -> np.ndarray:
        u = project(f"{at}.mlp.up", "up", x, e)
        return project(f"{at}.mlp.down", "down", 0.5 * u * (1.0 + erf(u / math.sqrt(2.0))), e)

    x = p["embedding.weight"][dump.inputs[0, cell]] + p["position.weight"]
    if dump.family == "time_indexed":
        for e in time_features(c).astype(np.float64):
            x = x + dt * (attention("block", norm("block.norm1", x), e) + mlp("block", norm("block.norm2", x), e))
    else:
        for at in (f"layers.{i}" for i in range(c["n_layers"])):
            x = x + dt * attention(at, norm(f"{at}.norm1", x), None)
            x = x + dt * mlp(at, norm(f"{at}.norm2", x), None)
    logits = norm("final_norm", x) @ p["head.weight"].T
    log_sum = np.log(np.exp(logits - logits.max(-1, keepdims=True)).sum(-1)) + logits.max(-1)
    picked = np.take_along_axis(logits, dump.targets[0, cell][..., None], axis=-1)[..., 0]
    return float((log_sum - picked).mean())


def difference(a: np.ndarray, b: np.ndarray) -> float:
    """Largest relative difference."""
    return float(np.max(np.abs(a - b) / np.abs(b)))


def trainers(dump: Dump, *, compiled: bool) -> dict[str, Trainer]:
    """All baselines on one dump, in this process."""
    from jax_jit import JaxCells
    from torch_compile import compiled_loop
    from torch_eager import CellLoop
    from torch_vmap import FusedCells

    made: dict[str, Trainer] = {
        "torch eager": CellLoop(dump, "fp32"),
        "torch vmap": FusedCells(dump, "fp32", compiled=False, explicit=True),
        "torch vmap sdpa": FusedCells(dump, "fp32", compiled=False, explicit=False),
        "jax jit": JaxCells(dump, mapped=False),
        "jax jit+vmap": JaxCells(dump, mapped=True),
    }
    if compiled:
        made["torch.compile"] = compiled_loop(dump, "fp32")
        made["torch vmap compiled"] = FusedCells(dump, "fp32", compiled=True, explicit=True)
    return made


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--compile", action="store_true", help="also torch.compile (a minute or two)")
    arguments = p.parse_args()
    import torch

    torch.set_num_threads(1)
    worst = 0.0
    for family in ("standard", "time_indexed"):
        with tempfile.TemporaryDirectory() as folder:
            save_dump(random_dump(family, 2), Path(folder))
            dump = load_dump(Path(folder))
        plain = np.array([plain_loss(dump, cell) for cell in range(dump.cells)])
        reference: np.ndarray | None = None
        for name, trainer in trainers(dump, compiled=arguments.compile).items():
            losses = trainer.train(0, LOSS_STEPS)
            reference = losses if reference is None else reference
            start, whole = difference(losses[0], plain), difference(losses, reference)
            worst = max(worst, start, whole)
            print(
                f"{family:13}{name:20} loss {losses[0].mean():.4f} → {losses[-1].mean():.4f}"
                f"   from formulas {start:.1e}   from eager, 20 steps {whole:.1e}"
            )
        assert reference is not None
        if difference(reference[:, 0], reference[:, 1]) < 1e-3:
            raise SystemExit(f"{family}: the two cells train alike; per-cell numbers are not used")
        halves = [dump.take(i, i + 1) for i in range(2)]
        from torch_eager import CellLoop

        split = np.concatenate([CellLoop(half, "bf16").train(0, LOSS_STEPS) for half in halves], axis=1)
        bf16 = difference(split, reference)
        print(f"{family:13}{'torch eager bf16':20} 20 steps {bf16:.1e} (limit 1e-2)")
        if bf16 > 1e-2:
            raise SystemExit("bf16 losses are too far from fp32")
    print(f"largest relative difference {worst:.1e} (limit {TOLERANCE:.0e})")
    if not worst <= TOLERANCE:
        raise SystemExit("the baselines do not compute the same mathematics")


if __name__ == "__main__":
    main()
