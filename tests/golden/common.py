"""What the references of whole families have in common: sizes, parameters, tokens, and the numbers that are kept.

Parameters and tokens follow the formulas of tests/models/golden_test.cpp, so that nothing but names and shapes is
shared with the program.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

import torch
from torch import Tensor

WIDTH, HEADS, LAYERS, HIDDEN, VOCABULARY, POSITIONS, EPS = 20, 2, 3, 28, 17, 9, 1e-5
SEQUENCES, TOKENS = 2, 5


C = TypeVar("C")  # a case, as its script describes it


class Weights:
    """Parameters by name: 0.35 sin(1.7 n + phase of the name), n the index of an entry."""

    def __init__(self) -> None:
        self.all: dict[str, Tensor] = {}

    def __call__(self, name: str, *shape: int) -> Tensor:
        if name not in self.all:
            phase = sum(name.encode()) % 97
            n = torch.arange(math.prod(shape), dtype=torch.float64)
            self.all[name] = (0.35 * torch.sin(1.7 * n + phase)).view(shape).requires_grad_()
        return self.all[name]


def float32(x: Tensor) -> Tensor:
    return x.to(torch.float32).to(torch.float64)


def standardised(x: Tensor) -> Tensor:
    centred = x - x.mean(-1, keepdim=True)
    return centred / torch.sqrt((centred**2).mean(-1, keepdim=True) + EPS)


def layer_norm(w: Weights, name: str, x: Tensor) -> Tensor:
    return standardised(x) * w(f"{name}.scale", WIDTH) + w(f"{name}.shift", WIDTH)


def text() -> tuple[Tensor, Tensor]:
    """Tokens, and those that follow them. No token comes twice in a sequence: equal states would be equal scores."""
    i = torch.arange(SEQUENCES * (TOKENS + 1))
    windows = ((5 * i * i + 11 * i + 1) % VOCABULARY).view(SEQUENCES, TOKENS + 1)
    return windows[:, :-1], windows[:, 1:]


def language_loss(logits: Tensor, following: Tensor) -> Tensor:
    return -torch.log_softmax(logits, -1).gather(-1, following[..., None]).sum()


def numbers(w: Weights, logits: Tensor, loss: Tensor) -> dict[str, object]:
    """What is kept of a case: of each gradient its norm and its product with a wave, zeros where none arrives."""
    loss.backward()
    gradients = {}
    for name, parameter in w.all.items():
        g = torch.zeros_like(parameter).flatten() if parameter.grad is None else parameter.grad.flatten()
        along = torch.sin(0.9 * torch.arange(len(g), dtype=torch.float64) + 0.4)
        gradients[name] = [g.norm().item(), (g * along).sum().item()]
    return {"loss": loss.item(), "logits": logits.flatten().tolist(), "gradients": gradients}


def golden(logits: Callable[[Weights, C, Tensor], Tensor], case: C) -> dict[str, object]:
    """The numbers of a case whose loss is that of its logits alone."""
    tokens, following = text()
    w = Weights()
    y = logits(w, case, tokens)
    return numbers(w, y, language_loss(y, following))


def write(script: str, cases: Mapping[str, object]) -> None:
    """Into the JSON file beside the script."""
    path = Path(script).with_suffix(".json")
    path.write_text(json.dumps(cases, separators=(",", ":")) + "\n")
    print(f"{path.name}: {path.stat().st_size} bytes")
