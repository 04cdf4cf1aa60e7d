"""Golden numbers of the family hybrid_ode, by a second author's hand: float64, every step of every method written out.

Writes tests/golden/hybrid.json, which tests/models/golden_test.cpp compares with the program. Parameters and
tokens are those of common.py. Times and step lengths are rounded to float32, as the program holds them.

    python tests/golden/hybrid.py
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from common import (
    HEADS, HIDDEN, LAYERS, POSITIONS, TOKENS, VOCABULARY, WIDTH, Weights, language_loss, layer_norm, numbers, text,
    write,
)  # fmt: skip


class Case(NamedTuple):
    field: str = "attention"  # attention, mlp, block
    replaced: tuple[int, int] = (1, 2)
    steps: int = 3
    method: str = "euler"
    sequential: bool = False  # inside the field
    timed: bool = True
    control: int = 0
    control_bias: bool = False


CASES = {
    "hybrid_ode_plain": Case(),
    "hybrid_ode_late_two": Case(replaced=(1, 3)),
    "hybrid_ode_everything": Case(replaced=(0, 3)),
    "hybrid_ode_midpoint": Case(method="midpoint"),
    "hybrid_ode_heun": Case(method="heun"),
    "hybrid_ode_rk4": Case(method="rk4"),
    "hybrid_ode_sequential_field": Case(sequential=True),
    "hybrid_ode_autonomous": Case(timed=False),
    "hybrid_ode_mlp": Case(field="mlp", timed=False, control=3),
    "hybrid_ode_mlp_timed_rk4": Case(field="mlp", method="rk4"),
    "hybrid_ode_block": Case(field="block"),
    "hybrid_ode_published": Case(steps=4, control=4, control_bias=True),
}


def float32(x: float) -> float:
    return torch.tensor(x, dtype=torch.float32).item()


def linear(w: Weights, name: str, x: Tensor, out: int) -> Tensor:
    return x @ w(f"{name}.weight", out, x.shape[-1]).T + w(f"{name}.bias", 1, out)[0]


def attention(w: Weights, block: str, x: Tensor) -> Tensor:
    q, k, v = linear(w, f"{block}.attn.qkv", x, 3 * WIDTH).split(WIDTH, dim=-1)
    size = WIDTH // HEADS
    heads = []
    for head in range(HEADS):
        part = slice(head * size, (head + 1) * size)
        rows = []
        for i in range(TOKENS):  # position i sees positions up to i
            score = torch.einsum("bd,bjd->bj", q[:, i, part], k[:, : i + 1, part]) / math.sqrt(size)
            rows.append(torch.einsum("bj,bjd->bd", torch.softmax(score, -1), v[:, : i + 1, part]))
        heads.append(torch.stack(rows, 1))
    return linear(w, f"{block}.attn.out", torch.cat(heads, -1), WIDTH)


def feed_forward(w: Weights, block: str, x: Tensor) -> Tensor:
    up = linear(w, f"{block}.mlp.up", x, HIDDEN)
    return linear(w, f"{block}.mlp.down", 0.5 * up * (1 + torch.erf(up / math.sqrt(2))), WIDTH)


def layer(w: Weights, name: str, x: Tensor) -> Tensor:
    x = x + attention(w, name, layer_norm(w, f"{name}.norm1", x))
    return x + feed_forward(w, name, layer_norm(w, f"{name}.norm2", x))


def velocity(w: Weights, case: Case) -> Callable[[float, Tensor], Tensor]:
    def f(t: float, x: Tensor) -> Tensor:
        h = x
        if case.timed:
            a = w("flow.time.w1", WIDTH, 1)[:, 0] * t + w("flow.time.b1", 1, WIDTH)[0]
            h = h + w("flow.time.w2", WIDTH, WIDTH) @ (a / (1 + torch.exp(-a))) + w("flow.time.b2", 1, WIDTH)[0]
        if case.field == "mlp":  # no signal: zeros beside the state
            joined = torch.cat([h, torch.zeros(*h.shape[:-1], case.control, dtype=h.dtype)], -1)
            a = linear(w, "flow.mlp.up", joined, 30)
            inside = linear(w, "flow.mlp.down", torch.log1p(torch.exp(a)), WIDTH)
        else:
            mixed = attention(w, "flow.block", layer_norm(w, "flow.block.norm1", h))
            second = h + mixed if case.sequential else h
            inside = mixed + feed_forward(w, "flow.block", layer_norm(w, "flow.block.norm2", second))
        return w("flow.alpha", 1) * inside

    return f


def flow(w: Weights, case: Case, x: Tensor) -> Tensor:
    h = float32(1 / case.steps)
    f = velocity(w, case)
    for j in range(case.steps):
        t = float32(j / case.steps)
        middle, end = float32(t + float32(0.5 * h)), float32(t + h)
        if case.method == "euler":
            x = x + h * f(t, x)
        elif case.method == "midpoint":
            x = x + h * f(middle, x + h / 2 * f(t, x))
        elif case.method == "heun":
            k = f(t, x)
            x = x + h / 2 * (k + f(end, x + h * k))
        else:
            k1 = f(t, x)
            k2 = f(middle, x + h / 2 * k1)
            k3 = f(middle, x + h / 2 * k2)
            k4 = f(end, x + h * k3)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return x


def logits(w: Weights, case: Case, tokens: Tensor) -> Tensor:
    first, last = case.replaced
    x = w("embedding.weight", VOCABULARY, WIDTH)[tokens] + w("position.weight", POSITIONS, WIDTH)[:TOKENS]
    for i in range(first):
        x = layer(w, f"layers.{i}", x)
    if case.field == "block":
        for _ in range(case.steps):
            x = layer(w, "flow.block", x)
    else:
        x = flow(w, case, x)
    for i in range(last, LAYERS):
        x = layer(w, f"layers.{i}", x)
    return layer_norm(w, "final_norm", x) @ w("head.weight", VOCABULARY, WIDTH).T


def golden(case: Case) -> dict[str, object]:
    tokens, following = text()
    w = Weights()
    if case.control and case.field == "attention":  # there, and not reached without a signal
        w("flow.control.weight", WIDTH, case.control)
        if case.control_bias:
            w("flow.control.bias", 1, WIDTH)
    y = logits(w, case, tokens)
    return numbers(w, y, language_loss(y, following))


if __name__ == "__main__":
    write(__file__, {name: golden(case) for name, case in CASES.items()})
