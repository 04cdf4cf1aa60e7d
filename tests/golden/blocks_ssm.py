"""Golden numbers of the family time_indexed with a state-space layer as its second sublayer: float64, by hand.

Writes tests/golden/blocks_ssm.json, which tests/models/golden_test.cpp compares with the program. Attention,
norms and features are those of blocks.py; the layer is written out here from its equations: the held input by the
exponential of [[ΔA, ΔB], [0, 0]], the recurrence token by token. Parameters and tokens are those of common.py.
Features, depth-time and the least Δ are rounded to float32, as the program holds them.

    python tests/golden/blocks_ssm.py
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

import blocks
from blocks import GATE_HIDDEN, attention, features, norm
from common import (
    LAYERS, POSITIONS, TOKENS, VOCABULARY, WIDTH, Weights, float32, golden, write,
)  # fmt: skip

STATES, GENERATOR, LEAST_DELTA = 7, 6, 1e-4


class Case(NamedTuple):
    dense: bool = False  # A has N × N entries and no softplus
    rule: str = "zoh"
    skip: str = "diagonal"
    element: bool = False  # gates per entry, not per row
    gate: str = "sigmoid"
    generated: bool = False  # A, B, C, D, Δ out of depth-time, not shared
    sequential: bool = False
    published: bool = False  # linear gates, temporal norms, no positions, no biases in attention


CASES = {
    "time_indexed_ssm_plain": Case(),
    "time_indexed_ssm_sequential": Case(sequential=True),
    "time_indexed_ssm_euler": Case(rule="euler"),
    "time_indexed_ssm_undiscretised": Case(rule="none"),
    "time_indexed_ssm_one_plus_tanh": Case(gate="one_plus_tanh"),
    "time_indexed_ssm_full_skip": Case(skip="full"),
    "time_indexed_ssm_dense": Case(dense=True),
    "time_indexed_ssm_dense_euler": Case(dense=True, rule="euler"),
    "time_indexed_ssm_dense_element": Case(dense=True, skip="full", element=True),
    "time_indexed_ssm_generated": Case(generated=True),
    "time_indexed_ssm_published": Case(rule="euler", element=True, generated=True, sequential=True, published=True),
}


class System(NamedTuple):
    """h_t = a h_{t−1} + b x_t, y_t = c h_t + d x_t, all of them matrices."""

    a: Tensor
    b: Tensor
    c: Tensor
    d: Tensor


def softplus(x: Tensor) -> Tensor:
    return torch.log1p(torch.exp(x))


def affine(w: Weights, weight: str, bias: str, x: Tensor, out: int) -> Tensor:
    return w(weight, out, len(x)) @ x + w(bias, 1, out)[0]


def network(w: Weights, case: Case, name: str, e: Tensor, out: int) -> Tensor:
    """g(e) of a gate, and of a Δ that is not generated."""
    if not case.published:
        e = torch.relu(affine(w, f"{name}.w1", f"{name}.b1", e, GATE_HIDDEN))
    return affine(w, f"{name}.w2", f"{name}.b2", e, out)


def gate(w: Weights, case: Case, part: str, e: Tensor, rows: int, columns: int) -> Tensor:
    columns = columns if case.element else 1
    g = network(w, case, f"modulation.ssm.{part}", e, rows * columns).view(rows, columns)
    return 1 / (1 + torch.exp(-g)) if case.gate == "sigmoid" else 1 + torch.tanh(g)


def ungated(w: Weights, case: Case, part: str, e: Tensor, rows: int, columns: int) -> Tensor:
    if not case.generated:
        return w(f"block.ssm.{part}", rows, columns)
    name = "hypernet.ssm"
    inside = affine(w, f"{name}.time.w1", f"{name}.time.b1", e, GENERATOR)
    m = affine(w, f"{name}.time.w2", f"{name}.time.b2", inside / (1 + torch.exp(-inside)), GENERATOR)
    return affine(w, f"{name}.{part}.weight", f"{name}.{part}.bias", m, rows * columns).view(rows, columns)


def step(w: Weights, case: Case, e: Tensor) -> Tensor:
    """Δ, one a state (N, 1): under a gate only where it is generated."""
    least = float32(torch.tensor(LEAST_DELTA, dtype=torch.float64))
    if not case.generated:
        return softplus(network(w, case, "modulation.ssm.delta", e, STATES))[:, None] + least
    delta = softplus(ungated(w, case, "delta", e, STATES, 1)) + least
    return delta * gate(w, case, "delta", e, STATES, 1)


def held(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """What h' = a h + b x does in unit time while x stands still."""
    both = torch.zeros(STATES + WIDTH, STATES + WIDTH, dtype=torch.float64)
    both[:STATES] = torch.cat([a, b], 1)
    both = torch.linalg.matrix_exp(both)
    return both[:STATES, :STATES], both[:STATES, STATES:]


def system(w: Weights, case: Case, e: Tensor) -> System:
    def part(name: str, rows: int, columns: int) -> Tensor:
        return ungated(w, case, name, e, rows, columns) * gate(w, case, name, e, rows, columns)

    if case.dense:
        a = part("A", STATES, STATES)
    else:
        decay = -softplus(ungated(w, case, "A", e, STATES, 1)) * gate(w, case, "A", e, STATES, 1)
        a = torch.diag(decay[:, 0])
    b, c = part("B", STATES, WIDTH), part("C", WIDTH, STATES)
    d = part("D", WIDTH, WIDTH) if case.skip == "full" else torch.diag(part("D", WIDTH, 1)[:, 0])
    if case.rule == "none":
        return System(a, b, c, d)
    delta = step(w, case, e)
    if case.rule == "euler":
        return System(torch.linalg.matrix_exp(delta * a), delta * b, c, d)
    return System(*held(delta * a, delta * b), c, d)


def mix(s: System, x: Tensor) -> Tensor:
    rows = []
    for sequence in x:
        h = torch.zeros(STATES, dtype=torch.float64)
        for token in sequence:
            h = s.a @ h + s.b @ token
            rows.append(s.c @ h + s.d @ token)
    return torch.stack(rows).view(x.shape)


def logits(w: Weights, case: Case, tokens: Tensor) -> Tensor:
    block = blocks.Case(gated=True, gate=case.gate, published=case.published)
    x = w("embedding.weight", VOCABULARY, WIDTH)[tokens]
    if not case.published:
        x = x + w("position.weight", POSITIONS, WIDTH)[:TOKENS]
    for i in range(LAYERS):
        e = features(block, (i + 1) / LAYERS)
        mixed = attention(w, block, "block", e, norm(w, block, "block.norm1", e, x))
        y = x + mixed if case.sequential else x
        x = x + mixed + mix(system(w, case, e), norm(w, block, "block.norm2", e, y))
    end = features(block, 1.0) if case.published else None
    return norm(w, block, "final_norm", end, x) @ w("head.weight", VOCABULARY, WIDTH).T


if __name__ == "__main__":
    write(__file__, {name: golden(logits, case) for name, case in CASES.items()})
