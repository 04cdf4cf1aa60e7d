"""The two model families in PyTorch, written for speed: fused q, k, v, SDPA, gates folded into weights.

Pre-LayerNorm (ε = 1e-5), GELU (erf), causal attention, untied head without bias, mean cross-entropy.
`standard`: x ← x + Δt·Attn(LN₁ x); x ← x + Δt·MLP(LN₂ x) with L separate blocks.
`time_indexed`: one shared block, x ← x + Δt·(Attn(LN₁ x) + MLP(LN₂ x)) at t = i/L, where each matrix is
W ⊙ σ(g(t)) by output row; W ⊙ σ(g) is formed per layer (d² products, less than scaling B·T rows).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dump import TARGETS, Dump, fuse_qkv, time_features

Gates = Mapping[str, Tensor]


def add_scaled(x: Tensor, y: Tensor, dt: float | Tensor) -> Tensor:
    """x + Δt·y; one pass when Δt is a number."""
    return x + dt * y if isinstance(dt, Tensor) else torch.add(x, y, alpha=dt)


def gated(layer: nn.Linear, gate: Tensor | None) -> Tensor:
    return layer.weight if gate is None else layer.weight * gate.unsqueeze(-1)


class Block(nn.Module):
    """Attention and feed-forward sublayers with their norms."""

    def __init__(self, d: int, d_ff: int, heads: int, *, explicit: bool) -> None:
        super().__init__()
        self.heads, self.explicit = heads, explicit
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.up, self.down = nn.Linear(d, d_ff), nn.Linear(d_ff, d)

    def attention(self, x: Tensor, gates: Gates, mask: Tensor | None) -> Tensor:
        b, t, d = x.shape
        qkv = F.linear(x, gated(self.qkv, gates.get("qkv")), self.qkv.bias)
        q, k, v = qkv.view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        if self.explicit:
            scores = q @ k.transpose(-2, -1) * (d // self.heads) ** -0.5 + mask
            y = scores.softmax(-1).to(v.dtype) @ v
        else:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return F.linear(y.transpose(1, 2).reshape(b, t, d), gated(self.out, gates.get("out")), self.out.bias)

    def mlp(self, x: Tensor, gates: Gates) -> Tensor:
        y = F.gelu(F.linear(x, gated(self.up, gates.get("up")), self.up.bias))
        return F.linear(y, gated(self.down, gates.get("down")), self.down.bias)


class TimeMlp(nn.Module):
    """g(t) = W₂·relu(W₁·e(t) + b₁) + b₂ of one target, for all depth times at once: (L, F) → (L, out)."""

    def __init__(self, features: int, hidden: int, out: int) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(features, hidden), nn.Linear(hidden, out)

    def forward(self, e: Tensor) -> Tensor:
        return self.second(F.relu(self.first(e)))


class Model(nn.Module):
    """Loss of one cell. `explicit` writes the attention out (vmap has no batching rule for CPU SDPA)."""

    def __init__(self, config: dict, *, positions: bool, explicit: bool = False) -> None:
        super().__init__()
        d, v, t = config["d_model"], config["vocab_size"], config["seq_len"]
        self.family, self.layers_n = config["family"], config["n_layers"]
        blocks = 1 if self.family == "time_indexed" else self.layers_n
        self.embedding = nn.Embedding(v, d)
        self.position = nn.Embedding(t, d) if positions else None
        self.blocks = nn.ModuleList(
            Block(d, config["d_ff"], config["n_heads"], explicit=explicit) for _ in range(blocks)
        )
        self.final_norm, self.head = nn.LayerNorm(d), nn.Linear(d, v, bias=False)
        self.mask: Tensor | None
        mask = torch.full((t, t), float("-inf")).triu(1) if explicit else None
        self.register_buffer("mask", mask, persistent=False)
        if self.family == "time_indexed":
            widths = dict.fromkeys(TARGETS, d) | {"up": config["d_ff"]}
            features = torch.from_numpy(time_features(config))
            self.features: Tensor
            self.register_buffer("features", features, persistent=False)
            self.targets = list(config.get("targets", TARGETS))
            self.modulation = nn.ModuleDict(
                {x: TimeMlp(features.shape[1], config["modulation_hidden"], widths[x]) for x in self.targets}
            )

    def gates(self) -> list[dict[str, Tensor]]:
        """σ(g(t_i)) for each layer; q, k, v joined (ungated ones are 1)."""
        g = {x: torch.sigmoid(self.modulation[x](self.features)) for x in self.targets}
        if g.keys() & {"q", "k", "v"}:
            ones = torch.ones(self.layers_n, self.embedding.embedding_dim)
            g["qkv"] = torch.cat([g.pop(x, ones) for x in ("q", "k", "v")], dim=-1)
        return [dict(zip(g, rows, strict=True)) for rows in zip(*(v.unbind(0) for v in g.values()), strict=True)]

    def forward(self, inputs: Tensor, targets: Tensor, dt: float | Tensor) -> Tensor:
        """Mean cross-entropy of (B, T) tokens."""
        x = self.embedding(inputs)
        if self.position is not None:
            x = x + self.position.weight
        if self.family == "time_indexed":
            block: Block = self.blocks[0]  # type: ignore[assignment]
            for gates in self.gates():
                update = block.attention(block.norm1(x), gates, self.mask) + block.mlp(block.norm2(x), gates)
                x = add_scaled(x, update, dt)
        else:
            for block in self.blocks:  # type: ignore[assignment]
                x = add_scaled(x, block.attention(block.norm1(x), {}, self.mask), dt)
                x = add_scaled(x, block.mlp(block.norm2(x), {}), dt)
        logits = self.head(self.final_norm(x))
        return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())


def module_name(name: str) -> str:
    """Name of a dumped weight in `Model`: layers.3.attn.qkv.bias → blocks.3.qkv.bias."""
    name = name.replace("layers.", "blocks.").replace(".attn.", ".").replace(".mlp.", ".")
    name = name.replace(".scale", ".weight").replace(".shift", ".bias")
    if name.startswith("block."):
        name = "blocks.0." + name.removeprefix("block.")
    for old, new in (("w1", "first.weight"), ("b1", "first.bias"), ("w2", "second.weight"), ("b2", "second.bias")):
        if name.startswith("modulation.") and name.endswith(f".{old}"):
            name = name.removesuffix(old) + new
    return name


def make_models(dump: Dump, *, explicit: bool = False) -> tuple[list[Model], set[str]]:
    """One model per cell with the dumped weights, and the names of the weights that decay."""
    weights = fuse_qkv(dump.weights, axis=1)
    models = []
    for cell in range(dump.cells):
        model = Model(dump.config, positions="position.weight" in weights, explicit=explicit)
        state = {module_name(k): torch.from_numpy(np.array(v[cell])) for k, v in weights.items()}
        model.load_state_dict(state, strict=True)
        models.append(model)
    return models, {module_name(k) for k in weights if dump.decays(k)}


def batches(dump: Dump) -> tuple[Tensor, Tensor]:
    """Inputs and targets, (steps, E, B, T) int64."""
    return torch.from_numpy(dump.inputs), torch.from_numpy(dump.targets)
