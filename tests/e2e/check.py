"""Black-box checks of what `depthgrid check` answers: check.py DEPTHGRID."""

import json
import math

import numpy as np

from check_asking import HYBRID, MOD, RANDOM, STUDENT, TDT, ask, far, near

LAYERS = ["D_st", "D_ch", "MA", "CE", "CU", "S_CE", "S_CU", "g"]

# --- the gate -------------------------------------------------------------------------------------
DX = [(0, 0), (1, 1), (2, 0), (.5, -.5), (3, 1), (.1, .2)]
DX_HAT = [(0, 0), (.5, .5), (2, .5), (-.5, .5), (0, 0), (.1, .2)]
GOLDEN = {
    "D_st": [0, 1, 2, .25, 5, .025], "D_ch": [0, .25, .125, 1, 5, 0], "MA": [0, .5, 1, .8125, 1.65, 1.37916667],
    "CE": [.02469261, .77469261, 1.89969261, -.72530739, .02469261, .04969261],
    "CU": [0, .45, .9, -.64375, 3.185, -1.49208333],
    "S_CE": [.50342207, .60574350, .74137061, .40081319, .50342207, .50688640],
    "S_CU": [.5, .54905905, .59718250, .43005350, .80113434, .34236594],
    "g": [.75171103, .82221360, .89581956, .65849558, .90124770, .67571170]}
SLOPES = {"o_ce": .0595723949, "m_cu": -.0374789014, "beta_ce": .0101677632, "beta_cu": .0054152191}
START = {"o_ce": 1.025, "m_cu": 1.1, "beta_ce": -.3, "beta_cu": -.6}
COUNTS = [(1, .25, 0), (3, .25, 0), (4, .25, 1), (100, .29, 29), (10, .3, 3), (10, .7, 7), (7, 1, 7), (1024, .125, 128)]


def softplus(x):
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)


def moving_average(d, window):
    return np.stack([d[..., max(0, t + 1 - window):t + 1].mean(-1) for t in range(d.shape[-1])], -1)


def score(dx, dx_hat, window=100):
    d_st, d_ch = (dx ** 2).mean(-1), ((dx - dx_hat) ** 2).mean(-1)
    a = softplus(-.3) * (d_st - (d_ch - np.log(1.025 + 1e-10)))
    return softplus(a) + softplus(softplus(-.6) * (d_st - 1.1 * moving_average(d_st, window)))


cases, wanted = [], []


def gate(then, **members):
    cases.append({"dx": np.asarray(members.pop("dx")).tolist(), "dx_hat": np.asarray(members.pop("dx_hat")).tolist(),
                  **members})
    wanted.append(then)


def golden(close):
    def then(r):
        for name, values in GOLDEN.items():
            # The table has eight digits.
            assert near(r[name], values, max(close, 6e-9)), name
            assert not near(r[name], np.asarray(values) + 1e-5, max(close, 6e-9)), name
        c = r["constants"]
        assert near([c["softplus_beta_ce"], c["softplus_beta_cu"], c["log_o_ce"]],
                    [.5543552445, .4374879505, .0246926127], 1e-6 if close > 1e-7 else 1e-9)
        assert near([r["gradients"][k] for k in SLOPES], list(SLOPES.values()), 1e-6 if close > 1e-7 else 1e-7)
    return then


def chosen(k, tokens):
    def then(r):
        assert r["k"] == k and np.flatnonzero(r["mask"]).tolist() == tokens, r["mask"]
    return then


def short_window(r):
    assert near(r["MA"][3:], [1.08333333, 2.41666667, 1.75833333], 2e-6)
    assert near(r["g"][3:], [.63955340, .86882332, .65607239], 2e-6)


for dtype in ("f32", "f64"):
    gate(golden(2e-6 if dtype == "f32" else 1e-8), dx=DX, dx_hat=DX_HAT, dtype=dtype)
    gate(chosen(3, [1, 2, 4]), dx=DX, dx_hat=DX_HAT, dtype=dtype, gamma=.5)
    gate(chosen(1, [4]), dx=DX, dx_hat=DX_HAT, dtype=dtype, gamma=.25)
    gate(short_window, dx=DX, dx_hat=DX_HAT, dtype=dtype, window=3)
for name in START:
    for by in (1e-5, -1e-5):
        gate(lambda r: None, dx=DX, dx_hat=DX_HAT, dtype="f64", **{name: START[name] + by})
for tokens, gamma, k in COUNTS:
    gate(lambda r, k=k: np.testing.assert_array_equal(np.sum(r["mask"], -1), [k] * 3), gamma=gamma,
         dx=RANDOM.normal(size=(3, tokens, 2)), dx_hat=np.zeros((3, tokens, 2)))
gate(lambda r: np.testing.assert_array_equal(r["mask"], [[1, 0, 0]]), dx=np.ones((1, 3, 2)), dx_hat=np.ones((1, 3, 2)),
     gamma=.25, min_k=1)
for rows in (1, 3, 8) + (3,) * 9:
    gate(lambda r, n=rows: np.testing.assert_array_equal(r["mask"], [[1] * 4 + [0] * 12] * n), gamma=.25, m_cu=0,
         dx=np.ones((rows, 16, 4)), dx_hat=np.zeros((rows, 16, 4)))
for scale in (1e3, 1e-4):
    x = RANDOM.normal(size=(4, 64, 8)).astype(np.float32).astype(float) * scale
    y = RANDOM.normal(size=(4, 64, 8)).astype(np.float32).astype(float) * scale * .5

    def extreme(r, x=x, y=y):
        assert all(np.isfinite(np.asarray(r[name], float)).all() for name in LAYERS + ["score"])
        assert (np.sum(r["mask"], -1) == 16).all()
        ours, theirs = np.argsort(r["score"], -1), np.argsort(score(x, y), -1)
        assert (ours == theirs).mean() >= .99, (ours == theirs).mean()

    gate(extreme, dx=x, dx_hat=y, gamma=.25)
impulse = np.zeros((2, 300, 1))
impulse[0, 50] = 3
impulse[1] = RANDOM.normal(size=(300, 1))


def local(r, d=(impulse ** 2).mean(-1)):
    ma = np.asarray(r["MA"])
    assert np.flatnonzero(ma[0]).tolist() == list(range(50, 150))
    assert far(ma, moving_average(d, 100)) <= 1e-6 * d.max()


gate(local, dx=impulse, dx_hat=np.zeros((2, 300, 1)))
gate(lambda r: None, dx=impulse[::-1], dx_hat=np.zeros((2, 300, 1)))
results = ask("gate", cases=cases)
assert len(results) == len(cases)
for then, result in zip(wanted, results):
    then(result)
for i, name in enumerate(START):
    up, down = (np.mean(r["g"]) for r in results[8 + 2 * i:10 + 2 * i])
    assert abs((up - down) / 2e-5 / SLOPES[name] - 1) <= 1e-4, name
for name in LAYERS:
    assert results[-1][name] == results[-2][name][::-1], "rows know of each other"

# --- passes over whole sequences ------------------------------------------------------------------
tokens = RANDOM.integers(0, 32, (4, 128))
later = tokens.copy()
later[:, 40:] = (later[:, 40:] + 1 + RANDOM.integers(0, 31, (4, 88))) % 32
dense, dense64, ones, ones64, moved, student, student_moved, none, trained, trained64, topk, alone, tie, held = range(14)
forced = RANDOM.integers(0, 2, (2, 4, 128)).tolist()
cases = [{"mode": "dense"}, {"mode": "dense", "dtype": "f64"}, {"masks": True}, {"masks": True, "dtype": "f64"},
         {"mode": "dense", "tokens": later.tolist()},
         {"mode": "student", "decider": "threshold"},
         {"mode": "student", "decider": "threshold", "tokens": later.tolist()},
         {"mode": "forced", "masks": False},
         {"mode": "training"}, {"mode": "training", "dtype": "f64"}, {"mode": "teacher_topk"},
         {"mode": "training", "tokens": tokens[:1].tolist()},
         {"mode": "student", "decider": "threshold",
          "parameters": {"layers.1.router.weight": 0, "layers.3.router.weight": 0, "layers.3.router.bias": [1e-6]}},
         {"mode": "student", "decider": "forced", "masks": forced}]
r = ask("forward", *TDT, "--set", "model.tdt.capacity=0.25,1", "--dump", tokens=tokens.tolist(), cases=cases)
part, whole = r[:len(cases)], r[len(cases):]
assert len(r) == 2 * len(cases)
logits = [np.asarray(x["logits"]) for x in part]
assert logits[dense].shape == (4, 128, 32) and np.asarray(part[dense]["states"]).shape == (5, 4, 128, 32)
assert [x["layer"] for x in part[dense]["layers"]] == [1, 3]
# All-ones masks, and training at full capacity, are the dense model.
assert far(logits[ones], logits[dense]) <= 1e-4 and far(logits[ones64], logits[dense64]) <= 1e-10
assert far(whole[trained]["logits"], whole[dense]["logits"]) <= 1e-4
assert far(whole[trained64]["logits"], whole[dense64]["logits"]) <= 1e-10
assert far(logits[trained], logits[dense]) > 1e-4, "training at a quarter is not dense"
# The teacher takes k tokens of each sequence, foreseen or not; a first token is predicted from nothing.
for x in (part[topk], part[trained]):
    assert all(layer["executed"] == [32] * 4 for layer in x["layers"]) and not x["causal"]
assert part[topk]["layers"][0]["mask"] == part[topk]["layers"][0]["target"]
for layer in part[dense]["layers"]:
    assert far(np.asarray(layer["dx_hat"])[:, 0], 0) == 0
    assert near(np.asarray(layer["D_ch"])[:, 0], np.asarray(layer["D_st"])[:, 0], 1e-7)
    assert abs(layer["scalars"]["o_ce"] - 1.025) <= 1e-6 and abs(layer["scalars"]["m_cu"] - 1.1) <= 1e-6
    # What the layer says is what the gate says of its residuals.
    again = score(np.asarray(layer["dx"]), np.asarray(layer["dx_hat"]), 20)
    assert far(again, layer["score"]) <= 1e-6
# Signals, decisions and logits of a student do not see what comes later.
for a, b in zip(part[dense]["layers"], part[moved]["layers"]):
    for name in ("D_st", "D_ch", "MA", "g"):
        x, y = np.asarray(a[name]), np.asarray(b[name])
        assert far(x[:, :40], y[:, :40]) <= 1e-6 and far(x, y) > 1e-6, name
a, b = part[student], part[student_moved]
assert far(np.asarray(a["logits"])[:, :40], np.asarray(b["logits"])[:, :40]) <= 1e-6
for x, y in zip(a["layers"], b["layers"]):
    for name in ("mask", "router_logits"):
        assert far(np.asarray(x[name])[:, :40], np.asarray(y[name])[:, :40]) <= 1e-6
    assert far(x["router_logits"], y["router_logits"]) > 1e-6 and 0 < x["rate"] < 1
# A row alone is the row in its batch.
assert far(part[alone]["logits"][0], part[trained]["logits"][0]) <= 1e-5
# Nothing is executed: dynamic layers hand on what they get, to the bit.
states = np.asarray(part[none]["states"])
assert (states[1] == states[2]).all() and (states[3] == states[4]).all() and far(states[0], states[1]) > 0
# A probability that equals the threshold is skipped.
assert [layer["rate"] for layer in part[tie]["layers"]] == [0, 1]
# What was forced is what was executed; one token more is another result.
assert [layer["mask"] for layer in part[held]["layers"]] == forced
other = np.asarray(forced)
other[0, 0, 5] ^= 1
x = ask("forward", *TDT, "--set", "model.tdt.capacity=0.25", "--dump", tokens=tokens.tolist(), masks=other.tolist())[0]
assert x["layers"][0]["mask"] != forced[0] and far(x["logits"], part[held]["logits"]) > 1e-6
assert far(np.asarray(x["logits"])[:, :5], np.asarray(part[held]["logits"])[:, :5]) == 0

# All layers dynamic and none executed: head(norm(embed)), wherever a token stands. A scalar may go anywhere.
shifted = np.roll(tokens, 1, 1)
a, b, c, *_, scaled = ask("forward", *TDT, "--set", "model.tdt.layers=all", "--dump",
                          "--set", "model.tdt.surprise_norm=none,layer_rms", cases=[
    {"masks": False, "tokens": tokens.tolist()}, {"masks": False, "tokens": shifted.tolist()},
    {"mode": "training", "tokens": tokens.tolist(), "parameters": {"layers.1.gate.o_ce": -50}}])
assert far(np.roll(a["logits"], 1, 1), b["logits"]) <= 1e-6 and far(a["logits"], b["logits"]) > 1e-3
assert c["layers"][1]["scalars"]["o_ce"] > 0 and np.isfinite(np.asarray(c["logits"], float)).all()
assert c["loss"] > 0 and np.isfinite([c["loss_tpn"], c["loss_causal"]]).all()
# The average that surprise is divided by starts at 1 and adds nothing to the loss.
assert {name for name in scaled if name.startswith("loss")} == {"loss", "loss_tpn", "loss_causal"}
assert scaled["layers"][0]["g"] == c["layers"][0]["g"] and scaled["loss_tpn"] == c["loss_tpn"]

# The rate falls with the threshold, from everything to nothing; bf16 chooses nearly as float32 does.
sweep = ask("forward", *TDT, "--set", "model.tdt.threshold=" + ",".join(str(i / 10) for i in range(11)), mode="student",
            decider="threshold", rows=4, seed=3)
rates = np.asarray([[layer["rate"] for layer in x["layers"]] for x in sweep])
assert rates.shape == (11, 2) and (np.diff(rates[:, 0]) <= 0).all()
assert (rates[0] == 1).all() and (rates[-1] == 0).all() and (0 < rates[5]).all() and (rates[5] < 1).all()
rough = ask("forward", *TDT, "--set", "train.precision=bf16", mode="teacher_topk", dtype="bf16", dump=True, rows=4)[0]
again = ask("gate", cases=[{"dx": layer["dx"], "dx_hat": layer["dx_hat"], "window": 20, "gamma": .25}
                           for layer in rough["layers"]])
for layer, ours in zip(rough["layers"], again):
    assert np.mean(np.asarray(layer["mask"]) == np.asarray(ours["mask"])) >= .99

# --- decoding -------------------------------------------------------------------------------------
def decoded(words, cases, **members):
    for case, x in zip(cases, ask("decode", *words, cases=cases, **members)):
        loose = 1e-9 if x["dtype"] == "f64" else 1e-4 * max(1, x["logits_std"])
        assert x["difference"] <= loose and x["argmax_agreement"] == 1, (case, x["difference"])
        assert all(layer["mask_agreement"] == 1 for layer in x["layers"]), case
        lengths = np.asarray(x["kv_lengths"])
        dynamic = {layer["layer"]: layer["executed"] for layer in x["layers"]}
        bytes_a_number = 8 if x["dtype"] == "f64" else 4
        for layer in range(4):
            assert lengths[layer].tolist() == dynamic.get(layer, [x["length"]] * x["rows"]), (case, layer)
        # Keys and values, then what the router still needs: a number a sequence, and for TopK all logits.
        kept = 2 * lengths.sum() * 32
        if x["mode"] != "dense" and words is TDT:
            kept += 2 * x["rows"]
        if x["decider"] == "running_topk":
            kept += 2 * x["rows"] * x["length"]
        assert x["cache_bytes"] == kept * bytes_a_number, (case, x["cache_bytes"], kept)
        yield x


cases = [{**s, "dtype": t} for s in STUDENT for t in ("f32", "f64")][:5]
assert len(list(decoded(TDT, cases, rows=4, length=128))) == 5
cases = [{**STUDENT[i % 2], "prefill": n, "dtype": "f64"} for i, n in enumerate((1, 17, 24, 47, 48))]
cases += [{**STUDENT[0], "prefill": 5, "chunks": [1, 9, 20]}, {"mode": "dense", "prefill": 20},
          {"masks": True, "prefill": 11}, {"masks": False, "prefill": 11}, {"mode": "random", "dtype": "f64"},
          {"mode": "skip_all", "chunks": [40]}]
r = list(decoded(TDT, cases, rows=3, length=48))
assert np.asarray(r[7]["kv_lengths"]).min() == 48 and np.asarray(r[8]["kv_lengths"])[[1, 3]].max() == 0
assert len({json.dumps(x["layers"][0]["executed"]) for x in r[:5:2]}) == 1, "a prefill changes decisions"
cases = [{"mode": m, "prefill": 13, "dtype": t} for m in ("student", "dense", "random") for t in ("f32", "f64")]
r = list(decoded(MOD, cases, rows=3, length=48))
assert r[0]["decider"] == "threshold"

# A flow has states, and keys and values where it attends, for each of its steps, whatever it stands in place of.
FLOWS = [*HYBRID, "--set", "model.replaced_layers=[1,3]", "--set", "model.solver.steps=1,4",
         "--set", "model.field.kind=attention_mlp,mlp", "--set", "model.solver.method=euler,midpoint"]
r = ask("decode", *FLOWS, rows=3, length=48, prefill=17, dtype="f64")
assert len(r) == 8 and len({x["logits_std"] for x in r}) == 8
shapes = []
for i, x in enumerate(r):
    assert x["difference"] <= 1e-9 and x["argmax_agreement"] == 1 and x["layers"] == [], x["cell"]
    shapes.append([rows[0] for rows in x["kv_lengths"]])
    assert np.asarray(x["kv_lengths"]).shape == (len(shapes[-1]), 3)
    # A second evaluation of each step of the flow under midpoint, where it attends, has a cache of its own.
    second = (1 if i < 4 else 4) * 3 * 48 if i % 4 == 1 else 0
    assert x["cache_bytes"] == 2 * (np.sum(x["kv_lengths"]) + second) * 32 * 8, x["cell"]
assert shapes == [[48] * 3] * 2 + [[48, 0, 48]] * 2 + [[48] * 6] * 2 + [[48, 0, 0, 0, 0, 48]] * 2, shapes
r = ask("forward", *FLOWS, rows=3, length=5, dump=True)
assert [np.asarray(x["states"]).shape for x in r] == [(4, 3, 5, 32)] * 4 + [(7, 3, 5, 32)] * 4

# --- gradients ------------------------------------------------------------------------------------
TWIN = TDT[2:-2] + ["--set", "model.d_model=16"]
r = ask("gradcheck", "--family", "standard", *TWIN, "--set", "model.family=standard,time_indexed,tong,tdt,mod")
assert [x["family"] for x in r] == ["standard", "time_indexed", "tong", "tdt", "mod"]
for x in r:
    assert x["pass"] and all(g["worst"] <= 1e-4 and g["elements"] > 0 and g["float32"] <= 1e-3 for g in x["groups"]), x
reached = {g["group"]: g["terms"] for g in r[3]["groups"]}
assert reached["tpn"] == ["tpn"] and reached["router"] == ["causal"] and reached["scalars"] == ["language"]
assert all(terms == ["language"] for group, terms in reached.items() if group not in ("tpn", "router")), reached
reached = {g["group"]: g["terms"] for g in r[4]["groups"]}
assert reached["predictor"] == ["predictor"] and reached["router"] == ["language"]
r = ask("gradcheck", "--family", "tdt", *TWIN, "--set", "model.tdt.train_path=dense,gated_soft",
        "--set", "model.tdt.tpn.detach_input=true,false", "--samples", "1")
for x in r:
    assert x["pass"], x
reached = {g["group"]: g["terms"] for g in r[0]["groups"]}
assert reached["scalars"] == [] and reached["trunk"] == ["language"]
reached = {g["group"]: g["terms"] for g in r[1]["groups"]}
assert reached["trunk"] == ["language", "tpn"]
r = ask("gradcheck", "--family", "tdt", *TWIN, "--set", "model.tdt.surprise_norm=layer_rms", "--set",
        "model.tdt.dense_fraction=0,0.5", "--samples", "1")
for x in r:
    scalars, = (g for g in x["groups"] if g["group"] == "scalars")
    assert x["pass"] and scalars["terms"] == ["language"], x
    assert scalars["unreached"] == ["layers.1.gate.d_st_mean", "layers.3.gate.d_st_mean"]
