"""Is the GPU path right?"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import results
from bundle import Bundle
from rows import Failed, Found, NotRun, Row, kill_session

FAMILIES = """
name: families
description: every family and precision for twenty steps
model: {d_model: 32, n_layers: 3, n_heads: 2}
data: {corpus: "synthetic:markov", synthetic: {vocab_size: 16, tokens: 20000}, seq_len: 16}
train: {steps: 20, batch_size: 4, lr: 1e-3}
eval: {every: null, windows: 16, final_windows: 64}
parameters:
  train.precision: [fp32, bf16]
  model.family: [standard, time_indexed, tong, hybrid_ode, tdt, mod]
seeds: 1
"""
STRUCTURES = FAMILIES.replace("families", "structures").replace("[fp32, bf16]", "[fp32]")
LARGE_MB = 650
"""Of the card: less than two cells of 400 MB each and what LibTorch needs, more than one."""
TIMES_KILLED = 2


class Correct:
    def __init__(self, bundle: Bundle) -> None:
        self.b, self.device = bundle, bundle.device
        self.tiny_file = bundle.here / "configs/tiny.yaml"

    def card(self) -> Found:
        return Found(self.b.card("name,driver_version,compute_cap,memory.total,uuid"))

    def libraries(self) -> Found:
        plugin = self.b.here / "bin/libdepthgrid_cuda.so"
        linked = self.b.call("ldd", "-r", plugin, LD_LIBRARY_PATH=self.b.libraries()).splitlines()
        missing = [x.strip() for x in linked if re.search("undefined symbol|not found", x) and "libcuda.so" not in x]
        if missing:
            raise Failed(f"{len(missing)} missing: {missing[0]}")
        version = self.b.depthgrid("--version").splitlines()[0]
        return Found(f"every library and symbol is found; {version}")

    def compared(self, one: dict, two: dict, tolerances: dict[str, float]) -> Found:
        good, largest, lines = results.close(results.by_id(one), results.by_id(two), tolerances)
        if not good:
            raise Failed(f"losses are up to {largest:.1e} apart, or cells failed", lines)
        return Found(f"{len(lines)} losses, at most {largest:.1e} apart", lines, {"apart": largest})

    def same(self, one: dict, two: dict) -> Found:
        lines = results.differences(results.by_id(one), results.by_id(two))
        if lines:
            raise Failed("not the same bits", lines)
        return Found("the same bits")

    def tiny(self) -> Found:
        self.on_device = self.b.train("tiny", self.device, self.tiny_file)
        bad = [f"{c['alias']}: {c['status']}" for c in self.on_device["cells"] if c["status"] != "completed"]
        if bad or not self.on_device["cells"]:
            raise Failed("cells did not complete", bad)
        return Found(f"{len(self.on_device['cells'])} cells completed")

    def tiny_agrees(self) -> Found:
        self.on_cpu = self.b.train("tiny-cpu", "cpu", self.tiny_file)
        return self.compared(self.on_cpu, self.on_device, {"fp32": 1e-4})

    def kernels(self) -> Found:
        self.b.test("gpu_test", "*OptimizerOnGpu*:*LayersOnGpu*")
        return Found("norms, clip, Adam and layers' norms have the bits of the host")

    def models(self) -> Found:
        output = self.b.test("gpu_test", "*ModelOnGpu*")
        return Found("cells, waits, NaN neighbours, E = 1, 7, 32", [x for x in output.splitlines() if x.startswith("|")])

    def families(self) -> Found:
        file = self.b.file("families.yaml", FAMILIES)
        # Twelve structures are audited on the CPU, divided among ranks; the card's run finds the verdicts.
        cpu = self.b.train("families-cpu", "cpu", file, ranks=max(min(6, (os.cpu_count() or 1) // 2), 1))
        allowed = {"fp32": 1e-4, "bf16": 2e-2, "choice": 2e-2}
        return self.compared(cpu, self.b.train("families", self.device, file), allowed)

    def twice(self) -> Found:
        return self.same(*(self.b.train(f"equal-{i}", self.device, self.tiny_file) for i in (1, 2)))

    def resumed(self) -> Found:
        options = [x for leaf in ("train.steps=400", "checkpoint.every=20", "eval.every=50") for x in ("--set", leaf)]
        straight = self.b.train("straight", self.device, self.tiny_file, *options)
        store = self.b.table.work / "killed"
        shutil.rmtree(store, ignore_errors=True)
        command = [self.b.here / "depthgrid", "run", self.tiny_file, "--store", "killed", "-q"]
        command += ["--set", f"resources.device={self.device}", *options]
        for _ in range(TIMES_KILLED):
            before = {p.name for p in store.rglob("ckpt-*.h5")}
            run = self.b.table.start(command, **self.b.variables)
            while run.poll() is None and {p.name for p in store.rglob("ckpt-*.h5")} == before:
                if self.b.table.seconds_left() < 1:
                    kill_session(run.pid)
                    raise Failed("no checkpoint came")
                time.sleep(0.02)
            kill_session(run.pid)
            self.b.table.finish(run)
        self.b.call(*command)
        attempts = len(list(store.rglob("journal-*")))
        if attempts <= 4:  # one of each cell
            raise Failed("no attempt was interrupted")
        return self.same(straight, self.b.results("killed"))

    def out_of_memory(self) -> Found:
        total = float(self.b.card("memory.total").split()[0])  # "81559 MiB"
        file = Path(__file__).with_name("large.yaml")
        shutil.rmtree(self.b.table.work / "large", ignore_errors=True)
        self.b.depthgrid(
            "run", file, "--store", "large", "--set", "resources.device=cuda", *self.b.training_alone(),
            PYTORCH_CUDA_ALLOC_CONF=f"per_process_memory_fraction:{LARGE_MB / total:.5f}",
        )  # fmt: skip
        done = sum(c["status"] == "completed" for c in self.b.results("large")["cells"])
        split = "split in two" in self.b.table.output
        if not split or done != 2:
            raise Failed(f"{done} of 2 cells completed, {'a' if split else 'no'} job was split")
        return Found("a job that does not fit was split; both cells completed")

    def two_ranks(self) -> Found:
        two = self.b.train("ranks", self.device, self.tiny_file, "--set", "resources.ranks_per_job=2", ranks=2)
        return self.compared(self.on_device, two, {"fp32": 1e-4})

    def nccl(self) -> Found:
        self.b.needs_card()
        self.b.test("gpu_test", "Nccl.AGroup*")
        return Found("a group of one sums, and is aborted within its deadline")

    def side_by_side(self) -> Found:
        file = self.b.file("structures.yaml", STRUCTURES)
        cells = self.b.train("structures", self.device, file, "-j", "2")["cells"]
        done = sum(c["status"] == "completed" for c in cells)
        if done != len(cells) or not cells:
            raise Failed(f"{done} of {len(cells)} cells completed")
        return Found(f"{done} cells of {done} structures, two launches at a time")

    def memcheck(self) -> Found:
        self.b.needs_card()
        found = shutil.which("compute-sanitizer") or shutil.which("/usr/local/cuda/bin/compute-sanitizer")
        if found is None:
            raise NotRun("no compute-sanitizer in PATH or /usr/local/cuda/bin")
        # Errors that LibTorch asks for and handles are none of ours; a caching allocator hides what runs over an end.
        tool = [found, "--tool", "memcheck", "--target-processes", "all", "--report-api-errors", "no"]
        pattern = "--gtest_filter=*OptimizerOnGpu.*adam_global:*LayersOnGpu*"
        command = [*tool, "--error-exitcode", "1", self.b.here / "gpu_test", "--gtest_brief=1", pattern]
        self.b.call(*command, DEPTHGRID_EXPECT_GPU="1", PYTORCH_NO_CUDA_MEMORY_CACHING="1")
        return Found("no faulty access in the optimiser's kernels")


def rows(bundle: Bundle) -> Sequence[Row]:
    """Most valuable first."""
    c = Correct(bundle)
    return (
        Row("card", 3, c.card),
        Row("libraries", 7, c.libraries),
        Row("tiny", 12, c.tiny),
        Row("tiny agrees", 8, c.tiny_agrees, "tiny"),
        Row("kernels", 12, c.kernels),
        Row("families", 60, c.families, "tiny"),
        Row("models", 78, c.models),
        Row("equal runs", 15, c.twice, "tiny"),
        Row("kill and resume", 35, c.resumed, "tiny"),
        Row("out of memory", 22, c.out_of_memory, "tiny"),
        Row("two ranks, one card", 15, c.two_ranks, "tiny"),
        Row("NCCL, one rank", 8, c.nccl),
        Row("two launches at a time", 20, c.side_by_side, "tiny"),
        Row("memcheck", 40, c.memcheck),
    )
