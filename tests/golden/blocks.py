"""Golden numbers of the families standard and time_indexed, by a second author's hand: float64, one loop a layer.

Writes tests/golden/blocks.json, which tests/models/golden_test.cpp compares with the program. Parameters and
tokens are those of common.py. Depth-time, step length and features are rounded to float32, as the
program holds them.

    python tests/golden/blocks.py
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from common import (
    EPS, HEADS, HIDDEN, LAYERS, POSITIONS, TOKENS, VOCABULARY, WIDTH, Weights, float32, golden, layer_norm,
    standardised, write,
)  # fmt: skip

FREQUENCIES, NORM_HIDDEN, GATE_HIDDEN, ROPE_BASE = 4, 6, 5, 10000.0


class Case(NamedTuple):
    gated: bool = False  # time_indexed: one block under gates of depth-time
    share: str = "none"
    sequential: bool = True
    rms: bool = False
    rope: bool = False
    swiglu: bool = False
    layers: int = LAYERS
    granularity: str = "row"
    gate: str = "sigmoid"
    published: bool = False
    constant_time: bool = False
    gain: bool = False  # a factor of each base matrix


CASES = {
    "standard_plain": Case(),
    "standard_rms": Case(rms=True),
    "standard_rope": Case(rope=True),
    "standard_swiglu": Case(swiglu=True),
    "standard_share_all": Case(share="all"),
    "standard_share_attention": Case(share="attention"),
    "standard_share_ffn": Case(share="ffn"),
    "standard_one_layer": Case(layers=1),
    "time_indexed_plain": Case(gated=True, sequential=False),
    "time_indexed_element": Case(gated=True, sequential=False, granularity="element"),
    "time_indexed_one_plus_tanh": Case(gated=True, sequential=False, gate="one_plus_tanh"),
    "time_indexed_constant_time": Case(gated=True, sequential=False, constant_time=True),
    "time_indexed_learned_gain": Case(gated=True, sequential=False, gain=True),
    "time_indexed_published": Case(gated=True, published=True),
}


def features(case: Case, t: float) -> Tensor:
    time = float32(torch.tensor(t, dtype=torch.float64))
    k = torch.arange(FREQUENCIES, dtype=torch.float64)
    angle = time * (1000 * 10000.0 ** (-k / FREQUENCIES)) if case.published else time * (2 * math.pi * (k + 1))
    return float32(torch.cat([angle.sin(), angle.cos(), time.view(1)]))


def gate(w: Weights, case: Case, target: str, e: Tensor, out: int, into: int) -> Tensor:
    """What the weight (out, into) of a target is multiplied by."""
    granularity = case.granularity
    if case.published:
        granularity = "row" if target == "out" else "column"
        target = "q" if target in "qkv" else target
    size = {"row": out, "column": into, "element": out * into}[granularity]
    name = f"modulation.{target}"
    if case.published:
        g = w(f"{name}.w2", size, len(e)) @ e + w(f"{name}.b2", 1, size)[0]
    else:
        hidden = torch.relu(w(f"{name}.w1", GATE_HIDDEN, len(e)) @ e + w(f"{name}.b1", 1, GATE_HIDDEN)[0])
        g = w(f"{name}.w2", size, GATE_HIDDEN) @ hidden + w(f"{name}.b2", 1, size)[0]
    g = 1 / (1 + torch.exp(-g)) if case.gate == "sigmoid" else 1 + torch.tanh(g)
    return g.view({"row": (out, 1), "column": (1, into), "element": (out, into)}[granularity])


def base(w: Weights, case: Case, name: str, target: str, out: int, into: int) -> Tensor:
    if target != "qkv":
        weight = w(f"{name}.weight", out, into)
        return weight * w("block.gain", 6)[["out", "up", "down"].index(target) + 3] if case.gain else weight
    weight = w(f"{name}.weight", 3 * out, into)
    return weight * w("block.gain", 6)[:3].repeat_interleave(out)[:, None] if case.gain else weight


def linear(w: Weights, case: Case, name: str, target: str, e: Tensor | None, x: Tensor, out: int) -> Tensor:
    into = x.shape[-1]
    if target == "qkv":
        weight = base(w, case, name, target, out, into)
        if e is not None:
            weight = torch.cat([weight[i * out : (i + 1) * out] * gate(w, case, t, e, out, into) for i, t in enumerate("qkv")])
        out *= 3
    else:
        weight = base(w, case, name, target, out, into)
        if e is not None:
            weight = weight * gate(w, case, target, e, out, into)
    y = x @ weight.T
    return y if case.published and ".attn." in name else y + w(f"{name}.bias", 1, out)[0]


def norm(w: Weights, case: Case, name: str, e: Tensor | None, x: Tensor) -> Tensor:
    if case.rms:
        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + EPS) * w(f"{name}.scale", WIDTH)
    if not case.published:
        return layer_norm(w, name, x)
    a = w(f"{name}.time.w1", NORM_HIDDEN, len(e)) @ e + w(f"{name}.time.b1", 1, NORM_HIDDEN)[0]
    m = w(f"{name}.time.w2", NORM_HIDDEN, NORM_HIDDEN) @ (a / (1 + torch.exp(-a))) + w(f"{name}.time.b2", 1, NORM_HIDDEN)[0]
    scale, shift = w(f"{name}.scale", WIDTH, NORM_HIDDEN) @ m, w(f"{name}.shift", WIDTH, NORM_HIDDEN) @ m
    return standardised(x) * (1 + scale) + shift


def rotated(x: Tensor, position: int) -> Tensor:
    """Channels (c, c + D/2) of one token's head are turned by position · base^(−2c/D)."""
    half = x.shape[-1] // 2
    angle = position * ROPE_BASE ** (-torch.arange(half, dtype=torch.float64) / half)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)


def attention(w: Weights, case: Case, block: str, e: Tensor | None, x: Tensor) -> Tensor:
    q, k, v = linear(w, case, f"{block}.attn.qkv", "qkv", e, x, WIDTH).split(WIDTH, dim=-1)
    size = WIDTH // HEADS
    heads = []
    for head in range(HEADS):
        part = slice(head * size, (head + 1) * size)
        mixed = torch.zeros_like(v[..., part])
        for i in range(TOKENS):  # position i sees positions up to i
            query, keys = q[:, i, part], k[:, : i + 1, part]
            if case.rope:
                query = rotated(query, i)
                keys = torch.stack([rotated(keys[:, j], j) for j in range(i + 1)], 1)
            score = torch.einsum("bd,bjd->bj", query, keys) / math.sqrt(size)
            mixed[:, i] = torch.einsum("bj,bjd->bd", torch.softmax(score, -1), v[:, : i + 1, part])
        heads.append(mixed)
    return linear(w, case, f"{block}.attn.out", "out", e, torch.cat(heads, -1), WIDTH)


def feed_forward(w: Weights, case: Case, block: str, e: Tensor | None, x: Tensor) -> Tensor:
    up = linear(w, case, f"{block}.mlp.up", "up", e, x, 2 * HIDDEN if case.swiglu else HIDDEN)
    if case.swiglu:
        up = up[..., :HIDDEN] / (1 + torch.exp(-up[..., :HIDDEN])) * up[..., HIDDEN:]
    else:
        up = 0.5 * up * (1 + torch.erf(up / math.sqrt(2)))
    return linear(w, case, f"{block}.mlp.down", "down", e, up, WIDTH)


def logits(w: Weights, case: Case, tokens: Tensor) -> Tensor:
    x = w("embedding.weight", VOCABULARY, WIDTH)[tokens]
    if not case.rope and not case.published:
        x = x + w("position.weight", POSITIONS, WIDTH)[:TOKENS]
    for i in range(case.layers):
        e = features(case, 0.0 if case.constant_time else (i + 1) / case.layers) if case.gated else None
        own = f"layers.{i}"
        first = "block" if case.gated or case.share in ("all", "attention") else own
        second = "block" if case.gated or case.share in ("all", "ffn") else own
        mixed = attention(w, case, first, e, norm(w, case, f"{first}.norm1", e, x))
        y = x + mixed if case.sequential else x
        fed = feed_forward(w, case, second, e, norm(w, case, f"{second}.norm2", e, y))
        x = y + fed if case.sequential else x + mixed + fed
    end = features(case, 1.0) if case.published else None
    return norm(w, case, "final_norm", end, x) @ w("head.weight", VOCABULARY, WIDTH).T


if __name__ == "__main__":
    write(__file__, {name: golden(logits, case) for name, case in CASES.items()})
