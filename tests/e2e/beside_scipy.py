#!/usr/bin/env python3
"""The numbers of `compare` beside those of SciPy and statsmodels, for any store.

beside_scipy.py PROGRAM STORE --by LEAF[,LEAF] [--metric NAME] [--margin δ]

Figures come from `results --csv`; what `compare --json` says of them is computed anew here: by
scipy.stats, scipy.optimize and statsmodels, which need not be installed for anything else
(pip install scipy==1.17.1 statsmodels==0.15.0 pandas). Ends with 1 if a statistic or p is not
within 1e-10, a power or a number of seeds within 1e-6, relative; with 77 without these packages.
"""

import argparse
import io
import itertools
import json
import math
import subprocess
import sys

try:
    import numpy as np
    import pandas as pd
    import scipy.optimize
    import statsmodels.formula.api as smf
    from scipy import stats as st
    from statsmodels.stats.anova import AnovaRM, anova_lm
    from statsmodels.stats.multitest import multipletests
    from statsmodels.stats.proportion import proportion_confint
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

EXACT, POWER = 1e-10, 1e-6


class Beside:
    """Pairs of numbers, ours and theirs, with the largest relative difference of each kind."""

    def __init__(self):
        self.rows = {}

    def add(self, kind, ours, theirs, tolerance):
        if ours is None or not math.isfinite(theirs):
            return
        off = abs(ours - theirs) / max(abs(theirs), 1e-300)
        if abs(ours - theirs) < 1e-14:
            off = 0.0
        n, worst, example, _ = self.rows.get(kind, (0, -1.0, None, tolerance))
        if off > worst:
            worst, example = off, (ours, theirs)
        self.rows[kind] = (n + 1, worst, example, tolerance)

    def report(self):
        print(f"{'what':28s} {'n':>4s} {'compare':>24s} {'SciPy, statsmodels':>24s} {'off by':>9s}  limit")
        bad = 0
        for kind, (n, worst, (ours, theirs), limit) in self.rows.items():
            bad += worst > limit
            print(f"{kind:28s} {n:4d} {ours:24.16g} {theirs:24.16g} {worst:9.1e}  {limit:.0e}"
                  f"{'' if worst <= limit else '  TOO FAR'}")  # fmt: skip
        return bad


def power_of(effect, n, level):
    """Power of a two-sided paired t test at a standardised effect."""
    df, nc = n - 1, effect * math.sqrt(n)
    t = st.t.ppf(1 - level / 2, df)
    return np.nan_to_num(st.nct.sf(t, df, nc), nan=1.0) + np.nan_to_num(st.nct.cdf(-t, df, nc))


def seeds_needed(effect, level, power=0.8):
    """Pairs for a power, as a real number: at least the two that a deviation needs."""
    f = lambda n: power_of(abs(effect), n, level) - power  # noqa: E731
    if f(2.0) >= 0:
        return 2.0
    high = 4.0
    while f(high) < 0:
        high *= 2
    return scipy.optimize.brentq(f, 2.0, high, xtol=1e-12, rtol=1e-14)


def contrast(beside, ours, mine, theirs, level, margin):
    d = mine - theirs
    n = len(d)
    test = st.ttest_rel(mine, theirs)
    low, high = test.confidence_interval(0.95)
    out = ours["difference"]
    for kind, a, b in [
        ("difference", out["mean"], d.mean()), ("deviation", out["sd"], d.std(ddof=1)),
        ("t", out["t"], test.statistic), ("p", out["p"], test.pvalue),
        ("interval, low", out["interval"][0], low), ("interval, high", out["interval"][1], high),
    ]:  # fmt: skip
        beside.add(kind, a, b, EXACT)
    flips = [abs(np.dot(signs, d)) for signs in itertools.product([1, -1], repeat=n)]
    exact = np.mean(np.array(flips) >= abs(d.sum()) * (1 - 1e-12))
    beside.add("sign-flip p", ours["sign_flip"]["p"], exact, EXACT)
    below, above = int((d < 0).sum()), int((d > 0).sum())
    if below + above:
        beside.add("sign test p", ours["signs"]["p"], st.binomtest(below, below + above).pvalue, EXACT)
    d_z = d.mean() / d.std(ddof=1)
    beside.add("d_z", ours["effect"]["d_z"], d_z, EXACT)
    beside.add("Hedges' g", ours["effect"]["g"], d_z * (1 - 3 / (4 * (n - 1) - 1)), EXACT)
    root = scipy.optimize.brentq(
        lambda x: power_of(x, n, level) - 0.8, 1e-6, 15, xtol=1e-13, rtol=1e-14
    )
    beside.add("detectable", ours["detectable"], root * d.std(ddof=1), POWER)
    needed = seeds_needed(d_z, level)
    if ours["seeds_needed"] is not None and needed < 1e6:
        beside.add("seeds needed", ours["seeds_needed"], needed, POWER)
    improved = int((d < 0).sum())
    if (d == 0).sum() == 0:
        wilson = proportion_confint(improved, n, method="wilson")
        share = ours["improved"]
        beside.add("improved share", share["share"], improved / n, EXACT)
        beside.add("improved, low", share["interval"][0], wilson[0], EXACT)
        beside.add("improved, high", share["interval"][1], wilson[1], EXACT)
    if margin is not None:
        upper = st.ttest_1samp(d, margin, alternative="less").pvalue
        lower = st.ttest_1samp(d, -margin, alternative="greater").pvalue
        beside.add("equivalence p", ours["equivalence_p"], max(upper, lower), EXACT)
    return test.pvalue


def variance(beside, tables, averages):
    """Both factors within the seed: F of AnovaRM, sums of squares of all interactions with the seed."""
    for table in tables:
        if table["refused"]:
            continue
        b = table["b"]
        data = averages(table["a"], b)
        # What a seed has in common cancels in F; without it statsmodels keeps more digits.
        centred = data.assign(y=data["y"] - data.groupby("seed")["y"].transform("mean"))
        tested = AnovaRM(centred, "y", "seed", within=["a", "b"] if b else ["a"]).fit().anova_table
        squares = anova_lm(smf.ols("y ~ C(seed) * C(a)" + (" * C(b)" if b else ""), data).fit())
        total, seed = squares["sum_sq"].sum(), squares["mean_sq"]["C(seed)"]
        effects = [("shares_a", "a", "C(a)", "C(seed):C(a)")]
        if b:
            effects.append(("shares_b", "b", "C(b)", "C(seed):C(b)"))
            effects.append(("shares_interaction", "a:b", "C(a):C(b)", "C(seed):C(a):C(b)"))
        for key, test, row, error in effects:
            ours, own, noise = table[key], squares.loc[row], squares.loc[error]
            beside.add("eta squared", ours["eta2"], own["sum_sq"] / total, EXACT)
            omega = (own["sum_sq"] - own["df"] * noise["mean_sq"]) / (total + seed)
            beside.add("omega squared", ours["omega2"], omega, EXACT)
            beside.add("F", ours["f"], tested.loc[test, "F Value"], EXACT)
            beside.add("p of F", ours["p"], tested.loc[test, "Pr > F"], EXACT)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("store")
    parser.add_argument("--by", required=True)
    parser.add_argument("--metric")
    parser.add_argument("--margin", type=float)
    args = parser.parse_args()
    words = [args.program, "compare", args.store, "--by", args.by, "--json"]
    words += ["--metric", args.metric] if args.metric else []
    words += ["--margin", str(args.margin)] if args.margin else []
    answer = json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout)
    table = subprocess.run([args.program, "results", args.store, "--csv"], stdout=subprocess.PIPE, check=True)
    cells = pd.read_csv(io.BytesIO(table.stdout), keep_default_na=True)
    cells = cells[cells.status == "completed"]
    cells = cells.dropna(subset=list({effect["factor"] for effect in answer["effects"]}))  # arms of `include`
    metric = answer["metric"]
    beside, p_values, holm = Beside(), [], []
    for effect in answer["effects"]:
        if effect["within"]:
            continue
        factor = effect["factor"]
        means = cells.groupby([factor, "seed"])[metric].mean().unstack("seed")
        baseline = next(g for g in effect["groups"] if g["baseline"])
        for group in effect["groups"]:
            if not group["contrast"] or group["level"] is None:
                continue
            mine = means.loc[group["level"]].to_numpy()
            theirs = means.loc[baseline["level"]].to_numpy()
            p_values.append(contrast(beside, group["contrast"], mine, theirs, answer["level"], args.margin))
            holm.append(group["contrast"])
    if p_values:
        if len(p_values) == answer["family"]:  # no arms of `include`
            for ours, theirs in zip(holm, multipletests(p_values, method="holm")[1]):
                beside.add("Holm p", ours["holm_p"], theirs, EXACT)
        confidence = 1 - answer["level"] / answer["family"]
        for ours in holm:
            d = np.array(ours["values"]["group"]) - np.array(ours["values"]["baseline"])
            limits = st.ttest_1samp(d, 0).confidence_interval(confidence)
            beside.add("all at once, low", ours["simultaneous"][0], limits[0], EXACT)
            beside.add("all at once, high", ours["simultaneous"][1], limits[1], EXACT)

    def averages(a, b):
        data = cells.groupby(["seed", a] + ([b] if b else []))[metric].mean().reset_index()
        return data.rename(columns={a: "a", metric: "y", **({b: "b"} if b else {})})

    variance(beside, answer.get("variance", []), averages)
    sys.exit(1 if beside.report() else 0)


if __name__ == "__main__":
    main()
