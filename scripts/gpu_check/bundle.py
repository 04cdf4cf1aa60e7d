"""The programs of an unpacked bundle, as the rows call them."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rows import Failed, Table

AS_ROOT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE",
}  # fmt: skip


@dataclass(frozen=True)
class Bundle:
    here: Path
    torch: Path  # lib folder
    device: str  # cuda or cpu
    table: Table

    @property
    def on_card(self) -> bool:
        return self.device == "cuda"

    @property
    def variables(self) -> dict[str, str]:
        sources = self.here / "share/depthgrid"
        return {**AS_ROOT, "TORCH_LIB": str(self.torch), "DEPTHGRID_TEST_SOURCES": str(sources)}

    def call(self, *command: str | Path, **more: str) -> str:
        return self.table.call(command, **{**self.variables, **more})

    def depthgrid(self, *arguments: str | Path, **more: str) -> str:
        return self.call(self.here / "depthgrid", *arguments, **more)

    def train(self, store: str, device: str, file: str | Path, *options: str, ranks: int = 1, **more: str) -> dict[str, Any]:
        """Trains a sweep in a fresh store. @return its results."""
        shutil.rmtree(self.table.work / store, ignore_errors=True)
        launch = [str(self.here / "mpirun"), "-q", "-np", str(ranks)] * (ranks > 1)
        run = [str(self.here / "depthgrid"), "run", str(file), "--store", store, "-q"]
        self.call(*launch, *run, "--set", f"resources.device={device}", *options, **more)
        return self.results(store)

    def results(self, store: str) -> dict[str, Any]:
        return dict(json.loads(self.depthgrid("results", store, "--json")))

    def file(self, name: str, text: str) -> Path:
        path = self.table.work / name
        path.write_text(text)
        return path

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
