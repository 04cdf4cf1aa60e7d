#!/usr/bin/env python3
"""Numbers of the state-space layer, from the equations, for tests/models/blocks/ssm_mixer_test.cpp.

h_t = Abar h_{t-1} + Bbar x_t, y_t = C h_t + D x_t, token by token in float64; exp and phi_1 from the
exponential of the augmented matrix [[Z, I], [0, 0]], gradients by autograd. Nothing is shared with the
program under test.

    python tests/golden/ssm_reference.py > tests/golden/ssm.json
"""

import json

import torch

STATES, WIDTH, BATCH, TOKENS = 3, 4, 2, 5


def discrete(rule, a, b, delta):
    """Abar (N, N) and Bbar (N, C) of A (N) or (N, N), B (N, C) and a step per state."""
    full = torch.diag(a) if a.dim() == 1 else a
    if rule == "none":
        return full, b
    z = delta[:, None] * full
    n = len(z)
    augmented = torch.cat(
        [torch.cat([z, torch.eye(n, dtype=z.dtype)], 1), torch.zeros(n, 2 * n, dtype=z.dtype)]
    )
    both = torch.linalg.matrix_exp(augmented)
    step = delta[:, None] * b
    return both[:n, :n], both[:n, n:] @ step if rule == "zoh" else step


def layer(rule, a, b, c, d, delta, x):
    a_bar, b_bar = discrete(rule, a, b, delta)
    rows = []
    for sequence in x:
        h = torch.zeros(len(a_bar), dtype=x.dtype)
        for token in sequence:
            h = a_bar @ h + b_bar @ token
            skip = 0 if d is None else (d * token if d.dim() == 1 else d @ token)
            rows.append(c @ h + skip)
    return torch.stack(rows).view(x.shape)


def case(name, rule, dense, skip, seed):
    draw = torch.Generator().manual_seed(seed)

    def normal(*shape, scale=1.0):
        return (torch.randn(*shape, generator=draw, dtype=torch.float64) * scale).requires_grad_()

    with torch.no_grad():
        decay = torch.linspace(-2.0, -1e-9, STATES, dtype=torch.float64)  # the last is nearly singular
        a = decay * 0.4 if rule == "none" else decay
        if dense:
            a = torch.diag(a) + 0.1 * normal(STATES, STATES)
    leaves = {
        "a": a.clone().requires_grad_(),
        "b": normal(STATES, WIDTH),
        "c": normal(WIDTH, STATES),
    }
    if skip == "diagonal":
        leaves["d"] = normal(WIDTH)
    if skip == "full":
        leaves["d"] = normal(WIDTH, WIDTH)
    if rule != "none":
        leaves["delta"] = torch.rand(STATES, generator=draw, dtype=torch.float64).requires_grad_()
    leaves["x"] = normal(BATCH, TOKENS, WIDTH)
    y = layer(
        rule,
        leaves["a"],
        leaves["b"],
        leaves["c"],
        leaves.get("d"),
        leaves.get("delta"),
        leaves["x"],
    )
    weight = torch.randn(y.shape, generator=draw, dtype=torch.float64)
    (y * weight).sum().backward()

    def numbers(tensor):
        return {"shape": list(tensor.shape), "values": tensor.detach().flatten().tolist()}

    return {
        "name": name,
        "rule": rule,
        "leaves": {key: numbers(value) for key, value in leaves.items()},
        "weight": numbers(weight),
        "y": numbers(y),
        "gradients": {key: numbers(value.grad) for key, value in leaves.items()},
    }


CASES = [
    ("diagonal_zoh", "zoh", False, "diagonal"),
    ("diagonal_euler", "euler", False, "full"),
    ("diagonal_none", "none", False, "none"),
    ("dense_zoh", "zoh", True, "full"),
    ("dense_euler", "euler", True, "diagonal"),
    ("dense_none", "none", True, "diagonal"),
]

if __name__ == "__main__":
    cases = [case(*row, seed) for seed, row in enumerate(CASES)]
    print(json.dumps(cases, separators=(",", ":")).replace('{"name"', '\n{"name"'))
