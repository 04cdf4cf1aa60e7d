"""`tong` in PyTorch: one block whose weights are networks of depth-time.

W(t) = m(t)·G + W₀, b(t) = m(t)·B with m(t) = W₂·silu(W₁·e(t) + b₁) + b₂, a separate m for each matrix;
x ← x + Δt·(Attn(LN₁ x) + MLP(LN₂ x)) at t = i/L. One product makes the matrices of all depth times, which are then
used as the weights of ordinary linear maps.
Source: Tong et al. (2025), "Neural ODE Transformers", ICLR.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dump import QKV, time_features
from torch_model import Model, Weights, add_scaled, attend


class Generator(nn.Module):
    """n matrices of (out, in) and their biases as functions of depth-time, each with its own time network."""

    def __init__(self, n: int, features: int, hidden: int, out: int, columns: int) -> None:
        super().__init__()
        self.shape = (out, columns)
        self.w1, self.b1 = new(n, features, hidden), new(n, 1, hidden)
        self.w2, self.b2 = new(n, hidden, hidden), new(n, 1, hidden)
        self.generator, self.base = new(n, hidden, out * columns), new(n, 1, out * columns)
        self.bias_generator = new(n, hidden, out)

    def forward(self, e: Tensor) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
        """(L, F) → the L matrices (n·out, in) and biases (n·out), one below the other."""
        layers, n, (out, columns) = len(e), len(self.w1), self.shape
        m = torch.baddbmm(self.b1, e.expand(n, *e.shape), self.w1)
        m = torch.baddbmm(self.b2, F.silu(m), self.w2)
        weights = torch.baddbmm(self.base, m, self.generator).view(n, layers, out, columns)
        biases = torch.bmm(m, self.bias_generator)
        rows = weights.transpose(0, 1).reshape(layers, n * out, columns)
        return rows.unbind(0), biases.transpose(0, 1).reshape(layers, n * out).unbind(0)


def new(*shape: int) -> nn.Parameter:
    return nn.Parameter(torch.empty(shape))


class Tong(Model):
    """A block of generated weights with norms that are the same at all depths."""

    def __init__(self, config: dict, *, hidden: int, **more: bool) -> None:
        super().__init__(config, **more)
        d, d_ff = config["d_model"], config["d_ff"]
        features = torch.from_numpy(time_features(config))
        self.features: Tensor
        self.register_buffer("features", features, persistent=False)
        self.heads = config["n_heads"]
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        shapes = {"qkv": (3, d, d), "out": (1, d, d), "up": (1, d_ff, d), "down": (1, d, d_ff)}
        self.maps = nn.ModuleDict(
            {k: Generator(n, features.shape[1], hidden, *shape) for k, (n, *shape) in shapes.items()}
        )

    def trunk(self, x: Tensor, dt: float | Tensor) -> Tensor:
        made = {k: zip(*generator(self.features), strict=True) for k, generator in self.maps.items()}
        for qkv, out, up, down in zip(*(made[k] for k in ("qkv", "out", "up", "down")), strict=True):
            attention = F.linear(attend(F.linear(self.norm1(x), *qkv), self.heads, self.mask), *out)
            mlp = F.linear(F.gelu(F.linear(self.norm2(x), *up)), *down)
            x = add_scaled(x, attention + mlp, dt)
        return x

    @classmethod
    def module_name(cls, name: str) -> str:
        """block.mlp.up.time.w1 → maps.up.w1, block.norm1.scale → norm1.weight."""
        name = super().module_name(name).replace("blocks.0.norm", "norm")
        return name.replace("blocks.0.", "maps.").replace(".time.", ".")

    @classmethod
    def state(cls, weights: Weights) -> Weights:
        """q, k and v concatenated, linear maps as (in, out), rows as (1, n)."""
        state = {}
        for name, value in weights.items():
            if not any(part in name for part in (".attn.", ".mlp.")):
                state[cls.module_name(name)] = value
                continue
            if any(f".attn.{x}." in name for x in "kv"):
                continue
            same = [weights[name.replace(".attn.q.", f".attn.{x}.")] for x in (QKV if ".attn.q." in name else "q")]
            stack = np.stack(same, axis=1)
            if name.endswith((".w1", ".w2")):
                stack = stack.swapaxes(-1, -2)
            state[cls.module_name(name.replace(".attn.q.", ".attn.qkv."))] = (
                stack[:, :, None] if stack.ndim == 3 else stack
            )
        return state
