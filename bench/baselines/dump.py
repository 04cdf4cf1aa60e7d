"""The dump that every baseline starts from: configuration, initial weights and batches.

`depthgrid bench step --dump DIR` writes it; `selftest.py` writes small random ones. All arrays carry
the cells as their leading dimension, linear weights are (out, in).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

LOSS_STEPS = 20
"""Number of first steps whose losses are compared between programs."""

DEFAULT_NO_DECAY = ("norm", "bias", "embedding")
SUBLAYERS = {
    "standard": "sequential", "time_indexed": "parallel", "tong": "parallel", "tdt": "sequential", "mod": "sequential",
}  # fmt: skip
"""The families that have baselines, and the arrangement of a block's two sublayers."""
ASSUMED: dict[str, object] = {
    "model.activation": "gelu", "model.norm": "pre", "model.norm_kind": "layer_norm", "model.final_norm": "layer_norm",
    "model.norm_eps": 1e-5, "model.dropout.attention": 0, "model.dropout.mlp": 0, "model.attention.bias": True,
    "model.mlp.bias": True, "model.time.nodes": "right", "model.time.dependence": "layer", "model.time.jitter": 0,
    "model.time_features.kind": "fourier", "model.modulation.gate": "sigmoid", "model.modulation.granularity": "row",
    "model.modulation.activation": "relu", "model.modulation.share_qkv": False, "model.hypernet.depth": 2,
    "model.hypernet.activation": "silu", "model.hypernet.generate_bias": True, "model.hypernet.share_qkv": False,
    "model.ssm.A": "diagonal", "model.ssm.D": "diagonal", "model.ssm.discretisation": "zoh",
    "model.ssm.granularity": "row", "model.ssm.parameters": "shared", "model.tdt.train_path": "gated_st",
    "model.tdt.scalars": "softplus", "model.tdt.gate_grad_to_trunk": False, "model.tdt.ma_exclusive": False,
    "model.tdt.tpn.norm": "rms", "model.tdt.tpn.detach_input": True, "model.tdt.router.input_norm": "rms",
    "model.tdt.router.bias": True, "model.tdt.router.detach_input": True, "model.tdt.dense_fraction": 0,
    "model.tdt.min_k": 0, "model.tdt.always_execute_first": False, "train.schedule.kind": "constant",
    "train.schedule.warmup_steps": 0, "train.accumulation": 1,
}  # fmt: skip
"""Leaves for which the baselines implement a single value."""
QKV = ("q", "k", "v")
TARGETS = ("q", "k", "v", "out", "up", "down")


GROUPS = {
    "modulation": r"^modulation\.(?!ssm\.delta)", "ssm": r"\bssm\b", "tpn": r"\btpn\b", "router": r"\brouter\b",
    "predictor": r"\bpredictor\b", "scalars": r"\bgate\b", "hypernet": r"\b(time|generator|base|bias_generator)\b",
    "norm": r"\b(norm\d|final_norm)\b", "embedding": r"^(embedding|position)\b", "bias": r"\bbias$", "head": r"^head\b",
}  # fmt: skip
"""Pattern for the names of the weights of each parameter group; the first match counts."""


def group_of(name: str) -> str:
    """Parameter group of a weight, as the program's optimiser sees it."""
    return next((group for group, pattern in GROUPS.items() if re.search(pattern, name)), "trunk")


@dataclass(frozen=True)
class Dump:
    """One benchmark problem: E cells of one structure."""

    config: dict[str, Any]
    weights: dict[str, np.ndarray]
    inputs: np.ndarray
    targets: np.ndarray

    @property
    def cells(self) -> int:
        return int(self.config["E"])

    @property
    def family(self) -> str:
        return str(self.config["family"])

    def per_cell(self, key: str) -> list[float]:
        """A per-cell number; a scalar in the configuration stands for all cells."""
        value = self.config[key]
        values = value if isinstance(value, list) else [value] * self.cells
        if len(values) != self.cells:
            raise ValueError(f"config.json: {key} has {len(values)} values for {self.cells} cells")
        return [float(v) for v in values]

    def decays(self, name: str) -> bool:
        """Whether decoupled weight decay applies to this weight."""
        return group_of(name) not in self.config.get("no_decay", DEFAULT_NO_DECAY)

    def leaf(self, cell: int, path: str) -> Any:
        """A leaf of a cell's configuration, by the name that the program's YAML gives it; None where it has none."""
        leaves: list[dict[str, Any]] = self.config.get("leaves", [])
        return leaves[cell].get(path) if leaves else None

    def rates(self, cell: int, group: str) -> tuple[float, float]:
        """Rate and decay of a parameter group."""
        lr, decay = (self.leaf(cell, f"train.groups.{group}.{x}") for x in ("lr", "weight_decay"))
        decays = group not in self.config.get("no_decay", DEFAULT_NO_DECAY)
        return (
            self.per_cell("lr")[cell] if lr is None else float(lr),
            (self.per_cell("weight_decay")[cell] if decay is None else float(decay)) * decays,
        )

    def take(self, first: int, last: int) -> Dump:
        """The same problem with the cells [first, last) only."""
        lists = {k: v[first:last] for k, v in self.config.items() if k in PER_CELL and isinstance(v, list)}
        return Dump(
            config={**self.config, **lists, "E": last - first},
            weights={k: v[first:last] for k, v in self.weights.items()},
            inputs=self.inputs[:, first:last],
            targets=self.targets[:, first:last],
        )


PER_CELL = ("lr", "weight_decay", "beta1", "beta2", "eps", "clip", "residual_scale", "leaves")


def load_dump(folder: Path) -> Dump:
    """Reads config.json, weights.safetensors and batches.safetensors."""
    config = json.loads((folder / "config.json").read_text())
    batches = load_file(folder / "batches.safetensors")
    dump = Dump(config, load_file(folder / "weights.safetensors"), batches["inputs"], batches["targets"])
    complain_unless_known(dump, folder)
    if dump.inputs.shape[1] != dump.cells:
        raise ValueError(f"{folder}: batches for {dump.inputs.shape[1]} cells, config.json says {dump.cells}")
    return dump


def complain_unless_known(dump: Dump, folder: Path) -> None:
    """The baselines know each family with its usual options only, and group the weights on their own."""
    wanted: dict[str, object] = {"sublayers": SUBLAYERS.get(dump.family), "tie_embeddings": False}
    wrong = [f"{k} = {dump.config[k]}" for k, v in wanted.items() if dump.config.get(k, v) != v]
    known = {**ASSUMED, "model.positions": "rope" if dump.family in ("tdt", "mod") else "learned"}
    for cell in range(dump.cells):
        wrong += [f"{k} = {dump.leaf(cell, k)}" for k, v in known.items() if dump.leaf(cell, k) not in (None, v)]
    groups = dump.config.get("groups", {})
    wrong += [f"{k} in group {group}" for k, group in groups.items() if group_of(k) != group]
    if wrong or dump.family not in SUBLAYERS:
        raise ValueError(f"{folder}: the baselines do not know {dump.family} with {', '.join(wrong)}")


def save_dump(dump: Dump, folder: Path) -> None:
    """Writes a dump in the program's format (without losses)."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(dump.config, indent=1))
    save_file({k: np.ascontiguousarray(v) for k, v in dump.weights.items()}, folder / "weights.safetensors")
    save_file({"inputs": dump.inputs, "targets": dump.targets}, folder / "batches.safetensors")


def time_features(config: dict[str, Any]) -> np.ndarray:
    """(L, F) Fourier features at the right nodes t_i = i/L: sin(2πkt), cos(2πkt), k = 1…K, then t."""
    layers, frequencies = int(config["n_layers"]), int(config["frequencies"])
    t = np.arange(1, layers + 1, dtype=np.float64) / layers
    angles = 2.0 * np.pi * t[:, None] * np.arange(1, frequencies + 1)
    columns = [np.sin(angles), np.cos(angles)] + ([t[:, None]] if config.get("include_t", True) else [])
    return np.concatenate(columns, axis=1).astype(np.float32)


def fuse_qkv(weights: dict[str, np.ndarray], axis: int) -> dict[str, np.ndarray]:
    """Joins the q, k, v projections of each block along their output axis: one product for the three."""
    fused = {k: v for k, v in weights.items() if not any(f".attn.{p}." in k for p in QKV)}
    for name in weights:
        if ".attn.q." in name:
            parts = [weights[name.replace(".attn.q.", f".attn.{p}.")] for p in QKV]
            fused[name.replace(".attn.q.", ".attn.qkv.")] = np.concatenate(parts, axis=axis)
    return fused
