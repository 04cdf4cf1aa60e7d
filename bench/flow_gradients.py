#!/usr/bin/env python3
"""Time and memory of ways to the gradient of a flow, beside torchdiffeq's odeint and odeint_adjoint on the same field.

Every rival starts from the weights and batches of `depthgrid bench step --dump`; a flow replaces all layers. Where the map is
the same (Euler; odeint, odeint_adjoint), the losses of the first steps must agree, those of exact gradients to 1e-5, else
nothing is reported. Rounds are interleaved: one process per way and round, in rotating order.

usage: flow_gradients.py [--program PATH] [--steps 4,16,64] [--rounds N] [--width D] [--out FILE]
"""
from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TIMED, CHECKED = 10, 20
SIZE = {"model.n_layers": 3, "model.replaced_layers": "[0,3]", "model.n_heads": 4, "data.tokenizer": "char256",
        "data.corpus": "self", "data.seq_len": 64, "train.batch_size": 8, "train.lr": 1e-3, "train.weight_decay": 0}
OWN = {
    "plain": {}, "checkpoint, 8 states": {"model.gradient.mode": "checkpoint"},
    "checkpoint, 1 state": {"model.gradient.mode": "checkpoint", "model.gradient.slots": 1},
    "adjoint": {"model.gradient.mode": "adjoint"},
    "reversible Heun, plain": {"model.solver.method": "reversible_heun"},
    "reversible Heun": {"model.solver.method": "reversible_heun", "model.gradient.mode": "reversible"},
}  # fmt: skip
RIVALS = {"odeint": False, "odeint_adjoint": True}


def leaves(width: int, steps: int, more: dict[str, object]) -> list[str]:
    chosen = SIZE | {"model.d_model": width, "model.solver.steps": steps} | more
    return [word for key, value in chosen.items() for word in ("--set", f"{key}={value}")]


def own(program: Path, width: int, steps: int, more: dict[str, object], *extra: str) -> dict[str, float]:
    command = [program, "bench", "step", "--family", "hybrid_ode", "--steps", str(TIMED), "--json", *extra]
    done = subprocess.run([*map(str, command), *leaves(width, steps, more)], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"FAILED: {' '.join(map(str, command))}\n{done.stderr}")
    out = json.loads(done.stdout)
    return {"ms": out["ms_per_cell_step"], "bytes": out["peak_bytes"]}


def rival(dump: Path, steps: int, adjoint: bool) -> None:
    """In a process of its own: trains as the dump says, prints milliseconds, peak bytes and losses."""
    import torch
    from safetensors.torch import load_file
    from torch import nn
    from torch.nn import functional as F
    from torchdiffeq import odeint, odeint_adjoint

    torch.set_num_threads(1)
    given = {name: value[0] for name, value in load_file(dump / "weights.safetensors").items()}
    batches = load_file(dump / "batches.safetensors")
    heads = SIZE["model.n_heads"]

    class Field(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            w = {k.removeprefix("flow."): v for k, v in given.items() if k.startswith("flow.")}
            qkv = [torch.cat([w[f"block.attn.{n}.{part}"] for n in "qkv"]) for part in ("weight", "bias")]
            rest = ("block.norm1.scale", "block.norm1.shift", "block.attn.out.weight", "block.attn.out.bias",
                    "block.norm2.scale", "block.norm2.shift", "block.mlp.up.weight", "block.mlp.up.bias",
                    "block.mlp.down.weight", "block.mlp.down.bias", "time.w1", "time.b1", "time.w2", "time.b2", "alpha")
            self.w = nn.ParameterList([nn.Parameter(x.clone()) for x in [*qkv, *(w[name] for name in rest)]])

        def forward(self, t, x):
            wq, bq, s1, h1, wo, bo, s2, h2, wu, bu, wd, bd, w1, b1, w2, b2, alpha = self.w
            y = x + F.linear(F.silu(w1[:, 0] * t + b1), w2, b2)
            b, n, d = y.shape
            q, k, v = F.linear(F.layer_norm(y, (d,), s1, h1), wq, bq).view(b, n, 3, heads, -1).permute(2, 0, 3, 1, 4)
            a = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, n, d)
            hidden = F.gelu(F.linear(F.layer_norm(y, (d,), s2, h2), wu, bu))
            return alpha * (F.linear(a, wo, bo) + F.linear(hidden, wd, bd))

    field = Field()
    table = {name: nn.Parameter(given[name].clone()) for name in
             ("embedding.weight", "position.weight", "final_norm.scale", "final_norm.shift", "head.weight")}
    optimiser = torch.optim.AdamW([*field.parameters(), *table.values()], lr=SIZE["train.lr"], weight_decay=0,
                                  fused=True)
    solve = odeint_adjoint if adjoint else odeint
    times = torch.linspace(0, 1, 2)

    def step(i: int) -> float:
        ids, wanted = batches["inputs"][i % CHECKED, 0], batches["targets"][i % CHECKED, 0]
        x = table["embedding.weight"][ids] + table["position.weight"][: ids.shape[1]]
        x = solve(field, x, times, method="euler", options={"step_size": 1 / steps})[-1]
        x = F.layer_norm(x, x.shape[-1:], table["final_norm.scale"], table["final_norm.shift"])
        loss = F.cross_entropy((x @ table["head.weight"].T).flatten(0, 1), wanted.flatten())
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(optimiser.param_groups[0]["params"], 1.0)
        optimiser.step()
        return loss.item()

    losses = [step(i) for i in range(CHECKED)]
    spent = []
    for i in range(TIMED):
        begin = time.perf_counter()
        step(i)
        spent.append(1e3 * (time.perf_counter() - begin))
    status = Path("/proc/self/status").read_text()
    peak = next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))
    print(json.dumps({"ms": statistics.median(spent), "bytes": peak, "losses": losses}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, default=Path("build/release/depthgrid"))
    parser.add_argument("--steps", default="4,16,64")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--rival", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.rival:
        rival(Path(given.rival[0]), int(given.rival[1]), given.rival[2] == "adjoint")
        return
    rows = []
    for steps in map(int, given.steps.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            dump = Path(folder) / "dump"
            own(given.program, given.width, steps, {}, "--dump", str(dump))
            expected = [step[0] for step in json.loads((dump / "losses.json").read_text())["loss"]]
            found: dict[str, list[dict[str, float]]] = {}
            ways = [*OWN, *RIVALS]
            for turn in range(given.rounds):
                for way in ways[turn % len(ways) :] + ways[: turn % len(ways)]:
                    if way in OWN:
                        found.setdefault(way, []).append(own(given.program, given.width, steps, OWN[way]))
                        continue
                    kind = "adjoint" if RIVALS[way] else "direct"
                    done = subprocess.run([sys.executable, __file__, "--rival", str(dump), str(steps), kind],
                                          capture_output=True, text=True, check=False)
                    if done.returncode:
                        sys.exit(done.stderr)
                    found.setdefault(way, []).append(json.loads(done.stdout))
            off = max(abs(a - b) / b for a, b in zip(found["odeint"][0]["losses"], expected, strict=True))
            if off > 1e-5:
                sys.exit(f"FAILED: losses of odeint are {off:.2g} from depthgrid's over {CHECKED} steps, m = {steps}")
        for way, times in found.items():
            ratios = sorted(one["ms"] / plain["ms"] for one, plain in zip(times, found["plain"], strict=True))
            rows.append({"m": steps, "way": way, "ms": statistics.median(one["ms"] for one in times),
                         "ratio": [ratios[len(ratios) // 2], ratios[0], ratios[-1]],
                         "MiB": statistics.median(one["bytes"] for one in times) / 2**20, "losses_off": off})
            r = rows[-1]
            print(f"| {steps} | {way} | {r['ms']:.1f} | {r['ratio'][0]:.2f} ({r['ratio'][1]:.2f}..{r['ratio'][2]:.2f}) |"
                  f" {r['MiB']:.0f} |", flush=True)
    if given.out:
        given.out.write_text(json.dumps(rows, indent=1) + "\n")


main()
