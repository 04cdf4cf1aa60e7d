"""The dump that every baseline starts from: configuration, initial weights and batches.

`depthgrid bench step --dump DIR` writes it; `selftest.py` writes small random ones. All arrays carry
the cells as their leading dimension, linear weights are (out, in).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

LOSS_STEPS = 20
"""Losses of so many first steps are compared between programs."""

DEFAULT_NO_DECAY = ("norm", "bias", "embedding")
QKV = ("q", "k", "v")
TARGETS = ("q", "k", "v", "out", "up", "down")


def group_of(name: str) -> str:
    """Parameter group of a weight, as the program's optimiser sees it."""
    parts = name.split(".")
    if parts[0] == "modulation":
        return "modulation"
    if any(part.startswith(("norm", "final_norm")) for part in parts):
        return "norm"
    if parts[0] in ("embedding", "position"):
        return "embedding"
    if parts[-1] == "bias":
        return "bias"
    return "head" if parts[0] == "head" else "trunk"


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

    def take(self, first: int, last: int) -> Dump:
        """The same problem with the cells [first, last) only."""
        lists = {k: v[first:last] for k, v in self.config.items() if k in PER_CELL and isinstance(v, list)}
        return Dump(
            config={**self.config, **lists, "E": last - first},
            weights={k: v[first:last] for k, v in self.weights.items()},
            inputs=self.inputs[:, first:last],
            targets=self.targets[:, first:last],
        )


PER_CELL = ("lr", "weight_decay", "beta1", "beta2", "eps", "clip", "residual_scale")


def load_dump(folder: Path) -> Dump:
    """Reads config.json, weights.safetensors and batches.safetensors."""
    config = json.loads((folder / "config.json").read_text())
    batches = load_file(folder / "batches.safetensors")
    dump = Dump(config, load_file(folder / "weights.safetensors"), batches["inputs"], batches["targets"])
    sublayers = {"standard": "sequential", "time_indexed": "parallel"}[dump.family]
    if config.get("sublayers", sublayers) != sublayers or config.get("tie_embeddings", False):
        raise ValueError(f"{folder}: the baselines know {dump.family} with {sublayers} sublayers and its own head only")
    if dump.inputs.shape[1] != dump.cells:
        raise ValueError(f"{folder}: batches for {dump.inputs.shape[1]} cells, config.json says {dump.cells}")
    return dump


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
