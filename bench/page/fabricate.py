"""A store of many finished cells, most of them made up, in seconds: for measurements of what reads stores.

    python3 bench/page/fabricate.py STORE [--arms 10] [--seeds 100] [--points 200] [--build build/release]

One cell is trained, with an evaluation at every step. The others get its result under their own id, with other losses
and sizes, written into the bytes of the file and sealed anew (docs/store-format.md, "How a file comes to be"); their
plan is the program's own. Results of this kind mean nothing but their bytes: use such a store for times only. Needs
h5py and NumPy.
"""

import argparse
import hashlib
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import tempfile
import time

import h5py
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SEAL = 512  # bytes
CHECKS = """causality declaration batch_independence parameter_count gradient_flow initial_loss overfit_batch
entropy_floor fusion scores positions training_step leaves"""
SWEEP = """name: many
description: "How wide a modulation network, and how many frequencies? (results that are made up)"
model: {{family: time_indexed, d_model: 8, n_layers: 2, n_heads: 2}}
data: {{corpus: "synthetic:markov", seq_len: 8, synthetic: {{vocab_size: 16, tokens: 20000}}}}
train: {{steps: {steps}, batch_size: 4, lr: 0.01}}
eval: {{every: 1, windows: 4, final_windows: 8}}
checkpoint: {{every: null}}
audit: {{{audit}}}
parameters: {{model.modulation.hidden: {hidden}, model.time_features.frequencies: {frequencies}}}
seeds: {seeds}
"""


def sweep_text(arms, seeds, points):
    """As square a grid as the number of arms allows. All levels have two digits and all seeds three, so that texts of
    cells are of one length."""
    hidden = next(n for n in range(int(arms**0.5), 0, -1) if arms % n == 0)
    return SWEEP.format(
        steps=points - 1,
        seeds=list(range(101, 101 + seeds)),
        audit=", ".join(f"{name}: off" for name in CHECKS.split()),
        hidden=list(range(11, 11 + hidden)),
        frequencies=list(range(41, 41 + arms // hidden)),
    )


def train_one(program, folder, text, store):
    """Publishes the plan and stops at the first result. @return its id."""
    (folder / "many.yaml").write_text(text)
    run = subprocess.Popen(
        [program, "run", "many.yaml", "--store", store, "-q", "--set", "packing.fuse=off"],
        cwd=folder,
        stderr=subprocess.DEVNULL,
    )
    while not (done := list((store / "cells").glob("*/*/result.h5"))) and run.poll() is None:
        time.sleep(0.05)
    run.send_signal(signal.SIGTERM)
    run.wait()
    if not done:
        raise SystemExit("the run has ended without a result")
    return done[0]


def crc_table():
    """Of CRC-32C."""
    out = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        out.append(value)
    return out


TABLE = crc_table()


def seal(image):
    """Writes the seal into the first bytes of a file's image."""
    rest = memoryview(image)[SEAL:]
    head = (
        bytes(image[:16])
        + struct.pack("<IIQ", 1, SEAL, len(rest))
        + bytes(image[32:40])
        + hashlib.sha256(rest).digest()
    )
    head = head.ljust(SEAL - 4, b"\0")
    crc = 0xFFFFFFFF
    for value in head:
        crc = crc >> 8 ^ TABLE[(crc ^ value) & 0xFF]
    image[:SEAL] = head + struct.pack("<I", crc ^ 0xFFFFFFFF)


class Template:
    """The bytes of a result, and where in them the numbers are."""

    def __init__(self, file):
        self.bytes, self.id, self.places = file.read_bytes(), file.parent.name, {}
        with h5py.File(file) as h5:
            for name in ("eval_loss", "final_loss", "best_loss", "n_parameters", "cost_wall_time"):
                data = h5[name]
                assert data.chunks is None and data.id.get_offset() is not None, f"{name} is not contiguous"
                self.places[name] = (data.id.get_offset(), data.dtype, data.shape)
        # h5py counts from the end of the user block where HDF5 does.
        offset, kind, shape = self.places["eval_loss"]
        with h5py.File(file) as h5:
            first = h5["eval_loss"][()].ravel()
        self.base = next(
            base
            for base in (0, SEAL)
            if np.array_equal(np.frombuffer(self.bytes, kind, first.size, offset + base), first, equal_nan=True)
        )

    def made(self, texts, factor, parameters, rng):
        """The result of a cell whose losses are those of the template times a factor and noise. @param texts  of the
        template and of the cell, in pairs of one length."""
        image = self.bytes
        for old, new in texts:
            assert len(old) == len(new), f"{new} is not as long as {old}"
            image = image.replace(old, new)
        image = bytearray(image)

        def view(name):
            offset, kind, shape = self.places[name]
            return np.frombuffer(image, kind, int(np.prod(shape)), offset + self.base).reshape(shape)

        curve = view("eval_loss")
        steps = curve.shape[1]
        drift = np.linspace(0, 0.1, steps) * rng.standard_normal()
        curve *= (factor + drift + 0.01 * rng.standard_normal(steps))[None, :, None]
        view("final_loss")[...] = curve[:, -1]
        view("best_loss")[...] = np.fmin.reduce(curve, axis=1)
        view("n_parameters")[...] = parameters
        view("cost_wall_time")[...] *= rng.uniform(0.8, 1.2)
        seal(image)
        return image


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("store", type=pathlib.Path)
    options.add_argument("--arms", type=int, default=10)
    options.add_argument("--seeds", type=int, default=100)
    options.add_argument("--points", type=int, default=200)
    options.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    options = options.parse_args()
    begun, store = time.monotonic(), options.store.resolve()
    with tempfile.TemporaryDirectory() as folder:
        program, text = options.build.resolve() / "depthgrid", sweep_text(options.arms, options.seeds, options.points)
        template = Template(train_one(program, pathlib.Path(folder), text, store))
    with h5py.File(store / "plan.h5") as plan:
        cells, configs, arms = (plan[name].asstr()[()] for name in ("cell", "cell_config", "arm"))
        hidden = plan["param_model_modulation_hidden"][()]
    first = list(cells).index(template.id)
    numbers = {arm: i for i, arm in enumerate(dict.fromkeys(arms))}
    for folder in (store / "cells").glob("*/*"):
        if not (folder / "result.h5").exists():
            shutil.rmtree(folder)  # begun, and stopped
    made = 0
    for row, cell in enumerate(cells):
        file = store / "cells" / cell[:2] / cell / "result.h5"
        if file.exists():
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(row)
        texts = [(old.encode(), new.encode()) for old, new in ((template.id, cell), (configs[first], configs[row]))]
        factor = 1 + 0.2 * numbers[arms[row]] / len(numbers)
        file.write_bytes(template.made(texts, factor, 4000 + 100 * int(hidden[row]), rng))
        made += 1
    size = sum(f.stat().st_size for f in (store / "cells").glob("*/*/result.h5"))
    seconds = time.monotonic() - begun
    print(
        f"{len(cells)} cells in {len(numbers)} arms, {made} of them made up: {size / 2**20:.0f} MiB in {seconds:.0f} s"
    )


if __name__ == "__main__":
    os.umask(0o027)
    main()
