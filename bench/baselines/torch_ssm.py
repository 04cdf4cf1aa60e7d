"""`time_indexed` with a state-space layer as its second sublayer, in PyTorch.

h_τ = Ā ⊙ h_{τ−1} + B̄ x_τ, y_τ = C h_τ + D ⊙ x_τ along the tokens, with A = −softplus(a) ⊙ σ(g_A(t)) diagonal and B, C,
D under gates by row; Δ(t) = softplus(g_Δ(t)) + Δ_min; held inputs: Ā = exp(ΔA), B̄ = (exp(ΔA) − 1)/(ΔA) · Δ · B.
The recurrence has the same coefficients for all tokens, and can be computed in three ways:
`loop`: token after token, as the published program does;
`fft`: as a convolution with Ā^τ;
`blocks`: a product with the lower triangle Ā^(τ−σ) inside blocks of tokens, another one from block to block.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from torch_model import Block, TimeIndexed, TimeMlp, add_scaled

BLOCK = 16
"""Tokens of a block of `blocks`."""
Scan = Callable[[Tensor, Tensor, Tensor], Tensor]
"""(N) log Ā, (N, d) B̄, (B, T, d) inputs → (B, T, N) states."""


def scan_loop(log_a: Tensor, b: Tensor, x: Tensor) -> Tensor:
    driven = F.linear(x, b)
    a, h, states = log_a.exp(), torch.zeros_like(driven[:, 0]), []
    for u in driven.unbind(1):
        h = torch.addcmul(u, a, h)
        states.append(h)
    return torch.stack(states, dim=1)


def tokens_last(b: Tensor, x: Tensor) -> Tensor:
    """B̄ x with the tokens as last dimension, (N, B, T), so that nothing needs to be copied."""
    return (b @ x.flatten(0, 1).T).view(len(b), *x.shape[:2])


def scan_fft(log_a: Tensor, b: Tensor, x: Tensor) -> Tensor:
    tokens = x.shape[1]
    kernel = torch.exp(log_a.unsqueeze(1) * torch.arange(tokens, device=x.device))
    product = torch.fft.rfft(tokens_last(b, x), 2 * tokens) * torch.fft.rfft(kernel, 2 * tokens).unsqueeze(1)
    return torch.fft.irfft(product, 2 * tokens)[..., :tokens].permute(1, 2, 0)


def scan_blocks(log_a: Tensor, b: Tensor, x: Tensor) -> Tensor:
    n, rows, tokens = len(b), *x.shape[:2]
    size = BLOCK if tokens % BLOCK == 0 else tokens
    blocks = tokens // size
    inside = tokens_last(b, x).view(n, rows * blocks, size) @ powers(log_a, size).transpose(1, 2)
    ends = inside[..., -1].view(n, rows, blocks) @ powers(size * log_a, blocks).transpose(1, 2)
    before = F.pad(ends[..., :-1], (1, 0)).view(n, rows * blocks, 1)
    decay = torch.exp(torch.arange(1, size + 1, device=x.device) * log_a.unsqueeze(1)).unsqueeze(1)
    return torch.addcmul(inside, before, decay).view(n, rows, tokens).permute(1, 2, 0)


def powers(log_a: Tensor, size: int) -> Tensor:
    """Ā^(i−j) for i ≥ j, else 0: (N, size, size)."""
    steps = torch.arange(size, device=log_a.device)
    lag = steps.unsqueeze(1) - steps
    return torch.exp(log_a[:, None, None] * lag.clamp(min=0)).tril()


SCANS: dict[str, Scan] = {"loop": scan_loop, "fft": scan_fft, "blocks": scan_blocks}


class StateSpace(nn.Module):
    """Base weights; gates are with the model's others."""

    def __init__(self, d: int, states: int) -> None:
        super().__init__()
        self.A, self.B = nn.Parameter(torch.empty(states, 1)), nn.Parameter(torch.empty(states, d))
        self.C, self.D = nn.Parameter(torch.empty(d, states)), nn.Parameter(torch.empty(d, 1))


class TimeIndexedSsm(TimeIndexed):
    """One block of attention and state-space layer under gates of depth-time."""

    def __init__(self, config: dict, *, states: int, dt_min: float, scan: str = "blocks", **more: bool) -> None:
        super().__init__(config, mlp=False, **more)
        d, features, hidden = config["d_model"], self.features.shape[1], config["modulation_hidden"]
        self.dt_min, self.scan = dt_min, SCANS[scan]
        self.blocks[0].ssm = StateSpace(d, states)
        widths = {"A": states, "B": states, "C": d, "D": d, "delta": states}
        self.modulation["ssm"] = nn.ModuleDict({k: TimeMlp(features, hidden, n) for k, n in widths.items()})

    def systems(self) -> list[tuple[Tensor, ...]]:
        """log Ā (N), B̄ (N, d), C (d, N) and D (d) of each layer."""
        ssm, networks = self.blocks[0].ssm, self.modulation["ssm"]
        gate = {k: torch.sigmoid(networks[k](self.features)) for k in ("A", "B", "C", "D")}
        delta = F.softplus(networks["delta"](self.features)) + self.dt_min
        log_a = -F.softplus(ssm.A.squeeze(1)) * gate["A"] * delta
        b = (torch.expm1(log_a) / log_a * delta * gate["B"]).unsqueeze(2) * ssm.B
        c, d = gate["C"].unsqueeze(2) * ssm.C, gate["D"] * ssm.D.squeeze(1)
        return list(zip(*(x.unbind(0) for x in (log_a, b, c, d)), strict=True))

    def trunk(self, x: Tensor, dt: float | Tensor) -> Tensor:
        block: Block = self.blocks[0]  # type: ignore[assignment]
        for gates, (log_a, b, c, d) in zip(self.gates(), self.systems(), strict=True):
            attention = block.attention(block.norm1(x), gates, self.mask)
            u = block.norm2(x)
            states = self.scan(log_a, b, u)
            x = add_scaled(x, attention + torch.addcmul(F.linear(states, c), u, d), dt)
        return x
