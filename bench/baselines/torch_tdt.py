"""`tdt` in PyTorch, the training step of path `gated_st`: temporal dynamic transformer.

A dynamic layer takes two passes. The dense one, without a graph, gives Δx = Δt·F, its prediction Δx̂_t from the dense
output of token t − 1, D_st = ‖Δx‖²/d, D_ch = ‖Δx − Δx̂‖²/d, MA = mean D_st of the last W tokens,
CE = D_st − (D_ch − log(o_ce + 1e-10)), CU = D_st − m_cu·MA, S = σ(softplus(β)·C) and g = S_CE + S_CU − S_CE·S_CU.
The second executes the k tokens of highest g, ranked by softplus(a) + softplus(b) in float64, under g/stop_grad(g).
Further losses: the mean square of Δx̂ − Δx, and the cross-entropy between a router, linear in [x_t ‖ x_(t−1)], and
the choice. Clipped by parameter group.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dump import Dump
from torch_routed import Routed, highest, rms


def previous(x: Tensor) -> Tensor:
    """Token t − 1 in the place of t; zeros in front."""
    return F.pad(x[:, :-1], (0, 0, 1, 0))


def moving_average(x: Tensor, window: int) -> Tensor:
    """Mean of the last `window` entries, or of those there are: (B, T), summed in float64."""
    sums = x.double().cumsum(-1)
    sums[:, window:] -= sums[:, :-window].clone()
    return (sums / torch.arange(1, x.shape[1] + 1, device=x.device).clamp(max=window)).float()


class Network(nn.Module):
    """Δx̂ from the previous token's dense output: (silu(x W₁) ⊙ x W₃) W₂ behind an RMS norm, no biases."""

    def __init__(self, d: int, hidden: int) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(d, 2 * hidden, bias=False), nn.Linear(hidden, d, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        a, b = self.up(rms(previous(x))).chunk(2, dim=-1)
        return self.down(F.silu(a) * b)


class Scalars(nn.Module):
    """The four scalars of the gate; o_ce and m_cu are softplus of a parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.o_ce, self.m_cu = nn.Parameter(torch.empty(1)), nn.Parameter(torch.empty(1))
        self.beta_ce, self.beta_cu = nn.Parameter(torch.empty(1)), nn.Parameter(torch.empty(1))

    def arguments(self, d_st: Tensor, d_ch: Tensor, average: Tensor) -> tuple[Tensor, Tensor]:
        """softplus(β_ce)·CE and softplus(β_cu)·CU, in the precision of the surprises."""
        o_ce, m_cu = F.softplus(self.o_ce).to(d_st.dtype), F.softplus(self.m_cu).to(d_st.dtype)
        ce = d_st - (d_ch - torch.log(o_ce + 1e-10))
        cu = d_st - m_cu * average
        return F.softplus(self.beta_ce.to(d_st.dtype)) * ce, F.softplus(self.beta_cu.to(d_st.dtype)) * cu


class Tdt(Routed):
    """Separate blocks, of which some skip tokens by their surprise."""

    LOSSES = ("model.tdt.lambda_tpn", "model.tdt.lambda_causal")
    EXTRAS = ("tpn", "router", "gate")

    def __init__(self, dump: Dump, cell: int) -> None:
        super().__init__(dump, cell)
        d, names = dump.config["d_model"], [str(i) for i in self.dynamic]
        self.window = dump.leaf(cell, "model.tdt.ma_window")
        hidden = dump.weights[f"layers.{names[0]}.tpn.down.weight"].shape[-1]
        self.tpn = nn.ModuleDict({i: Network(d, hidden) for i in names})
        self.router = nn.ModuleDict({i: nn.Linear(2 * d, 1) for i in names})
        self.gate = nn.ModuleDict({i: Scalars() for i in names})

    def routed(self, layer: int, x: Tensor, dt: float | Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        block, scalars, seen = self.blocks[layer], self.gate[str(layer)], x.detach()
        with torch.no_grad():
            residual = dt * self.increment(block, seen, dt, (self.cos, self.sin))
        errors = (self.tpn[str(layer)](seen + residual) - residual).square().mean(-1)
        d_st, d_ch = residual.square().mean(-1), errors.detach()
        average = moving_average(d_st, self.window)
        with torch.no_grad():
            a, b = scalars.arguments(d_st.double(), d_ch.double(), average.double())
            chosen, target = highest(F.softplus(a) + F.softplus(b), self.k)
        a, b = scalars.arguments(*(v.gather(1, chosen) for v in (d_st, d_ch, average)))
        s_ce, s_cu = torch.sigmoid(a), torch.sigmoid(b)
        g = s_ce + s_cu - s_ce * s_cu
        now = rms(seen)
        logits = self.router[str(layer)](torch.cat([now, previous(now)], dim=-1)).squeeze(-1)
        causal = F.binary_cross_entropy_with_logits(logits, target)
        return self.executed(block, x, chosen, g / g.detach(), dt), (errors.mean(), causal)

    @classmethod
    def state(cls, weights: dict) -> dict:
        """The router's row as a matrix of one."""
        state = super().state(weights)
        return {k: v[:, None] if k.startswith("router.") and k.endswith("weight") else v for k, v in state.items()}
