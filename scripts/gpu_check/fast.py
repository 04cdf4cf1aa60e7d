"""How fast is it, and how fast are others? Times of this card on this day; docs/performance.md names both."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import time
from collections.abc import Sequence

from bundle import Bundle
from rows import Failed, Found, NotRun, Row

SIZES = {"model.d_model": 256, "model.n_layers": 6, "model.n_heads": 4, "data.seq_len": 128, "train.batch_size": 8}
SMALL = {"model.d_model": 64, "model.n_layers": 2, "model.n_heads": 2, "data.seq_len": 32, "train.batch_size": 4}
VARIANTS = {
    "standard": ("standard", {}),
    "time_indexed": ("time_indexed", {}),
    "ssm": ("time_indexed", {"model.mixer": "ssm"}),
    "tdt": ("tdt", {"model.tdt.execution": "gathered"}),
}
MAKESPAN_CELLS, MAKESPAN_STEPS = 20, 1000
MAKESPAN = """
name: makespan
model: {family: standard, d_model: 256, n_layers: 6, n_heads: 4}
data: {corpus: "synthetic:markov", synthetic: {vocab_size: 64, tokens: 200000}, seq_len: 128}
train: {batch_size: 8, lr: 1e-3}
eval: {every: null, windows: 16, final_windows: 64}
packing: {fuse: 2}
seeds: 2
"""


class Fast:
    def __init__(self, bundle: Bundle) -> None:
        self.b = bundle
        self.sizes = SIZES if bundle.on_card else SMALL
        self.steps = 30 if bundle.on_card else 3

    def card(self) -> Found:
        return Found(self.b.card("name,driver_version,memory.total,clocks.sm,clocks.max.sm,power.limit"))

    def needs_torch(self) -> None:
        if importlib.util.find_spec("torch") is None or importlib.util.find_spec("numpy") is None:
            raise NotRun(f"{sys.executable} has no torch and numpy")

    def ceilings(self) -> Found:
        self.needs_torch()
        output = self.b.call(sys.executable, self.b.here / "bench/ceilings.py", "--device", self.b.device)
        table = json.loads(output.splitlines()[-1])
        return Found("what the card can do", [f"{x['what']:<44} {x['value']:9.4g} {x['unit']}" for x in table],
                     {"ceilings": table})  # fmt: skip

    def step(self, variant: str, cells: int, precision: str) -> Found:
        family, leaves = VARIANTS[variant]
        every = {**self.sizes, **leaves, "train.precision": precision}
        sets = [x for key, value in every.items() for x in ("--set", f"{key}={value}")]
        sets += ["--set", f"resources.threads={min(os.cpu_count() or 1, 8)}"]  # initial weights are drawn on the host
        arguments = ["--device", self.b.device, "--family", family, "--cells", cells, "--steps", self.steps]
        arguments += ["--launches", "--json"]
        found = json.loads(self.b.depthgrid("bench", "step", *map(str, arguments), *sets).splitlines()[-1])
        text = f"{found['ms_per_cell_step']:.4g} ms per cell-step, at most {found['peak_bytes'] / 1e6:.0f} MB"
        if "launches" in found:
            text += f", {found['launches']} kernels, {found['copies']} copies, busy {found['busy_ms']:.3g} ms a step"
        longest = [f"{x['ms']:8.4f} ms  {x['kernel'][:90]}" for x in found.get("longest", [])]
        longest += [f"{x['ms']:8.4f} ms  on the host in {x['call']}" for x in found.get("calls", [])]
        return Found(text, longest, found)

    def rivals(self, case: str) -> Found:
        """bench/compare.py: compiled side by side, then timed in turn."""
        self.needs_torch()
        if importlib.util.find_spec("safetensors") is None:
            raise NotRun(f"{sys.executable} has no safetensors")
        folder = self.b.table.work / f"compare-{case}"
        command = [sys.executable, self.b.here / "bench/compare.py", "gpu", "--device", self.b.device, "--force"]
        command += ["--program", self.b.here / "depthgrid", "--out", folder, "--rounds", "3", "--only", case]
        self.b.call(*command)
        cases = json.loads((folder / "results.json").read_text())["cases"]
        lines = [x for x in (folder / "performance.md").read_text().splitlines() if x.startswith("|")]
        return Found("program / depthgrid: above 1, depthgrid is faster", lines, {"cases": cases})

    def makespan(self) -> Found:
        """A job of two cells of two lengths, whose difference is the time of steps; the rest is start and end.

        Without audits, which the first run would pay, and without probes.
        """
        file = self.b.file("makespan.yaml", MAKESPAN)
        sizes = [] if self.b.on_card else ["--set", "model.d_model=32", "--set", "data.seq_len=16"]
        sizes += self.b.training_alone()
        short, long = (100, 350) if self.b.on_card else (5, 105)
        took = {}
        for steps in (short, long):
            began = time.monotonic()
            self.b.train(f"makespan-{steps}", self.b.device, file, "--set", f"train.steps={steps}", *sizes)
            took[steps] = time.monotonic() - began
        step = (took[long] - took[short]) / (long - short)
        if step <= 0:
            raise Failed(f"{long} steps took no longer than {short}")
        ends = took[short] - short * step
        whole = ends + MAKESPAN_CELLS / 2 * MAKESPAN_STEPS * step
        return Found(
            f"{whole:.0f} s for {MAKESPAN_CELLS} cells of {MAKESPAN_STEPS} steps in ten jobs, EXTRAPOLATED from one of two: "
            f"{step * 1e3:.3g} ms a step of two, {ends:.3g} s for start, evaluation and results",
            numbers={"makespan_s": whole, "extrapolated": True, "step_of_two_s": step, "ends_s": ends},
        )


def rows(bundle: Bundle) -> Sequence[Row]:
    """Most valuable first."""
    f = Fast(bundle)

    def steps(variant: str, cells: int, precision: str) -> Row:
        name = f"step {variant} E={cells} {precision}"
        return Row(name, 3 if cells < 32 else 4, lambda: f.step(variant, cells, precision))

    return (
        Row("card", 1, f.card),
        Row("ceilings", 10, f.ceilings),
        *(steps(variant, cells, "fp32") for cells in (1, 8) for variant in VARIANTS),
        Row("GPT and rivals", 85, lambda: f.rivals("standard")),
        *(steps("standard", 8, precision) for precision in ("tf32", "bf16")),
        *(steps(variant, 32, "fp32") for variant in VARIANTS),
        Row("time-indexed and rivals", 68, lambda: f.rivals("time_indexed, mlp")),
        Row("SSM and rivals", 73, lambda: f.rivals("time_indexed, ssm")),
        Row("makespan", 15, f.makespan),
    )
