"""Golden numbers of the family hybrid_ode, by a second author's hand: float64, every step of every method written out.

Writes tests/golden/hybrid.json, which tests/models/golden_test.cpp compares with the program. Parameters and
tokens are those of common.py. Times and step lengths are rounded to float32, as the program holds them.

    python tests/golden/hybrid.py
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from common import (
    HEADS, HIDDEN, LAYERS, POSITIONS, TOKENS, VOCABULARY, WIDTH, Weights, language_loss, layer_norm, numbers, text,
    write,
)  # fmt: skip


NO_GATES: Mapping[str, Tensor] = {}


class Case(NamedTuple):
    field: str = "attention"  # attention, gated (the same with weights that τ gates), mlp, block
    replaced: tuple[int, int] = (1, 2)
    steps: int = 3
    method: str = "euler"
    sequential: bool = False  # inside the field
    timed: bool = True
    control: int = 0
    control_bias: bool = False
    hidden: int = HIDDEN  # of the field's feed-forward maps
    granularity: str = "row"  # of a gate


CASES = {
    "hybrid_ode_plain": Case(),
    "hybrid_ode_late_two": Case(replaced=(1, 3)),
    "hybrid_ode_everything": Case(replaced=(0, 3)),
    "hybrid_ode_midpoint": Case(method="midpoint"),
    "hybrid_ode_heun": Case(method="heun"),
    "hybrid_ode_rk4": Case(method="rk4"),
    "hybrid_ode_dopri5": Case(method="dopri5"),
    "hybrid_ode_ab2": Case(method="ab2"),
    "hybrid_ode_reversible_heun": Case(method="reversible_heun"),
    "hybrid_ode_sequential_field": Case(sequential=True),
    "hybrid_ode_autonomous": Case(timed=False),
    "hybrid_ode_time_indexed": Case(field="gated", timed=False),
    "hybrid_ode_time_indexed_rk4": Case(
        field="gated", method="rk4", control=2, hidden=45, granularity="element"
    ),
    "hybrid_ode_mlp": Case(field="mlp", timed=False, control=3),
    "hybrid_ode_mlp_timed_rk4": Case(field="mlp", method="rk4"),
    "hybrid_ode_block": Case(field="block"),
    "hybrid_ode_published": Case(steps=4, control=4, control_bias=True),
}


def float32(x: float) -> float:
    return torch.tensor(x, dtype=torch.float32).item()


FREQUENCIES, GATE_HIDDEN = 4, 5


def gates(w: Weights, case: Case, t: float) -> dict[str, Tensor]:
    """What each weight of the field's block is multiplied by at time t."""
    angle = t * 2 * math.pi * torch.arange(1, FREQUENCIES + 1, dtype=torch.float64)
    e = torch.cat([angle.sin(), angle.cos(), torch.tensor([t], dtype=torch.float64)]).to(torch.float32).double()
    of = {}
    for target, out, into in (
        ("q", WIDTH, WIDTH), ("k", WIDTH, WIDTH), ("v", WIDTH, WIDTH), ("out", WIDTH, WIDTH),
        ("up", case.hidden, WIDTH), ("down", WIDTH, case.hidden),
    ):  # fmt: skip
        size = out * into if case.granularity == "element" else out
        name = f"flow.modulation.{target}"
        hidden = torch.relu(w(f"{name}.w1", GATE_HIDDEN, len(e)) @ e + w(f"{name}.b1", 1, GATE_HIDDEN)[0])
        g = w(f"{name}.w2", size, GATE_HIDDEN) @ hidden + w(f"{name}.b2", 1, size)[0]
        of[target] = (1 / (1 + torch.exp(-g))).view(out, -1)
    return {"attn.qkv": torch.cat([of[t] for t in "qkv"]), "attn.out": of["out"], "mlp.up": of["up"], "mlp.down": of["down"]}


def linear(w: Weights, block: str, name: str, x: Tensor, out: int, gate: Mapping[str, Tensor] = NO_GATES) -> Tensor:
    weight = w(f"{block}.{name}.weight", out, x.shape[-1])
    return x @ (weight * gate[name] if name in gate else weight).T + w(f"{block}.{name}.bias", 1, out)[0]


def attention(w: Weights, block: str, x: Tensor, gate: Mapping[str, Tensor] = NO_GATES) -> Tensor:
    q, k, v = linear(w, block, "attn.qkv", x, 3 * WIDTH, gate).split(WIDTH, dim=-1)
    size = WIDTH // HEADS
    heads = []
    for head in range(HEADS):
        part = slice(head * size, (head + 1) * size)
        rows = []
        for i in range(TOKENS):  # position i sees positions up to i
            score = torch.einsum("bd,bjd->bj", q[:, i, part], k[:, : i + 1, part]) / math.sqrt(size)
            rows.append(torch.einsum("bj,bjd->bd", torch.softmax(score, -1), v[:, : i + 1, part]))
        heads.append(torch.stack(rows, 1))
    return linear(w, block, "attn.out", torch.cat(heads, -1), WIDTH, gate)


def feed_forward(
    w: Weights, block: str, x: Tensor, hidden: int = HIDDEN, gate: Mapping[str, Tensor] = NO_GATES
) -> Tensor:
    up = linear(w, block, "mlp.up", x, hidden, gate)
    return linear(w, block, "mlp.down", 0.5 * up * (1 + torch.erf(up / math.sqrt(2))), WIDTH, gate)


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
            a = linear(w, "flow", "mlp.up", joined, 30)
            inside = linear(w, "flow", "mlp.down", torch.log1p(torch.exp(a)), WIDTH)
        else:
            gate = gates(w, case, t) if case.field == "gated" else NO_GATES
            mixed = attention(w, "flow.block", layer_norm(w, "flow.block.norm1", h), gate)
            second = h + mixed if case.sequential else h
            inside = mixed + feed_forward(w, "flow.block", layer_norm(w, "flow.block.norm2", second), case.hidden, gate)
        return w("flow.alpha", 1) * inside

    return f


DOPRI5 = (
    (0, ()),
    (1 / 5, (1 / 5,)),
    (3 / 10, (3 / 40, 9 / 40)),
    (4 / 5, (44 / 45, -56 / 15, 32 / 9)),
    (8 / 9, (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729)),
    (1, (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656)),
    (1, (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84)),
)
"""Times and weights of the stages; the last row is the step itself."""


def rk4(f: Callable[[float, Tensor], Tensor], x: Tensor, t: float, h: float) -> Tensor:
    middle, end = float32(t + float32(0.5 * h)), float32(t + h)
    k1 = f(t, x)
    k2 = f(middle, x + h / 2 * k1)
    k3 = f(middle, x + h / 2 * k2)
    k4 = f(end, x + h * k3)
    return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def flow(w: Weights, case: Case, x: Tensor) -> Tensor:
    h = float32(1 / case.steps)
    f = velocity(w, case)
    y, before = x, torch.empty(0, dtype=x.dtype)
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
        elif case.method == "dopri5":
            slopes: list[Tensor] = []
            for c, row in DOPRI5:
                stage = x + h * sum((a * k for a, k in zip(row, slopes, strict=True)), torch.zeros_like(x))
                slopes.append(f(float32(t + float32(c * h)), stage))
            x = stage
        elif case.method == "ab2":
            now = f(t, x)
            x = rk4(f, x, t, h) if j == 0 else x + h * (1.5 * now - 0.5 * before)
            before = now
        elif case.method == "reversible_heun":
            here = f(t, y)
            y = 2 * x - y + h * here
            x = x + h / 2 * (here + f(end, y))
        else:
            x = rk4(f, x, t, h)
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
    if case.control and case.field in ("attention", "gated"):  # there, and not reached without a signal
        w("flow.control.weight", WIDTH, case.control)
        if case.control_bias:
            w("flow.control.bias", 1, WIDTH)
    y = logits(w, case, tokens)
    return numbers(w, y, language_loss(y, following))


if __name__ == "__main__":
    write(__file__, {name: golden(case) for name, case in CASES.items()})
