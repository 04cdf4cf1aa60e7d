"""The programs of an unpacked bundle, as the rows call them."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rows import Failed, NotRun, Table

AS_ROOT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE",
}  # fmt: skip


CELLS_FAILED = 4
"""Exit code of a run in which a cell has failed."""


@dataclass(frozen=True)
class Bundle:
    here: Path
    torch: Path  # lib folder
    device: str  # cuda or cpu
    table: Table

    @property
    def on_card(self) -> bool:
        return self.device == "cuda"

    def needs_card(self) -> None:
        if not self.on_card:
            raise NotRun("no GPU in a rehearsal")

    def card(self, query: str) -> str:
        """What nvidia-smi answers to a query of the card's properties."""
        self.needs_card()
        return self.call("nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader").strip()

    @property
    def variables(self) -> dict[str, str]:
        folders = {"DEPTHGRID_TEST_SOURCES": str(self.here / "share/depthgrid"), "TORCH_LIB": str(self.torch)}
        return {**AS_ROOT, **folders, "XDG_CACHE_HOME": str(self.table.work / "cache")}  # audits are kept

    def call(self, *command: str | Path, fine: Sequence[int] = (0,), **more: str) -> str:
        return self.table.call(command, fine, **{**self.variables, **more})

    def depthgrid(self, *arguments: str | Path, **more: str) -> str:
        return self.call(self.here / "depthgrid", *arguments, **more)

    def train(self, store: str, device: str, file: str | Path, *options: str, ranks: int = 1, **more: str) -> dict[str, Any]:
        """Trains a sweep in a fresh store. @return its results, in which a cell may have failed."""
        shutil.rmtree(self.table.work / store, ignore_errors=True)
        launch = [str(self.here / "mpirun"), "-q", "-np", str(ranks)] * (ranks > 1)
        run = [str(self.here / "depthgrid"), "run", str(file), "--store", store, "-q"]
        self.call(*launch, *run, "--set", f"resources.device={device}", *options, fine=(0, CELLS_FAILED), **more)
        return self.results(store)

    def results(self, store: str) -> dict[str, Any]:
        return dict(json.loads(self.depthgrid("results", store, "--json")))

    def file(self, name: str, text: str) -> Path:
        path = self.table.work / name
        path.write_text(text)
        return path

    def training_alone(self) -> list[str]:
        """Options without audits and probes, which need memory and time of their own."""
        leaves = re.findall(r"^\| `(audit\.[a-z_]*|probes\.[a-z_]*\.schedule)`", self.depthgrid("schema", "--markdown"), re.M)
        return [x for leaf in leaves for x in ("--set", f"{leaf}=off")]

    def test(self, program: str, pattern: str) -> str:
        """Runs tests, of which none may be skipped: such a one has shown nothing."""
        expect = {"DEPTHGRID_EXPECT_GPU": "1"} if self.on_card else {"DEPTHGRID_GPU_REHEARSAL": "1"}
        output = self.call(self.here / program, "--gtest_brief=1", f"--gtest_filter={pattern}", **expect)
        if "SKIPPED" in output:
            raise Failed("tests were skipped")
        return output

    def libraries(self) -> str:
        """For the dynamic linker."""
        folders = [self.torch, *sorted((self.torch / "../../nvidia").glob("*/lib")), self.here / "lib"]
        return os.pathsep.join(str(folder) for folder in folders)
