"""What gpu_hour.sh compares: gpu_hour.py close|same STORE.json STORE.json [fp32=..,bf16=..,choice=..]

Each file is the output of `depthgrid results STORE --json`.
close  a table: the loss of each cell in both stores and how far they are apart, with a tolerance for
       each precision, and one for families that choose tokens: rounding decides between two whose scores
       are nearly equal
same   nothing, if every recorded number of every cell is the same to the bit (times, memory, other
       costs and the count of steps that a resumed run repeats apart)
Exit code 1 if a cell is further apart than that, or missing.
"""
import json
import sys


CHOOSE = ("tdt", "mod")


def cells(path):
    with open(path) as file:
        return {c["id"]: c for c in json.load(file)["cells"]}


def close(one, two, tolerances):
    bad = len(one.keys() ^ two.keys())
    print(f"{'cell':<46} {'first':>10} {'second':>10} {'apart':>9}  allowed")
    for key, cell in one.items():
        if key not in two:
            continue
        precision = cell["overrides"].get("train.precision", "fp32")
        allowed = tolerances["choice" if cell["overrides"].get("model.family") in CHOOSE else precision]
        a, b = (c["metrics"].get("train_loss", float("nan")) for c in (cell, two[key]))
        apart = abs(a - b) / max(abs(a), 1e-300)
        ok = cell["status"] == two[key]["status"] == "completed" and apart <= allowed
        bad += not ok
        print(f"{cell['alias']:<46} {a:10.6f} {b:10.6f} {apart:9.1e}  {allowed:.0e}{'' if ok else '  FAILED'}")
    return bad


def numbers(cell):
    circumstances = ("cost_", "replayed_steps")
    return {k: v for k, v in cell["metrics"].items() if not k.startswith(circumstances) and "time" not in k}


def same(one, two):
    bad = len(one.keys() ^ two.keys())
    for key in one.keys() & two.keys():
        a, b = numbers(one[key]), numbers(two[key])
        # As text: a NaN is then equal to itself.
        differ = [k for k in sorted(a.keys() | b.keys()) if repr(a.get(k)) != repr(b.get(k))]
        if differ or not a:
            bad += 1
            print(f"{one[key]['alias']}: {', '.join(differ[:6])} differ")
    if not one:
        bad = 1
    return bad


def main():
    kind, first, second = sys.argv[1:4]
    if kind == "same":
        return same(cells(first), cells(second)) > 0
    tolerances = {k: float(v) for k, v in (p.split("=") for p in sys.argv[4].split(","))}
    return close(cells(first), cells(second), tolerances) > 0


sys.exit(main())
