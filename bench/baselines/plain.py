"""The losses of a dump's first step from the formulas written out: float64 NumPy, one projection at a time.

Nothing but the time features is shared with the baselines: q, k and v are separate, recurrences run token by token,
and layers that skip tokens mask the skipped tokens instead of gathering the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dump import TARGETS, Dump, time_features

Array = np.ndarray
Parts = list[tuple[float, ...]]
erf = np.vectorize(math.erf)


def sigmoid(x: Array) -> Array:
    return 1.0 / (1.0 + np.exp(-x))


def softplus(x: Array) -> Array:
    return np.logaddexp(0.0, x)


def rms(x: Array) -> Array:
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5)


def previous(x: Array) -> Array:
    return np.concatenate([np.zeros_like(x[:, :1]), x[:, :-1]], axis=1)


def chosen(score: Array, k: int) -> Array:
    """The k highest scores of each row, ties to the first."""
    mask = np.zeros(score.shape, dtype=bool)
    np.put_along_axis(mask, np.argsort(-score, axis=-1, kind="stable")[:, :k], values=True, axis=-1)
    return mask


def bce(logits: Array, target: Array) -> float:
    return float((softplus(logits) - logits * target).mean())


class Plain:
    """One cell of a dump."""

    def __init__(self, dump: Dump, cell: int) -> None:
        self.c, self.dt, self.family = dump.config, dump.per_cell("residual_scale")[cell], dump.family
        self.p = {k: v[cell].astype(np.float64) for k, v in dump.weights.items()}
        self.leaf: Callable[[str], float] = lambda path: dump.leaf(cell, path)
        self.inputs, self.targets = dump.inputs[0, cell], dump.targets[0, cell]
        self.features = time_features(self.c).astype(np.float64)

    def losses(self) -> list[float]:
        """Mean cross-entropy, then the means over layers of what a family adds to it."""
        x = self.p["embedding.weight"][self.inputs] + self.p.get("position.weight", 0.0)
        parts: Parts = []
        for i in range(self.c["n_layers"]):
            routed = f"layers.{i}.router.weight" in self.p
            x = getattr(self, self.family)(i, x, parts) if routed else x + self.dt * self.increment(i, x)
        logits = self.norm("final_norm", x) @ self.p["head.weight"].T
        log_sum = np.log(np.exp(logits - logits.max(-1, keepdims=True)).sum(-1)) + logits.max(-1)
        picked = np.take_along_axis(logits, self.targets[..., None], axis=-1)[..., 0]
        return [float((log_sum - picked).mean()), *np.mean(np.array(parts), axis=0)] if parts else [
            float((log_sum - picked).mean())
        ]  # fmt: skip

    def increment(self, i: int, x: Array, executed: Array | None = None) -> Array:
        """F of x + Δt·F."""
        at = f"layers.{i}" if f"layers.{i}.norm1.scale" in self.p else "block"
        weights = self.matrices(i, at)
        attention = self.attention(weights, self.norm(f"{at}.norm1", x), executed)
        sequential = self.family in ("standard", "tdt", "mod")
        normed = self.norm(f"{at}.norm2", x + self.dt * attention if sequential else x)
        if "block.ssm.A" in self.p:
            return attention + self.state_space(i, normed)
        u = normed @ weights["up"][0].T + weights["up"][1]
        return attention + (0.5 * u * (1.0 + erf(u / math.sqrt(2.0)))) @ weights["down"][0].T + weights["down"][1]

    def norm(self, at: str, x: Array) -> Array:
        y = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
        return y * self.p[f"{at}.scale"] + self.p[f"{at}.shift"]

    def matrices(self, i: int, at: str) -> dict[str, tuple[Array, Array]]:
        """Weight and bias of each projection at depth i."""
        made = {}
        for target in TARGETS:
            name = f"{at}.{'mlp' if target in ('up', 'down') else 'attn'}.{target}"
            if f"{name}.generator" in self.p:
                made[target] = self.generated(i, name)
            elif f"{name}.weight" in self.p:
                gate = self.gate(i, target) if f"modulation.{target}.w1" in self.p else np.ones(1)
                made[target] = (self.p[f"{name}.weight"] * gate[:, None], self.p[f"{name}.bias"])
        return made

    def network(self, name: str, i: int, inner: Callable[[Array], Array]) -> Array:
        w1, b1, w2, b2 = (self.p[f"{name}.{k}"] for k in ("w1", "b1", "w2", "b2"))
        return w2 @ inner(w1 @ self.features[i] + b1) + b2

    def gate(self, i: int, name: str) -> Array:
        return sigmoid(self.network(f"modulation.{name}", i, lambda y: np.maximum(y, 0.0)))

    def generated(self, i: int, name: str) -> tuple[Array, Array]:
        m = self.network(f"{name}.time", i, lambda y: y * sigmoid(y))
        bias = m @ self.p[f"{name}.bias_generator"]
        return (m @ self.p[f"{name}.generator"] + self.p[f"{name}.base"]).reshape(len(bias), -1), bias

    def attention(self, weights: dict[str, tuple[Array, Array]], x: Array, executed: Array | None) -> Array:
        b, t, d = x.shape
        h = self.c["n_heads"]
        q, k, v = (
            (x @ weights[n][0].T + weights[n][1]).reshape(b, t, h, d // h).transpose(0, 2, 1, 3)
            for n in ("q", "k", "v")
        )
        if "position.weight" not in self.p:
            q, k = self.turned(q), self.turned(k)
        seen = np.tri(t, dtype=bool)[None, None]
        if executed is not None:
            seen = seen & (executed[:, None, None, :] | np.eye(t, dtype=bool))
        scores = np.where(seen, q @ k.swapaxes(-1, -2) / math.sqrt(d // h), -np.inf)
        a = np.exp(scores - scores.max(-1, keepdims=True))
        y = (a / a.sum(-1, keepdims=True)) @ v
        return y.transpose(0, 2, 1, 3).reshape(b, t, d) @ weights["out"][0].T + weights["out"][1]

    def turned(self, x: Array) -> Array:
        """Rotary positions, channels (c, c + D/2) as a complex number."""
        half = x.shape[-1] // 2
        angles = np.arange(x.shape[-2])[:, None] * 10000.0 ** (-np.arange(half) / half)
        z = (x[..., :half] + 1j * x[..., half:]) * np.exp(1j * angles)
        return np.concatenate([z.real, z.imag], axis=-1)

    def state_space(self, i: int, x: Array) -> Array:
        a, b, c, d = (self.p[f"block.ssm.{k}"] for k in "ABCD")
        delta = softplus(self.network("modulation.ssm.delta", i, lambda y: np.maximum(y, 0.0)))
        delta = delta + self.leaf("model.ssm.dt_min")
        rate = -softplus(a[:, 0]) * self.gate(i, "ssm.A")
        drive = ((np.exp(delta * rate) - 1.0) / rate)[:, None] * self.gate(i, "ssm.B")[:, None] * b
        h, out = np.zeros((len(x), len(a))), []
        for token in x.swapaxes(0, 1):
            h = np.exp(delta * rate) * h + token @ drive.T
            out.append(h @ (self.gate(i, "ssm.C")[:, None] * c).T + self.gate(i, "ssm.D") * d[:, 0] * token)
        return np.stack(out, axis=1)

    def executed(self, i: int, x: Array, mask: Array, gate: Array | float = 1.0) -> Array:
        return np.where(mask[..., None], x + self.dt * gate * self.increment(i, x, mask), x)

    def budget(self) -> int:
        return math.floor(self.leaf(f"model.{self.family}.capacity") * self.c["seq_len"] + 1e-9)

    def tdt(self, i: int, x: Array, parts: Parts) -> Array:
        p = {k.removeprefix(f"layers.{i}."): v for k, v in self.p.items()}
        residual = self.dt * self.increment(i, x)
        u = rms(previous(x + residual)) @ p["tpn.up.weight"].T
        a, b = np.split(u, 2, axis=-1)
        errors = ((a * sigmoid(a) * b) @ p["tpn.down.weight"].T - residual) ** 2
        d_st, d_ch = (residual**2).mean(-1), errors.mean(-1)
        window = int(self.leaf("model.tdt.ma_window"))
        average = np.stack([d_st[:, max(0, t + 1 - window) : t + 1].mean(-1) for t in range(x.shape[1])], axis=1)
        ce = d_st - (d_ch - np.log(softplus(p["gate.o_ce"]) + 1e-10))
        cu = d_st - softplus(p["gate.m_cu"]) * average
        s_ce, s_cu = sigmoid(softplus(p["gate.beta_ce"]) * ce), sigmoid(softplus(p["gate.beta_cu"]) * cu)
        mask = chosen(s_ce + s_cu - s_ce * s_cu, self.budget())
        w_now, w_before = np.split(p["router.weight"], 2)
        logits = rms(x) @ w_now + rms(previous(x)) @ w_before + p["router.bias"]
        parts.append((float(errors.mean()), bce(logits, mask)))
        return self.executed(i, x, mask)

    def mod(self, i: int, x: Array, parts: Parts) -> Array:
        p = {k.removeprefix(f"layers.{i}."): v for k, v in self.p.items()}
        r = x @ p["router.weight"]
        mask = chosen(r, self.budget())
        u = rms(x) @ p["predictor.hidden.weight"].T + p["predictor.hidden.bias"]
        parts.append((bce(u * sigmoid(u) @ p["predictor.out.weight"] + p["predictor.out.bias"], mask),))
        return self.executed(i, x, mask, sigmoid(r)[..., None])
