"""Common parts of the families whose layers skip tokens: a block over the chosen tokens, gathered.

The k = ⌊γT⌋ tokens of a sequence with the highest scores are executed; in a tie the earlier token wins. Only these are
gathered, in text order, pass through an ordinary block with the rotary angles of their positions, and are scattered
back. Skipped tokens contribute no queries, keys or values.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dump import Dump
from torch_model import Block, Model, Rotary, add_scaled, rotary_tables


def dynamic_layers(dump: Dump, cell: int) -> list[int]:
    """0-based layers that skip tokens, from `odd`, `even`, `all` or a list."""
    layers = dump.leaf(cell, f"model.{dump.family}.layers")
    every = range(dump.config["n_layers"])
    return list({"odd": every[1::2], "even": every[::2], "all": every}[layers] if isinstance(layers, str) else layers)


def rms(x: Tensor) -> Tensor:
    """Root-mean-square norm without parameters."""
    return F.rms_norm(x, x.shape[-1:], eps=1e-5)


def highest(score: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Positions (B, k) of the k highest scores, ascending, and the same as a 0/1 mask (B, T)."""
    order = torch.sort(score, dim=-1, descending=True, stable=True).indices[:, :k]
    return order.sort(dim=-1).values, torch.zeros_like(score, dtype=torch.float32).scatter_(1, order, 1.0)


class Routed(Model):
    """Separate blocks with rotary positions; `routed` is the layer that skips."""

    LOSSES: tuple[str, ...] = ()
    """Leaves with the weights of the losses beside the cross-entropy."""
    EXTRAS: tuple[str, ...] = ()
    """Modules of a dynamic layer beside its block, as its weights name them."""

    def __init__(self, dump: Dump, cell: int) -> None:
        config = dump.config
        super().__init__(config, positions=False)
        d, heads, tokens = config["d_model"], config["n_heads"], config["seq_len"]
        self.dynamic = dynamic_layers(dump, cell)
        self.k = math.floor(dump.leaf(cell, f"model.{dump.family}.capacity") * tokens + 1e-9)
        self.blocks = nn.ModuleList(Block(d, config["d_ff"], heads) for _ in range(self.layers_n))
        cos, sin = rotary_tables(tokens, d // heads, dump.leaf(cell, "model.rope_base"))
        self.cos: Tensor
        self.sin: Tensor
        self.loss_weights: Tensor
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)
        weights = [1.0, *(dump.leaf(cell, leaf) for leaf in self.LOSSES)]
        self.register_buffer("loss_weights", torch.tensor(weights), persistent=False)

    def increment(self, block: Block, x: Tensor, dt: float | Tensor, rotary: Rotary) -> Tensor:
        """F(x) of x ← x + Δt·F(x)."""
        attention = block.attention(block.norm1(x), {}, None, rotary)
        return attention + block.mlp(block.norm2(add_scaled(x, attention, dt)), {})

    def executed(self, block: Block, x: Tensor, chosen: Tensor, gate: Tensor, dt: float | Tensor) -> Tensor:
        """x + Δt·gate·F of the tokens chosen (B, k), whose gates are given (B, k); x of the others."""
        where = chosen.unsqueeze(-1).expand(-1, -1, x.shape[-1])
        some = x.gather(1, where)
        rotary = self.cos[chosen].unsqueeze(1), self.sin[chosen].unsqueeze(1)
        f = self.increment(block, some, dt, rotary)
        return x.scatter(1, where, add_scaled(some, gate.unsqueeze(-1) * f, dt))

    def routed(self, layer: int, x: Tensor, dt: float | Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        """State after a layer that skips, and its losses."""
        raise NotImplementedError

    def forward(self, inputs: Tensor, targets: Tensor, dt: float | Tensor) -> Tensor:
        """Mean cross-entropy, then the means over dynamic layers of the other losses: (1 + len(LOSSES))."""
        x = self.embedding(inputs)
        parts = []
        for i, block in enumerate(self.blocks):
            if i in self.dynamic:
                x, losses = self.routed(i, x, dt)
                parts.append(torch.stack(losses))
            else:
                x = add_scaled(x, self.increment(block, x, dt, (self.cos, self.sin)), dt)
        logits = self.head(self.final_norm(x))
        language = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        return torch.cat([language.unsqueeze(0), torch.stack(parts).mean(0)])

    @classmethod
    def module_name(cls, name: str) -> str:
        """layers.3.router.weight → router.3.weight."""
        parts = name.split(".")
        if parts[0] == "layers" and parts[2] in cls.EXTRAS:
            return ".".join([parts[2], parts[1], *parts[3:]])
        return super().module_name(name)
