"""Golden numbers of the families tdt and mod: float64, token by token where the program works on whole tensors.

Writes tests/golden/routing.json, which tests/models/golden_test.cpp compares with the program: logits of an
evaluation (the student, who decides by threshold 0.5), the language loss of a training pass with its other
terms, and the gradients of the total. Parameters and tokens are those of common.py.

    python tests/golden/routing.py
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from common import (
    EPS, HEADS, HIDDEN, LAYERS, VOCABULARY, WIDTH, Weights, language_loss, layer_norm, numbers, text, write,
)  # fmt: skip

DYNAMIC, TPN, PREDICTOR, WINDOW, GAMMA = (1, 2), 6, 10, 4, 0.5
LAMBDA_TPN, LAMBDA_CAUSAL, LAMBDA_PREDICTOR = 0.05, 0.1, 0.1


class Case(NamedTuple):
    path: str  # gated_st, gated_soft, dense, mod
    raw: bool = False
    scaled: bool = False  # surprise over its layer's average


CASES = {
    "tdt_plain": Case("gated_st"),
    "tdt_soft": Case("gated_soft"),
    "tdt_dense": Case("dense"),
    "tdt_raw_inputs": Case("dense", raw=True),
    "mod_plain": Case("mod"),
    "tdt_layer_rms": Case("gated_st", scaled=True),
}


def rms(x: Tensor) -> Tensor:
    return x / torch.sqrt((x**2).mean(-1, keepdim=True) + EPS)


def rotate(x: Tensor, position: int) -> Tensor:
    half = len(x) // 2
    angle = position * 10000.0 ** (-torch.arange(half, dtype=torch.float64) / half)
    a, b = x[:half], x[half:]
    return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()])


def block(w: Weights, name: str, x: Tensor, chosen: list[int]) -> dict[int, Tensor]:
    """Increments of the chosen tokens of one sequence x (T, C), which read each other only."""
    size = WIDTH // HEADS
    normed = layer_norm(w, f"{name}.norm1", x)
    qkv = normed @ w(f"{name}.attn.qkv.weight", 3 * WIDTH, WIDTH).T + w(f"{name}.attn.qkv.bias", 1, 3 * WIDTH)[0]
    out = {}
    for t in chosen:
        keys = [j for j in chosen if j <= t]
        heads = []
        for head in range(HEADS):
            part = [slice(i * WIDTH + head * size, i * WIDTH + (head + 1) * size) for i in range(3)]
            q = rotate(qkv[t, part[0]], t)
            score = torch.stack([q @ rotate(qkv[j, part[1]], j) for j in keys]) / math.sqrt(size)
            heads.append(torch.softmax(score, 0) @ torch.stack([qkv[j, part[2]] for j in keys]))
        mixed = w(f"{name}.attn.out.weight", WIDTH, WIDTH) @ torch.cat(heads) + w(f"{name}.attn.out.bias", 1, WIDTH)[0]
        y = layer_norm(w, f"{name}.norm2", x[t] + mixed)
        up = w(f"{name}.mlp.up.weight", HIDDEN, WIDTH) @ y + w(f"{name}.mlp.up.bias", 1, HIDDEN)[0]
        up = 0.5 * up * (1 + torch.erf(up / math.sqrt(2)))
        out[t] = mixed + w(f"{name}.mlp.down.weight", WIDTH, HIDDEN) @ up + w(f"{name}.mlp.down.bias", 1, WIDTH)[0]
    return out


def bce(logit: Tensor, target: bool) -> Tensor:
    return torch.log1p(torch.exp(-logit)) if target else torch.log1p(torch.exp(logit))


def best(scores: list[float]) -> list[int]:
    k = math.floor(GAMMA * len(scores) + 1e-9)
    return sorted(sorted(range(len(scores)), key=lambda t: (-scores[t], t))[:k])


def residuals(w: Weights, name: str, x: Tensor) -> Tensor:
    dense = block(w, name, x, list(range(len(x))))
    return torch.stack([dense[t] for t in range(len(x))])


def predictions(w: Weights, case: Case, name: str, after: Tensor) -> Tensor:
    rows = []
    up = w(f"{name}.tpn.up.weight", 2 * TPN, WIDTH)
    down = w(f"{name}.tpn.down.weight", WIDTH, TPN)
    for t in range(len(after)):
        before = after[t - 1] if t > 0 else torch.zeros(WIDTH, dtype=torch.float64)
        if not case.raw:
            before = rms(before.detach())
        a, b = (up @ before).split(TPN)
        rows.append(down @ (a / (1 + torch.exp(-a)) * b))
    return torch.stack(rows)


def level(w: Weights, case: Case, name: str) -> Tensor:
    return w(f"{name}.gate.d_st_mean", 1)[0] if case.scaled else torch.ones((), dtype=torch.float64)


def gates(w: Weights, case: Case, name: str, dx: Tensor, guess: Tensor) -> list[Tensor]:
    scalar = {part: w(f"{name}.gate.{part}", 1)[0] for part in ("o_ce", "m_cu", "beta_ce", "beta_cu")}
    for part in ("o_ce", "m_cu"):
        scalar[part] = torch.log1p(torch.exp(scalar[part]))
    unit = level(w, case, name).detach()
    static = [(dx[t] ** 2).sum() / WIDTH / unit for t in range(len(dx))]
    out = []
    for t in range(len(dx)):
        change = ((dx[t] - guess[t]) ** 2).sum() / WIDTH / unit
        history = [s.detach() for s in static[max(0, t + 1 - WINDOW) : t + 1]]
        ce = static[t] - (change - torch.log(scalar["o_ce"] + 1e-10))
        cu = static[t] - scalar["m_cu"] * sum(history) / len(history)
        s1 = torch.sigmoid(torch.log1p(torch.exp(scalar["beta_ce"])) * ce)
        s2 = torch.sigmoid(torch.log1p(torch.exp(scalar["beta_cu"])) * cu)
        out.append(s1 + s2 - s1 * s2)
    return out


def router(w: Weights, case: Case, name: str, x: Tensor) -> list[Tensor]:
    weight, bias = w(f"{name}.router.weight", 1, 2 * WIDTH)[0], w(f"{name}.router.bias", 1)[0]
    if not case.raw:
        x = x.detach()
    zero = torch.zeros(WIDTH, dtype=torch.float64)
    rows = [torch.cat([x[t], x[t - 1] if t > 0 else zero]) for t in range(len(x))]
    if not case.raw:
        rows = [torch.cat([rms(r[:WIDTH]), rms(r[WIDTH:])]) for r in rows]
    return [weight @ r + bias for r in rows]


def mod_parts(w: Weights, name: str, x: Tensor) -> tuple[list[Tensor], list[Tensor]]:
    weights = [w(f"{name}.router.weight", 1, WIDTH)[0] @ row for row in x]
    logits = []
    for row in x.detach():
        hidden = w(f"{name}.predictor.hidden.weight", PREDICTOR, WIDTH) @ rms(row)
        hidden = hidden + w(f"{name}.predictor.hidden.bias", 1, PREDICTOR)[0]
        hidden = hidden * torch.sigmoid(hidden)
        out = w(f"{name}.predictor.out.weight", 1, PREDICTOR) @ hidden + w(f"{name}.predictor.out.bias", 1, 1)[0]
        logits.append(out[0])
    return weights, logits


def step(w: Weights, case: Case, i: int, x: Tensor, training: bool) -> tuple[Tensor, Tensor]:
    """One layer over one sequence: the state behind it and the weighted sum of its other losses."""
    name = f"layers.{i}"
    everything = list(range(len(x)))
    extra = torch.zeros((), dtype=torch.float64)
    if i not in DYNAMIC:
        return x + residuals(w, name, x), extra
    factor: list[Tensor | float] = [1.0] * len(x)
    if case.path == "mod":
        weights, logits = mod_parts(w, name, x)
        chosen = best([r.item() for r in weights])
        if training:
            extra = LAMBDA_PREDICTOR * sum(bce(logits[t], t in chosen) for t in everything)
        else:
            chosen = [t for t in everything if logits[t] > 0]
        factor = [torch.sigmoid(r) for r in weights]
    else:
        logits = router(w, case, name, x)
        if training:
            dx = residuals(w, name, x)
            guess = predictions(w, case, name, x + dx)
            g = gates(w, case, name, dx.detach(), guess.detach())
            chosen = best([v.item() for v in g])
            error = ((guess - dx.detach()) ** 2).sum() / WIDTH
            causal = sum(bce(logits[t], t in chosen) for t in everything)
            weight_tpn, weight_causal = (1.0, 1.0) if case.raw else (LAMBDA_TPN, LAMBDA_CAUSAL)
            extra = weight_tpn * error + weight_causal * causal
            if case.scaled:  # no loss: the sum of D_st is the average's gradient; terms are means over layers
                seen = (dx.detach() ** 2).sum() / WIDTH
                average = level(w, case, name)
                extra = extra + len(DYNAMIC) * seen * (average - average.detach())
            if case.path == "dense":
                chosen = everything
            else:
                factor = [v if case.path == "gated_soft" else v / v.detach() for v in g]
        else:
            chosen = [t for t in everything if logits[t] > 0]
    increments = block(w, name, x, chosen)
    rows = [x[t] + factor[t] * increments[t] if t in increments else x[t] for t in everything]
    return torch.stack(rows), extra / len(DYNAMIC)


def run(w: Weights, case: Case, tokens: Tensor, training: bool) -> tuple[Tensor, Tensor]:
    logits, extra = [], torch.zeros((), dtype=torch.float64)
    for row in tokens:
        x = w("embedding.weight", VOCABULARY, WIDTH)[row]
        for i in range(LAYERS):
            x, more = step(w, case, i, x, training)
            extra = extra + more
        logits.append(layer_norm(w, "final_norm", x) @ w("head.weight", VOCABULARY, WIDTH).T)
    return torch.stack(logits), extra


def golden(case: Case) -> dict[str, object]:
    tokens, following = text()
    w = Weights()
    evaluated, _ = run(w, case, tokens, training=False)
    trained, extra = run(w, case, tokens, training=True)
    return numbers(w, evaluated, language_loss(trained, following) + extra)


if __name__ == "__main__":
    write(__file__, {name: golden(case) for name, case in CASES.items()})
