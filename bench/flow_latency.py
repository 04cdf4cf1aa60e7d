#!/usr/bin/env python3
"""Time and operations of a forward pass with a flow in place of layers, by component, beside the layers and fewer of them.

--study flow: two of six layers, with a large vocabulary (the default). --study law: m steps for k of 24 layers, with a small one.

Rounds are interleaved, one process per model and round in rotating order; within a process the components are timed in random
order (`depthgrid bench forward`). A ratio is to the layers alone of the same round; `without head` is layers and flow alone.

usage: flow_latency.py [--program PATH] [--study flow|law] [--rounds N] [--repetitions N] [--rows N] [--out FILE]
"""
from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

SIZE = {"model.d_model": 256, "model.n_heads": 4, "data.corpus": "synthetic:markov", "data.synthetic.tokens": 200000}


def shortened(m: int, first: int, end: int) -> tuple[str, dict[str, object]]:
    return "hybrid_ode", {"model.solver.steps": m, "model.replaced_layers": f"[{first}, {end}]"}


# The first model is what the others are compared with.
STUDIES = {
    "flow": ({"model.n_layers": 6, "data.seq_len": 32, "data.synthetic.vocab_size": 33278}, {
        "six blocks": ("standard", {}),
        "flow with attention": ("hybrid_ode", {}),
        "flow of an MLP": ("hybrid_ode", {"model.field.kind": "mlp"}),
        "four blocks": ("standard", {"model.n_layers": 4}),
    }),
    "law": ({"model.n_layers": 24, "data.seq_len": 64, "data.synthetic.vocab_size": 256}, {
        "24 blocks": ("standard", {}),
        "2 steps for 8 blocks": shortened(2, 8, 16),
        "4 steps for 8 blocks": shortened(4, 8, 16),
        "4 steps for 2 blocks": shortened(4, 11, 13),
        "8 steps for 2 blocks": shortened(8, 11, 13),
        "16 blocks": ("standard", {"model.n_layers": 16}),
    }),
}  # fmt: skip


def measured(program: Path, family: str, settings: dict[str, object], repetitions: int) -> dict[str, tuple[float, float]]:
    """Milliseconds and operations per token of each component."""
    command = [str(program), "bench", "forward", "--family", family, "--steps", str(repetitions), "--json"]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"FAILED: {' '.join(command)}\n{done.stderr}")
    parts = {one["component"]: (one["ms"], one["flops_per_token"]) for one in json.loads(done.stdout)["components"]}
    depth = [parts[name] for name in ("layers", "flow") if name in parts]
    return parts | {"without head": (sum(ms for ms, _ in depth), sum(flops for _, flops in depth))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, default=Path("build/release/depthgrid"))
    parser.add_argument("--study", choices=sorted(STUDIES), default="flow")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repetitions", type=int, default=25)
    parser.add_argument("--rows", type=int, default=32)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    size, models = STUDIES[given.study]
    size = SIZE | size | {"train.batch_size": given.rows}
    found: dict[str, list[dict[str, tuple[float, float]]]] = {name: [] for name in models}
    names = list(models)
    for turn in range(given.rounds):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            family, more = models[name]
            found[name].append(measured(given.program, family, size | more, given.repetitions))
    base, rows = found[names[0]], []
    for name, rounds in found.items():
        for part in rounds[0]:
            ms = sorted(one[part][0] for one in rounds)
            row = {"model": name, "component": part, "ms": statistics.median(ms), "ms_range": [ms[0], ms[-1]],
                   "flops_per_token": rounds[0][part][1]}  # fmt: skip
            if part in base[0]:
                ratios = sorted(one[part][0] / alone[part][0] for one, alone in zip(rounds, base, strict=True))
                row |= {"ratio": [statistics.median(ratios), ratios[0], ratios[-1]],
                        "flops_ratio": row["flops_per_token"] / base[0][part][1] if base[0][part][1] else None}  # fmt: skip
            rows.append(row)
            ratio = "{:.3f} ({:.3f}..{:.3f})".format(*row["ratio"]) if "ratio" in row else ""
            counted = f"{row['flops_ratio']:.3f}" if row.get("flops_ratio") else ""
            print(f"| {name} | {part} | {row['ms']:.4g} ({ms[0]:.4g}..{ms[-1]:.4g}) | {ratio} |"
                  f" {row['flops_per_token'] / 1e6:.2f} | {counted} |", flush=True)
    if given.out:
        given.out.write_text(json.dumps(rows, indent=1) + "\n")


main()
