#!/usr/bin/env python3
"""Time and memory of ways to the gradient of a flow, beside torchdiffeq's odeint and odeint_adjoint on the same field.

Every rival starts from the weights and batches of `depthgrid bench step --dump`; a flow replaces all layers. The gradients of
the first batch by odeint must be those of depthgrid's plain mode, those by odeint_adjoint those of its adjoint mode, to 1e-5
(norm of the difference over the norm, of each parameter), and the losses of 20 steps by odeint too, else nothing is reported;
how far the adjoint's are from the exact ones (over all parameters of the flow) is printed. Memory is what steps add to the
process: its largest resident size less that before the first step, when freed memory has been given back. Rounds are
interleaved: one process per way and round, in rotating order.

With --regularisers: what each regulariser adds to a step of the study's hybrid, four Euler steps in place of two of six layers,
beside the same model without any.

usage: flow_gradients.py [--regularisers] [--program PATH] [--steps 4,16,64] [--rounds N] [--timed N] [--width D] [--out FILE]
"""
from __future__ import annotations

import argparse
import ctypes
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

CHECKED = 20
SIZE = {"model.n_layers": 3, "model.replaced_layers": "[0,3]", "model.n_heads": 4, "data.tokenizer": "char256",
        "data.corpus": "self", "data.seq_len": 64, "train.batch_size": 8, "train.lr": 1e-3, "train.weight_decay": 0}
OWN = {
    "plain": {}, "checkpoint, 8 states": {"model.gradient.mode": "checkpoint"},
    "checkpoint, 1 state": {"model.gradient.mode": "checkpoint", "model.gradient.slots": 1},
    "adjoint": {"model.gradient.mode": "adjoint"},
    "reversible Heun, plain": {"model.solver.method": "reversible_heun"},
    "reversible Heun": {"model.solver.method": "reversible_heun", "model.gradient.mode": "reversible"},
}  # fmt: skip
HYBRID = {"model.n_layers": 6, "model.replaced_layers": "[2,4]", "model.control.dim": 4}
REGULARISERS = ("energy", "kinetic", "acceleration", "jacobian_frobenius", "spectral_norm", "log_norm",
                "control_smoothness")  # fmt: skip
REGULARISED = {"none": HYBRID} | {name: HYBRID | {f"regularisers.{name}": 0.01} for name in REGULARISERS}
for name in ("spectral_norm", "log_norm"):
    REGULARISED[name] |= {"regularisers.iterations": 2}
RIVALS = {"odeint": "plain", "odeint_adjoint": "adjoint"}  # and the way that has the same gradients


def leaves(width: int, steps: int, more: dict[str, object]) -> list[str]:
    chosen = SIZE | {"model.d_model": width, "model.solver.steps": steps} | more
    return [word for key, value in chosen.items() for word in ("--set", f"{key}={value}")]


def own(program: Path, timed: int, width: int, steps: int, more: dict[str, object], *extra: str) -> dict[str, float]:
    command = [program, "bench", "step", "--family", "hybrid_ode", "--steps", str(timed), "--json", *extra]
    done = subprocess.run([*map(str, command), *leaves(width, steps, more)], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"FAILED: {' '.join(map(str, command))}\n{done.stderr}")
    out = json.loads(done.stdout)
    return {"ms": out["ms_per_cell_step"], "bytes": out["peak_bytes"] - out["start_bytes"]}


def rival(dumps: Path, steps: int, same: str, timed: int) -> None:
    """In a process of its own: trains as the dump says, prints milliseconds, bytes, losses and how far gradients are off."""
    import torch
    from safetensors.torch import load_file
    from torch import nn
    from torch.nn import functional as F
    from torchdiffeq import odeint, odeint_adjoint

    torch.set_num_threads(1)
    given, exact, ours = ({name: value[0] for name, value in load_file(dumps / file).items()} for file in (
        "plain/weights.safetensors", "plain/gradients.safetensors", f"{same}/gradients.safetensors"))
    batches = load_file(dumps / "plain" / "batches.safetensors")
    heads = SIZE["model.n_heads"]

    def of_field(named: dict[str, torch.Tensor]) -> list[torch.Tensor]:
        qkv = [torch.cat([named[f"flow.block.attn.{n}.{part}"] for n in "qkv"]) for part in ("weight", "bias")]
        rest = ("block.norm1.scale", "block.norm1.shift", "block.attn.out.weight", "block.attn.out.bias",
                "block.norm2.scale", "block.norm2.shift", "block.mlp.up.weight", "block.mlp.up.bias",
                "block.mlp.down.weight", "block.mlp.down.bias", "time.w1", "time.b1", "time.w2", "time.b2", "alpha")
        return [*qkv, *(named["flow." + name] for name in rest)]

    class Field(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.ParameterList([nn.Parameter(x.clone()) for x in of_field(given)])

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
    solve = odeint_adjoint if same == "adjoint" else odeint
    times = torch.linspace(0, 1, 2)

    def gradients(i: int) -> float:
        ids, wanted = batches["inputs"][i % CHECKED, 0], batches["targets"][i % CHECKED, 0]
        x = table["embedding.weight"][ids] + table["position.weight"][: ids.shape[1]]
        x = solve(field, x, times, method="euler", options={"step_size": 1 / steps})[-1]
        x = F.layer_norm(x, x.shape[-1:], table["final_norm.scale"], table["final_norm.shift"])
        loss = F.cross_entropy((x @ table["head.weight"].T).flatten(0, 1), wanted.flatten())
        optimiser.zero_grad()
        loss.backward()
        return loss.item()

    def step(i: int) -> float:
        loss = gradients(i)
        nn.utils.clip_grad_norm_(optimiser.param_groups[0]["params"], 1.0)
        optimiser.step()
        return loss

    def peak() -> int:
        status = Path("/proc/self/status").read_text()
        return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))

    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # VmHWM begins anew
    start = peak()
    gradients(0)
    def apart(them: dict[str, torch.Tensor]) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Of each parameter, those of the flow first: norms of the difference, and of its gradient there."""
        wanted = [*of_field(them), *(them[name] for name in table)]
        mine = [p.grad for p in [*field.parameters(), *table.values()]]
        return [((p - g).norm(), g.norm()) for p, g in zip(mine, wanted, strict=True)]

    flow = apart(exact)[: len(field.w)]
    errors = {"from ours": max((d / g).item() for d, g in apart(ours)),
              "from the exact": (sum(d**2 for d, _ in flow) / sum(g**2 for _, g in flow)).sqrt().item()}
    losses = [step(i) for i in range(CHECKED)]
    spent = []
    for i in range(timed):
        begin = time.perf_counter()
        step(i)
        spent.append(1e3 * (time.perf_counter() - begin))
    print(json.dumps({"ms": statistics.median(spent), "bytes": peak() - start, "losses": losses, "gradients": errors}))


def time_rival(dumps: Path, steps: int, way: str, timed: int) -> dict[str, Any]:
    done = subprocess.run([sys.executable, __file__, "--rival", str(dumps), str(steps), RIVALS[way], str(timed)],
                          capture_output=True, text=True, check=False)  # fmt: skip
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def check(found: dict[str, list[dict[str, Any]]], expected: list[float], steps: int) -> None:
    off = max(abs(a - b) / b for a, b in zip(found["odeint"][0]["losses"], expected, strict=True))
    if off > 1e-5:
        sys.exit(f"FAILED: losses of odeint are {off:.2g} from depthgrid's over {CHECKED} steps, m = {steps}")
    for way in RIVALS:
        if (off := found[way][0]["gradients"]["from ours"]) > 1e-5:
            sys.exit(f"FAILED: gradients of {way} are {off:.2g} from depthgrid's, m = {steps}")


def summary(found: dict[str, list[dict[str, Any]]], steps: int) -> list[dict[str, Any]]:
    """Of each way over the rounds; ratios are to the first one in the same round."""
    rows = []
    first = next(iter(found))
    for way, times in found.items():
        ratios = sorted(one["ms"] / base["ms"] for one, base in zip(times, found[first], strict=True))
        gradients = times[0].get("gradients", {})
        row = {"m": steps, "way": way, "ms": statistics.median(one["ms"] for one in times),
               "ratio": [statistics.median(ratios), ratios[0], ratios[-1]],
               "MiB": statistics.median(one["bytes"] for one in times) / 2**20, "gradients": gradients}  # fmt: skip
        rows.append(row)
        print(f"| {steps} | {way} | {row['ms']:.1f} | {row['ratio'][0]:.2f} ({ratios[0]:.2f}..{ratios[-1]:.2f}) |"
              f" {row['MiB']:.0f} |", *(f"{name}: {off:.2g}" for name, off in gradients.items()), flush=True)  # fmt: skip
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--regularisers", action="store_true")
    parser.add_argument("--program", type=Path, default=Path("build/release/depthgrid"))
    parser.add_argument("--steps", default="4,16,64")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--timed", type=int, default=10, help="steps of training in a round")
    parser.add_argument("--rival", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.rival:
        rival(Path(given.rival[0]), int(given.rival[1]), given.rival[2], int(given.rival[3]))
        return
    ours = REGULARISED if given.regularisers else OWN
    ways = [*ours, *([] if given.regularisers else RIVALS)]
    rows = []
    for steps in [4] if given.regularisers else map(int, given.steps.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            dumps = Path(folder)
            if not given.regularisers:
                for way in RIVALS.values():
                    own(given.program, given.timed, given.width, steps, OWN[way], "--dump", str(dumps / way))
            found: dict[str, list[dict[str, Any]]] = {way: [] for way in ways}
            for turn in range(given.rounds):
                for way in ways[turn % len(ways) :] + ways[: turn % len(ways)]:
                    found[way].append(own(given.program, given.timed, given.width, steps, ours[way]) if way in ours
                                      else time_rival(dumps, steps, way, given.timed))  # fmt: skip
            if not given.regularisers:
                losses = json.loads((dumps / "plain" / "losses.json").read_text())["loss"]
                check(found, [step[0] for step in losses], steps)
        rows += summary(found, steps)
    if given.out:
        given.out.write_text(json.dumps(rows, indent=1) + "\n")


main()
