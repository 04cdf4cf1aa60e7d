"""Common parts of the model families in PyTorch, written for speed, and the two families that need nothing else.

Fused q, k, v, SDPA, gates folded into weights. Pre-LayerNorm (ε = 1e-5), GELU (erf), causal attention, untied
head without bias, mean cross-entropy.
`standard`: x ← x + Δt·Attn(LN₁ x); x ← x + Δt·MLP(LN₂ x) with L separate blocks, or one for all (`share: all`).
`time_indexed`: one shared block, x ← x + Δt·(Attn(LN₁ x) + MLP(LN₂ x)) at t = i/L, where each matrix is
W ⊙ σ(g(t)) by output row; W ⊙ σ(g) is formed per layer (d² products, less than scaling B·T rows).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dump import TARGETS, Dump, fuse_qkv, time_features

Gates = Mapping[str, Tensor]
Rotary = tuple[Tensor, Tensor]
Weights = dict[str, np.ndarray]


def add_scaled(x: Tensor, y: Tensor, dt: float | Tensor) -> Tensor:
    """x + Δt·y; one pass when Δt is a number."""
    return x + dt * y if isinstance(dt, Tensor) else torch.add(x, y, alpha=dt)


def gated(layer: nn.Linear, gate: Tensor | None) -> Tensor:
    return layer.weight if gate is None else layer.weight * gate.unsqueeze(-1)


def rotary_tables(tokens: int, channels: int, base: float = 10000.0) -> Rotary:
    """cos and sin of position · base^(−2c/D), (T, D/2), angles in float64."""
    rates = base ** (-torch.arange(channels // 2, dtype=torch.float64) / (channels // 2))
    angles = torch.arange(tokens, dtype=torch.float64)[:, None] * rates
    return angles.cos().float(), angles.sin().float()


def rotate(x: Tensor, rotary: Rotary) -> Tensor:
    """Turns each pair of channels (c, c + D/2)."""
    (cos, sin), (a, b) = rotary, x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


def attend(qkv: Tensor, heads: int, mask: Tensor | None = None, rotary: Rotary | None = None) -> Tensor:
    """Causal attention of (B, T, 3d) q, k, v; written out where there is a mask."""
    b, t, d = qkv.shape[0], qkv.shape[1], qkv.shape[2] // 3
    q, k, v = qkv.view(b, t, 3, heads, d // heads).permute(2, 0, 3, 1, 4)
    if rotary is not None:
        q, k = rotate(q, rotary), rotate(k, rotary)
    if mask is not None:
        scores = q @ k.transpose(-2, -1) * (d // heads) ** -0.5 + mask
        y = scores.softmax(-1).to(v.dtype) @ v
    else:
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return y.transpose(1, 2).reshape(b, t, d)


class Block(nn.Module):
    """Attention and feed-forward sublayers with their norms; without d_ff another sublayer takes the second's place."""

    def __init__(self, d: int, d_ff: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        if d_ff:
            self.up, self.down = nn.Linear(d, d_ff), nn.Linear(d_ff, d)

    def attention(self, x: Tensor, gates: Gates, mask: Tensor | None, rotary: Rotary | None = None) -> Tensor:
        qkv = F.linear(x, gated(self.qkv, gates.get("qkv")), self.qkv.bias)
        y = attend(qkv, self.heads, mask, rotary)
        return F.linear(y, gated(self.out, gates.get("out")), self.out.bias)

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

    SPELLING = (
        ("layers.", "blocks."), (".attn.", "."), (".mlp.", "."), (".scale", ".weight"), (".shift", ".bias"),
    )  # fmt: skip
    """What a dumped weight's name and a module's differ in."""

    def __init__(self, config: dict, *, positions: bool = True, explicit: bool = False) -> None:
        super().__init__()
        d, v, t = config["d_model"], config["vocab_size"], config["seq_len"]
        self.layers_n = config["n_layers"]
        self.embedding = nn.Embedding(v, d)
        self.position = nn.Embedding(t, d) if positions else None
        self.final_norm, self.head = nn.LayerNorm(d), nn.Linear(d, v, bias=False)
        self.mask: Tensor | None
        mask = torch.full((t, t), float("-inf")).triu(1) if explicit else None
        self.register_buffer("mask", mask, persistent=False)

    def trunk(self, x: Tensor, dt: float | Tensor) -> Tensor:
        """All layers, (B, T, d) → (B, T, d)."""
        raise NotImplementedError

    def forward(self, inputs: Tensor, targets: Tensor, dt: float | Tensor) -> Tensor:
        """Mean cross-entropy of (B, T) tokens."""
        x = self.embedding(inputs)
        if self.position is not None:
            x = x + self.position.weight
        logits = self.head(self.final_norm(self.trunk(x, dt)))
        return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())

    @classmethod
    def module_name(cls, name: str) -> str:
        """Name of a dumped weight in the module: layers.3.attn.qkv.bias → blocks.3.qkv.bias."""
        for old, new in cls.SPELLING:
            name = name.replace(old, new)
        return "blocks.0." + name.removeprefix("block.") if name.startswith("block.") else name

    @classmethod
    def state(cls, weights: Weights) -> Weights:
        """Weights of all cells as the module has them."""
        return {cls.module_name(k): v for k, v in fuse_qkv(weights, axis=1).items()}


class Standard(Model):
    """Separate blocks, or one block L times."""

    def __init__(self, config: dict, *, shared: bool = False, **more: bool) -> None:
        super().__init__(config, **more)
        sizes = config["d_model"], config["d_ff"], config["n_heads"]
        self.blocks = nn.ModuleList(Block(*sizes) for _ in range(1 if shared else self.layers_n))

    def trunk(self, x: Tensor, dt: float | Tensor) -> Tensor:
        for i in range(self.layers_n):
            block: Block = self.blocks[i % len(self.blocks)]  # type: ignore[assignment]
            x = add_scaled(x, block.attention(block.norm1(x), {}, self.mask), dt)
            x = add_scaled(x, block.mlp(block.norm2(x), {}), dt)
        return x


class TimeIndexed(Model):
    """One block under gates of depth-time."""

    SPELLING = (
        *Model.SPELLING, (".w1", ".first.weight"), (".b1", ".first.bias"), (".w2", ".second.weight"),
        (".b2", ".second.bias"),
    )  # fmt: skip

    def __init__(self, config: dict, *, mlp: bool = True, **more: bool) -> None:
        super().__init__(config, **more)
        d, d_ff = config["d_model"], config["d_ff"] if mlp else 0
        self.blocks = nn.ModuleList([Block(d, d_ff, config["n_heads"])])
        features = torch.from_numpy(time_features(config))
        self.features: Tensor
        self.register_buffer("features", features, persistent=False)
        widths = dict.fromkeys(TARGETS, d) | {"up": d_ff}
        self.targets = list(config.get("targets", TARGETS))
        self.modulation = nn.ModuleDict(
            {x: TimeMlp(features.shape[1], config["modulation_hidden"], widths[x]) for x in self.targets}
        )

    def gates(self) -> list[dict[str, Tensor]]:
        """σ(g(t_i)) for each layer; q, k, v joined (ungated ones are 1)."""
        g = {x: torch.sigmoid(self.modulation[x](self.features)) for x in self.targets}
        if g.keys() & {"q", "k", "v"}:
            ones = torch.ones(self.layers_n, self.embedding.embedding_dim, device=self.features.device)
            g["qkv"] = torch.cat([g.pop(x, ones) for x in ("q", "k", "v")], dim=-1)
        return [dict(zip(g, rows, strict=True)) for rows in zip(*(v.unbind(0) for v in g.values()), strict=True)]

    def trunk(self, x: Tensor, dt: float | Tensor) -> Tensor:
        block: Block = self.blocks[0]  # type: ignore[assignment]
        for gates in self.gates():
            update = block.attention(block.norm1(x), gates, self.mask) + block.mlp(block.norm2(x), gates)
            x = add_scaled(x, update, dt)
        return x


MakeModel = Callable[[Dump, int], Model]
"""Model of one cell of a dump."""


def fill_models(dump: Dump, make: MakeModel, device: str) -> list[Model]:
    """One model per cell with the dumped weights."""
    models = [make(dump, cell).to(device) for cell in range(dump.cells)]
    state = models[0].state(dump.weights)
    for cell, model in enumerate(models):
        model.load_state_dict({k: torch.from_numpy(np.array(v[cell])) for k, v in state.items()}, strict=True)
    return models


def batches(dump: Dump, device: str) -> tuple[Tensor, Tensor]:
    """Inputs and targets, (steps, E, B, T) int64."""
    return torch.from_numpy(dump.inputs).to(device), torch.from_numpy(dump.targets).to(device)


def use(threads: int, precision: str) -> None:
    """Products of float32 on a GPU are in TF32 only if that is the precision."""
    torch.set_num_threads(threads)
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
