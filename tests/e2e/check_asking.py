"""How the scripts beside this one ask `depthgrid check`, the program that their first argument names."""

import json
import subprocess
import sys

import numpy as np

PROGRAM = sys.argv[1]
RANDOM = np.random.default_rng(7)
TDT = ["--family", "tdt", "--set", "model.d_model=32", "--set", "model.n_layers=4", "--set", "model.n_heads=2",
       "--set", "data.corpus=synthetic:markov", "--set", "data.synthetic.vocab_size=32", "--set", "data.seq_len=128",
       "--set", "model.tdt.ma_window=20"]
MOD = ["--family", "mod"] + TDT[2:-2]
HYBRID = ["--family", "hybrid_ode"] + TDT[2:-2]
STUDENT = [{"mode": "student", "decider": d} for d in ("threshold", "running_topk", "calibrated")]


def ask(what, *words, code=0, **members):
    """The results of one call; members are its input."""
    command = [PROGRAM, "check", what, *words, "--input", "-"]
    done = subprocess.run(command, input=json.dumps(members), capture_output=True, text=True, check=False)
    assert done.returncode == code, (command, done.returncode, done.stderr[-2000:])
    answer = json.loads(done.stdout)
    assert answer["schema"] == 1 and answer["check"] == what
    return answer["results"]


def near(ours, theirs, tolerance):
    return bool(np.all(np.abs(np.asarray(ours, float) - np.asarray(theirs, float)) <= tolerance))


def far(a, b):
    return float(np.max(np.abs(np.asarray(a, float) - np.asarray(b, float))))
