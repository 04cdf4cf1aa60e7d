"""`mod` in PyTorch: Mixture-of-Depths, the training step.

The k highest r = w·x of a sequence are executed, x ← x + Δt·σ(r)·F(x). A predictor (d → h → 1, SiLU, of the normed
state, with no gradient into the trunk) learns the choice by cross-entropy.
Source: Raposo et al. (2024), arXiv 2404.02258.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dump import Dump
from torch_routed import Routed, highest, rms


class Predictor(nn.Module):
    """Logits of being chosen."""

    def __init__(self, d: int, hidden: int) -> None:
        super().__init__()
        self.hidden, self.out = nn.Linear(d, hidden), nn.Linear(hidden, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(F.silu(self.hidden(rms(x)))).squeeze(-1)


class Mod(Routed):
    """Separate blocks, of which some execute the tokens that their router ranks highest."""

    LOSSES = ("model.mod.lambda_predictor",)
    EXTRAS = ("router", "predictor")

    def __init__(self, dump: Dump, cell: int) -> None:
        super().__init__(dump, cell)
        d, names = dump.config["d_model"], [str(i) for i in self.dynamic]
        hidden = dump.leaf(cell, "model.mod.predictor_hidden")
        self.router = nn.ModuleDict({i: nn.Linear(d, 1, bias=False) for i in names})
        self.predictor = nn.ModuleDict({i: Predictor(d, hidden) for i in names})

    def routed(self, layer: int, x: Tensor, dt: float | Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        r = self.router[str(layer)](x).squeeze(-1)
        chosen, target = highest(r.detach(), self.k)
        loss = F.binary_cross_entropy_with_logits(self.predictor[str(layer)](x.detach()), target)
        return self.executed(self.blocks[layer], x, chosen, torch.sigmoid(r.gather(1, chosen)), dt), (loss,)

    @classmethod
    def state(cls, weights: dict) -> dict:
        """Rows as matrices of one."""
        rows = ("router.", "predictor.")
        return {
            k: v[:, None] if k.startswith(rows) and k.endswith("weight") and v.ndim == 2 else v
            for k, v in super().state(weights).items()
        }
