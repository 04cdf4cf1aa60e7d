"""Golden numbers of the family tong, by a second author's hand: float64, one loop a layer, no batching of depth.

Writes tests/golden/tong.json, which tests/models/golden_test.cpp compares with the program. Parameters and
tokens are those of common.py. Depth-time, step length and features are rounded to float32, as the
program holds them.

    python tests/golden/tong.py
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from common import (
    HEADS, HIDDEN, LAYERS, POSITIONS, TOKENS, VOCABULARY, WIDTH, Weights, float32, golden, layer_norm, standardised,
    write,
)  # fmt: skip

FREQUENCIES, NORM_HIDDEN, NET_HIDDEN = 4, 6, 6


class Case(NamedTuple):
    geometric: bool
    include_t: bool
    temporal_norms: bool
    temporal_readout: bool
    positions: bool
    tanh_gelu: bool
    fused_qkv: bool
    per_layer: bool
    sequential: bool
    step: float


CASES = {
    "tong_text": Case(False, False, False, False, True, False, False, False, False, 1 / LAYERS),
    "tong_published": Case(True, True, True, False, False, True, True, False, False, 1 / LAYERS),
    "tong_published_standard": Case(True, True, True, True, False, True, True, True, True, 1.0),
}


def features(case: Case, t: Tensor) -> Tensor:
    k = torch.arange(FREQUENCIES, dtype=torch.float64)
    angle = t * (1000 * 10000.0 ** (-k / FREQUENCIES)) if case.geometric else t * (2 * math.pi * (k + 1))
    return float32(torch.cat([angle.sin(), angle.cos()] + ([t.view(1)] if case.include_t else [])))


def time_network(w: Weights, name: str, e: Tensor, width: int) -> Tensor:
    a = w(f"{name}.w1", width, len(e)) @ e + w(f"{name}.b1", 1, width)[0]
    return w(f"{name}.w2", width, width) @ (a / (1 + torch.exp(-a))) + w(f"{name}.b2", 1, width)[0]


def temporal_linear(w: Weights, name: str, e: Tensor, x: Tensor, out: int) -> Tensor:
    m = time_network(w, f"{name}.time", e, NET_HIDDEN)
    entries = out * x.shape[-1]
    weight = m @ w(f"{name}.generator", NET_HIDDEN, entries) + w(f"{name}.base", 1, entries)[0]
    return x @ weight.view(out, -1).T + m @ w(f"{name}.bias_generator", NET_HIDDEN, out)


def norm(w: Weights, name: str, e: Tensor | None, x: Tensor) -> Tensor:
    if e is None:
        return layer_norm(w, name, x)
    m = time_network(w, f"{name}.time", e, NORM_HIDDEN)
    scale, shift = w(f"{name}.scale", WIDTH, NORM_HIDDEN) @ m, w(f"{name}.shift", WIDTH, NORM_HIDDEN) @ m
    return standardised(x) * (1 + scale) + shift


def attention(w: Weights, case: Case, block: str, e: Tensor, x: Tensor) -> Tensor:
    if case.fused_qkv:
        q, k, v = temporal_linear(w, f"{block}.attn.qkv", e, x, 3 * WIDTH).split(WIDTH, dim=-1)
    else:
        q, k, v = (temporal_linear(w, f"{block}.attn.{part}", e, x, WIDTH) for part in "qkv")
    size = WIDTH // HEADS
    heads = []
    for head in range(HEADS):
        part = slice(head * size, (head + 1) * size)
        mixed = torch.zeros_like(v[..., part])
        for i in range(TOKENS):  # position i sees positions up to i
            score = torch.einsum("bd,bjd->bj", q[:, i, part], k[:, : i + 1, part]) / math.sqrt(size)
            mixed[:, i] = torch.einsum("bj,bjd->bd", torch.softmax(score, -1), v[:, : i + 1, part])
        heads.append(mixed)
    return temporal_linear(w, f"{block}.attn.out", e, torch.cat(heads, -1), WIDTH)


def feed_forward(w: Weights, case: Case, block: str, e: Tensor, x: Tensor) -> Tensor:
    up = temporal_linear(w, f"{block}.mlp.up", e, x, HIDDEN)
    if case.tanh_gelu:
        up = 0.5 * up * (1 + torch.tanh(math.sqrt(2 / math.pi) * (up + 0.044715 * up**3)))
    else:
        up = 0.5 * up * (1 + torch.erf(up / math.sqrt(2)))
    return temporal_linear(w, f"{block}.mlp.down", e, up, WIDTH)


def logits(w: Weights, case: Case, tokens: Tensor) -> Tensor:
    x = w("embedding.weight", VOCABULARY, WIDTH)[tokens]
    if case.positions:
        x = x + w("position.weight", POSITIONS, WIDTH)[:TOKENS]
    step = float32(torch.tensor(case.step, dtype=torch.float64))
    for i in range(LAYERS):
        e = features(case, float32(torch.tensor((i + 1) / LAYERS, dtype=torch.float64)))
        at = e if case.temporal_norms else None
        block = f"layers.{i}" if case.per_layer else "block"
        mixed = attention(w, case, block, e, norm(w, f"{block}.norm1", at, x))
        y = x + step * mixed if case.sequential else x
        fed = feed_forward(w, case, block, e, norm(w, f"{block}.norm2", at, y))
        x = y + step * fed if case.sequential else x + step * (mixed + fed)
    end = features(case, torch.tensor(1.0, dtype=torch.float64)) if case.temporal_readout else None
    return norm(w, "final_norm", end, x) @ w("head.weight", VOCABULARY, WIDTH).T


if __name__ == "__main__":
    write(__file__, {name: golden(logits, case) for name, case in CASES.items()})
