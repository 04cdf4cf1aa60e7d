"""Step time of JAX: jit, one cell after another; with `--vmap` jit of vmap over all cells.

The whole step (forward, gradient, clip, Adam) is one compiled function with donated state; losses stay
on the device until the round ends. Adam is written by hand (a few lines), equal to the other baselines.
fp32, and TF32 on a GPU.
"""

from __future__ import annotations

import argparse
import os
from typing import Any

import numpy as np

import runner
from dump import QKV, TARGETS, Dump, fuse_qkv, time_features

Tree = dict[str, Any]


class JaxCells:
    """Trains the cells of a dump with one jitted step, looped over cells or mapped over them."""

    def __init__(self, dump: Dump, *, mapped: bool) -> None:
        import jax  # after the core limit: XLA sizes its thread pool when it is loaded
        import jax.numpy as jnp

        self._jax, self._mapped, self._cells = jax, mapped, dump.cells
        weights = fuse_qkv(dump.weights, axis=1)
        numbers = {k: np.asarray(dump.per_cell(k), np.float32) for k in NUMBERS}
        step = make_step(dump.config, {k: dump.decays(k) for k in weights})
        self._step = jax.jit(jax.vmap(step) if mapped else step, donate_argnums=0)
        state = {
            "p": weights,
            "m": {k: np.zeros_like(v) for k, v in weights.items()},
            "v": {k: np.zeros_like(v) for k, v in weights.items()},
            "t": np.zeros(dump.cells, np.float32),
        }
        pick = jax.tree.map
        cells = [slice(None)] if mapped else list(range(dump.cells))
        self._states = [pick(lambda a, c=c: jnp.asarray(a[c]), state) for c in cells]
        self._numbers = [pick(lambda a, c=c: jnp.asarray(a[c]), numbers) for c in cells]
        tokens = np.stack([dump.inputs, dump.targets], axis=2).astype(np.int32)  # (steps, E, 2, B, T)
        self._tokens = [[jnp.asarray(tokens[s][c]) for s in range(len(tokens))] for c in cells]

    def train(self, first: int, steps: int) -> np.ndarray:
        columns = []
        for i, (tokens, numbers) in enumerate(zip(self._tokens, self._numbers, strict=True)):
            state, losses = self._states[i], []
            for step in range(first, first + steps):
                state, loss = self._step(state, tokens[step % len(tokens)], numbers)
                losses.append(loss)
            self._states[i] = self._jax.block_until_ready(state)
            columns.append(np.stack([np.asarray(x) for x in losses]))
        return columns[0] if self._mapped else np.stack(columns, axis=1)


NUMBERS = ("lr", "weight_decay", "beta1", "beta2", "eps", "clip", "residual_scale")


def make_step(config: dict[str, Any], decays: dict[str, bool]) -> Any:
    """One training step of one cell: (state, tokens (2, B, T), numbers) → (state, loss)."""
    import jax
    import jax.numpy as jnp

    loss_of = make_loss(config)

    def step(state: Tree, tokens: Any, n: Tree) -> tuple[Tree, Any]:
        loss, grads = jax.value_and_grad(loss_of)(state["p"], tokens[0], tokens[1], n["residual_scale"])
        norm = jnp.sqrt(sum(jnp.vdot(g, g) for g in grads.values()))
        factor = jnp.minimum(1.0, n["clip"] / (norm + 1e-6))
        t = state["t"] + 1.0
        rate, scale = n["lr"] / (1.0 - n["beta1"] ** t), 1.0 / (1.0 - n["beta2"] ** t)
        new: Tree = {"p": {}, "m": {}, "v": {}, "t": t}
        for name, p in state["p"].items():
            g = factor * grads[name]
            m = n["beta1"] * state["m"][name] + (1.0 - n["beta1"]) * g
            v = n["beta2"] * state["v"][name] + (1.0 - n["beta2"]) * g * g
            kept = p * (1.0 - n["lr"] * n["weight_decay"]) if decays[name] else p
            new["p"][name] = kept - rate * m / (jnp.sqrt(v * scale) + n["eps"])
            new["m"][name], new["v"][name] = m, v
        return new, loss

    return step


def make_loss(config: dict[str, Any]) -> Any:
    """Mean cross-entropy of one cell, mathematics as in torch_model.py."""
    import jax
    import jax.numpy as jnp

    heads, layers, d = config["n_heads"], config["n_layers"], config["d_model"]

    def norm(p: Tree, name: str, x: Any) -> Any:
        mean = x.mean(-1, keepdims=True)
        var = jnp.square(x - mean).mean(-1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(var + 1e-5) * p[f"{name}.scale"] + p[f"{name}.shift"]

    def linear(p: Tree, name: str, x: Any, gate: Any) -> Any:
        w = p[f"{name}.weight"] if gate is None else p[f"{name}.weight"] * gate[:, None]
        return x @ w.T + p[f"{name}.bias"]

    def attention(p: Tree, at: str, x: Any, gates: Tree) -> Any:
        b, t, _ = x.shape
        qkv = linear(p, f"{at}.attn.qkv", x, gates.get("qkv")).reshape(b, t, 3, heads, d // heads)
        y = jax.nn.dot_product_attention(qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2], is_causal=True)
        return linear(p, f"{at}.attn.out", y.reshape(b, t, d), gates.get("out"))

    def mlp(p: Tree, at: str, x: Any, gates: Tree) -> Any:
        y = jax.nn.gelu(linear(p, f"{at}.mlp.up", x, gates.get("up")), approximate=False)
        return linear(p, f"{at}.mlp.down", y, gates.get("down"))

    def gate_table(p: Tree) -> Tree:
        e = jnp.asarray(time_features(config))
        g = {}
        for x in config.get("targets", TARGETS):
            w1, b1, w2, b2 = (p[f"modulation.{x}.{k}"] for k in ("w1", "b1", "w2", "b2"))
            g[x] = jax.nn.sigmoid(jax.nn.relu(e @ w1.T + b1) @ w2.T + b2)
        if g.keys() & set(QKV):
            g["qkv"] = jnp.concatenate([g.pop(x, jnp.ones((layers, d))) for x in QKV], axis=1)
        return g

    def loss(p: Tree, inputs: Any, targets: Any, dt: Any) -> Any:
        x = p["embedding.weight"][inputs]
        if "position.weight" in p:
            x = x + p["position.weight"]
        if config["family"] == "time_indexed":
            table = gate_table(p)
            for i in range(layers):
                gates = {k: v[i] for k, v in table.items()}
                mixed = attention(p, "block", norm(p, "block.norm1", x), gates)
                x = x + dt * (mixed + mlp(p, "block", norm(p, "block.norm2", x), gates))
        else:
            for at in (f"layers.{i}" for i in range(layers)):
                x = x + dt * attention(p, at, norm(p, f"{at}.norm1", x), {})
                x = x + dt * mlp(p, at, norm(p, f"{at}.norm2", x), {})
        logits = norm(p, "final_norm", x) @ p["head.weight"].T
        picked = jnp.take_along_axis(jax.nn.log_softmax(logits), targets[..., None], axis=-1)
        return -picked.mean()

    return loss


def make(dump: Dump, arguments: argparse.Namespace) -> runner.Trainer:
    if arguments.precision == "bf16":
        raise SystemExit("jax_jit.py: fp32 and tf32 only")
    if arguments.threads == 1 and arguments.device == "cpu":
        os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_multi_thread_eigen=false"
    os.environ["JAX_PLATFORMS"] = arguments.device
    os.environ["JAX_DEFAULT_MATMUL_PRECISION"] = "tensorfloat32" if arguments.precision == "tf32" else "float32"
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # the card is shared with programs that wait for their turn
    return JaxCells(dump, mapped=arguments.vmap)


if __name__ == "__main__":
    options = runner.parser(__doc__)
    options.add_argument("--vmap", action="store_true", help="all cells at once")
    parsed = options.parse_args()
    runner.main("jax jit+vmap" if parsed.vmap else "jax jit", parsed, make)
