#!/usr/bin/env python3
"""Parts of scripts/gpu_check by themselves: differences are found, faults of a row stay that row's."""
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True

from results import close, differences  # noqa: E402
from rows import Failed, Found, NotRun, Row, Table  # noqa: E402


def cell(loss: float, family: str = "standard", status: str = "completed") -> dict:
    metrics = {"train_loss": loss, "cost_wall_time": 3.0}
    return {"alias": "a", "status": status, "overrides": {"model.family": family}, "metrics": metrics}


TOLERANCES = {"fp32": 1e-4, "choice": 1e-2}
assert close({"x": cell(1.0)}, {"x": cell(1.00005)}, TOLERANCES)[0]
assert not close({"x": cell(1.0)}, {"x": cell(1.001)}, TOLERANCES)[0]
assert close({"x": cell(1.0, "tdt")}, {"x": cell(1.001, "tdt")}, TOLERANCES)[0]
assert not close({"x": cell(1.0)}, {"x": cell(float("nan"))}, TOLERANCES)[0]
assert not close({"x": cell(1.0)}, {"x": cell(1.0, status="failed")}, TOLERANCES)[0]
assert not close({"x": cell(1.0)}, {}, TOLERANCES)[0] and not close({}, {}, TOLERANCES)[0]
assert differences({"x": cell(1.0)}, {"x": cell(1.0)}) == []
assert differences({"x": cell(1.0)}, {"x": cell(1.0000001)}) == ["a: train_loss differ"]
assert differences({}, {}) and differences({"x": cell(1.0)}, {"y": cell(1.0)})


def fails() -> Found:
    raise Failed("a wrong constant")


def cannot() -> Found:
    raise NotRun("no card")


def broken() -> Found:
    raise KeyError("key")


with tempfile.TemporaryDirectory() as folder:
    table = Table("t", Path(folder), 6, Path(folder))

    def hangs() -> Found:
        # A child with a group of its own, as programs make them, must not outlive the row.
        table.call(["bash", "-c", "echo begun; set -m; (exec -a marked_sleeper sleep 77); true"])
        return Found("")

    table.run(
        [
            Row("fails", 1, fails), Row("cannot", 1, cannot), Row("broken", 1, broken), Row("hangs", -1.5, hangs),
            Row("after", 1, lambda: Found("fine")), Row("needs", 1, lambda: Found(""), "fails"),
            Row("late", 5, lambda: Found(table.call(["sleep", "9"]))), Row("never", 1, lambda: Found("")),
        ]
    )  # fmt: skip
    lines = [x.split() for x in (Path(folder) / "t.txt").read_text().splitlines() if not x.startswith("   |")]
    states = {x[0]: " ".join(x[1:3]) if x[1] in ("not", "NOT") else x[1] for x in lines}
    assert states == {
        "fails": "FAILED", "cannot": "not run", "broken": "FAILED", "hangs": "FAILED", "after": "ok",
        "needs": "not run", "late": "FAILED", "never": "NOT REACHED",
    }, states  # fmt: skip
    assert "begun" in (Path(folder) / "t.log").read_text()
    assert subprocess.run(["pgrep", "-f", "marked_sleeper"], check=False, capture_output=True).returncode == 1
print("ok")
