"""Layers that skip tokens, recomputed from what `depthgrid check` shows of them: check_layer.py DEPTHGRID."""

import math

import numpy as np

from check_asking import RANDOM, STUDENT, TDT, ask, far

# --- one layer, recomputed ------------------------------------------------------------------------
ONE = [*TDT, "--set", "model.n_layers=1", "--set", "model.tdt.layers=all"]
D, HEADS, FED = 32, 2, 128


def draw(*shape, middle=0.0, by=1.0):
    return (middle + by * RANDOM.normal(size=shape)).astype(np.float32).astype(float)


# Strong weights, so that attention looks somewhere.
WEIGHTS = {"embedding.weight": draw(32, D), "head.weight": draw(32, D, by=.2)}
for name in ("layers.0.norm1", "layers.0.norm2", "final_norm"):
    WEIGHTS |= {name + ".scale": draw(D, middle=1, by=.2), name + ".shift": draw(D, by=.2)}
for name, rows, columns in (("attn.qkv", 3 * D, D), ("attn.out", D, D), ("mlp.up", FED, D), ("mlp.down", D, FED)):
    WEIGHTS |= {f"layers.0.{name}.weight": draw(rows, columns, by=1.5 * columns ** -.5),
                f"layers.0.{name}.bias": draw(1, rows, by=.2)}
GIVEN = {name: value.tolist() for name, value in WEIGHTS.items()}


def affine(name, x):
    return x @ WEIGHTS[name + ".weight"].T + WEIGHTS[name + ".bias"][0]


def layer_norm(name, x):
    centred = x - x.mean(-1, keepdims=True)
    scaled = centred / np.sqrt((centred ** 2).mean(-1, keepdims=True) + 1e-5)
    return scaled * WEIGHTS[name + ".scale"] + WEIGHTS[name + ".shift"]


def rotated(x, positions):
    """Channels (c, c + half) of each head are turned by position · 10000^(−c / half)."""
    half = x.shape[-1] // 2
    angle = np.asarray(positions)[:, None, None] * 10000.0 ** (-np.arange(half) / half)
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle)], -1)


def block(x, positions):
    """Increments of tokens (B, n, d) that are alone in the layer, at these positions of the text."""
    rows, n, _ = x.shape
    qkv = affine("layers.0.attn.qkv", layer_norm("layers.0.norm1", x)).reshape(rows, n, 3, HEADS, D // HEADS)
    q, k, v = rotated(qkv[:, :, 0], positions), rotated(qkv[:, :, 1], positions), qkv[:, :, 2]
    scores = np.einsum("bihc,bjhc->bhij", q, k) / np.sqrt(D // HEADS)
    weights = np.tril(np.exp(scores - scores.max(-1, keepdims=True)))
    weights /= weights.sum(-1, keepdims=True)
    mixed = affine("layers.0.attn.out", np.einsum("bhij,bjhc->bihc", weights, v).reshape(rows, n, D))
    up = affine("layers.0.mlp.up", layer_norm("layers.0.norm2", x + mixed))
    return mixed + affine("layers.0.mlp.down", up * (1 + np.vectorize(math.erf)(up / np.sqrt(2))) / 2)


# Executed tokens stand where they stand in the text, not where they stand among themselves.
tokens = RANDOM.integers(0, 32, (4, 12))
x = WEIGHTS["embedding.weight"][tokens]
places = [0, 5, 9]
mask = np.zeros((1, 4, 12), int)
mask[..., places] = 1
increments, squeezed = block(x[:, places], places), block(x[:, places], [0, 1, 2])
wanted = x.copy()
wanted[:, places] += increments
logits = layer_norm("final_norm", wanted) @ WEIGHTS["head.weight"].T
asked = {"tokens": tokens.tolist(), "masks": mask.tolist(), "parameters": GIVEN, "dump": True}
words = [*ONE, "--set", "data.seq_len=12", "--set", "model.tdt.capacity=0.25", "--set",
         "model.tdt.execution=masked,gathered"]
cases = [{"mode": m, "dtype": t} for m in ("forced", "training") for t in ("f32", "f64")]
for r in ask("forward", *words, **asked, cases=cases):
    close = 1e-5 if r["dtype"] == "f32" else 1e-9
    before, after = np.asarray(r["states"])
    assert (before == x).all() and (after[mask[0] == 0] == x[mask[0] == 0]).all()
    assert far((after - before)[:, places], increments) <= close, (r["mode"], r["dtype"])
    assert far((after - before)[:, 9], squeezed[:, 2]) > 1e-2 and far(r["logits"], logits) <= close
cases = [{"dtype": t, "prefill": n} for t in ("f32", "f64") for n in (0, 1, 7, 12)]
for r in ask("decode", *ONE, **asked, cases=cases):
    assert far(r["logits"], logits) <= (1e-5 if r["dtype"] == "f32" else 1e-9)

# Another id at an executed token is seen by executed tokens from there on, at a skipped one by nobody else.
mask = np.zeros((1, 4, 24), int)
for row in mask[0]:
    row[RANDOM.choice(24, 12, replace=False)] = 1
tokens = RANDOM.integers(0, 32, (4, 24))
texts, forced, full = [tokens], [], []
for kind in (1, 0):
    at = [RANDOM.choice(np.flatnonzero(row == kind)[3:9]) for row in mask[0]]
    texts.append(tokens.copy())
    texts[-1][range(4), at] = (tokens[range(4), at] + 1 + RANDOM.integers(0, 31, 4)) % 32
    here, behind = np.arange(24) == np.c_[at], np.arange(24) >= np.c_[at]
    forced.append(behind & (mask[0] == 1) if kind else here)
    full.append(behind)


def seen(r, name):
    """Which tokens are others than in the first text, for each mask and kind of token."""
    outputs = [np.asarray(x[name])[-1] if name == "states" else np.asarray(x[name]) for x in r]
    return [np.abs(b - a).max(-1) > 1e-7 for a, *others in (outputs[:3], outputs[3:]) for b in others]


cases = [{"masks": m, "tokens": x.tolist()} for m in (mask.tolist(), True) for x in texts]
wanted = forced + full
words = [*ONE, "--set", "data.seq_len=24", "--set", "model.tdt.capacity=0.5"]
assert all((a != b).sum() > 8 for a, b in zip(forced, full))
for execution in ("masked", "gathered"):
    for path, modes in (("gated_st", ("forced", "training")), ("gated_soft", ("training",))):
        for mode in modes:
            r = ask("forward", *words, "--set", "model.tdt.execution=" + execution, "--set",
                    "model.tdt.train_path=" + path, mode=mode, parameters=GIVEN, dump=True, cases=cases)
            ours = seen(r, "states")
            # The gate's value knows of all tokens: it is made of the teacher's dense pass.
            for i in (0, 2) if path == "gated_soft" else range(4):
                assert (ours[i] == wanted[i]).all(), (execution, path, mode, i)
r = ask("decode", *words, parameters=GIVEN, dump=True, prefill=7, cases=cases)
assert all((a == b).all() for a, b in zip(seen(r, "logits"), wanted))

# --- what a student looks at ----------------------------------------------------------------------
# Rows know nothing of each other. There is no padding: rows of other lengths are asked alone.
tokens = RANDOM.integers(0, 32, (4, 64))
LENGTHS = (64, 41, 20, 1)
forced = RANDOM.integers(0, 2, (2, 4, 64))
cases = []
for how in ({"mode": "dense"}, *({"mode": "student", "decider": d} for d in ("threshold", "running_topk")),
            {"mode": "student", "decider": "calibrated", "thresholds": [.1, -.1]}, {"mode": "forced"}):
    masks = {"masks": forced.tolist()} if how["mode"] == "forced" else {}
    cases.append({**how, **masks, "tokens": tokens.tolist()})
    for row, n in enumerate(LENGTHS):
        masks = {"masks": forced[:, row:row + 1, :n].tolist()} if masks else {}
        cases.append({**how, **masks, "tokens": tokens[row:row + 1, :n].tolist()})
for what in ("forward", "decode"):
    r = ask(what, *TDT, cases=cases, dump=True)
    for batch, *alone in (r[i:i + 5] for i in range(0, len(r), 5)):
        logits = np.asarray(batch["logits"])
        for row, (n, one) in enumerate(zip(LENGTHS, alone)):
            assert far(one["logits"][0], logits[row, :n]) <= 1e-5 and far(one["logits"][0], logits[row - 1, :n]) > 1e-3
            for a, b in zip(one["layers"], batch["layers"]):
                assert a["mask"][0] == b["mask"][row][:n]

# The router reads its token and the one before, executed or not; before the first there is nothing.
ROUTERS = ["layers.1.router", "layers.3.router"]


def routers(now, before, bias):
    out = {}
    for name in ROUTERS:
        out |= {name + ".weight": [[*(now * draw(D)), *(before * draw(D))]], name + ".bias": [bias]}
    return out


def reads(x, mask, parameters, name, rms):
    """The logits, and what they would be if the last executed token came before, or none."""
    if rms:
        x = x / np.sqrt((x ** 2).mean(-1, keepdims=True) + 1e-5)
    weight, (bias,) = np.asarray(parameters[name + ".weight"][0]), parameters[name + ".bias"]
    now, before = x @ weight[:D] + bias, x @ weight[D:]
    last = np.maximum.accumulate(np.where(mask, np.arange(mask.shape[1]), -1), 1)[:, :-1]
    executed = np.where(last >= 0, np.take_along_axis(before, np.maximum(last, 0), 1), 0)
    first = np.zeros((len(x), 1))
    return [now + np.concatenate([first, part], 1) for part in (before[:, :-1], executed, 0 * executed)]


for kind in ("rms", "none"):
    words = [*TDT, "--set", "model.tdt.router.input_norm=" + kind]
    # Without a norm the states are small.
    size = 1 if kind == "rms" else 30
    cases = [{"dtype": t, "parameters": routers(now, size, bias)}
             for t in ("f32", "f64") for now, bias in ((size, .1), (0, -.1))]
    common = {"mode": "student", "decider": "threshold", "dump": True, "tokens": tokens.tolist()}
    full = ask("forward", *words, **common, cases=cases)
    stepped = ask("decode", *words, **common, cases=cases, chunks=[5])
    for case, r, steps in zip(cases, full, stepped):
        states = np.asarray(r["states"])
        for layer, decoded_layer, name in zip(r["layers"], steps["layers"], ROUTERS):
            mask, ours = np.asarray(layer["mask"]), np.asarray(layer["router_logits"])
            exact, *wrong = reads(states[layer["layer"]], mask == 1, case["parameters"], name, kind == "rms")
            close = 1e-5 * max(1, np.abs(exact).max()) if case["dtype"] == "f32" else 1e-9
            assert (mask[:, :-1] == 0).sum() > 20 and far(ours, exact) <= close, (kind, case["dtype"], name)
            # The cache must have decided by the same logits.
            assert ((exact > 0) == (np.asarray(decoded_layer["mask"]) == 1)).all()
            for other in wrong:
                assert far(ours, other) > .1 and ((other > 0) != (mask == 1)).any()
# One channel of the token before, read with weight 1, arrives to the bit.
for channel in (0, D - 1):
    weight = np.zeros((1, 2 * D))
    weight[0, D + channel] = 1
    r = ask("forward", *TDT, "--set", "model.tdt.router.input_norm=none", **common, parameters={
        name + part: v for name in ROUTERS for part, v in ((".weight", weight.tolist()), (".bias", 0))})[0]
    for layer in r["layers"]:
        ours, x = np.asarray(layer["router_logits"]), np.asarray(r["states"])[layer["layer"], ..., channel]
        assert (ours[:, 0] == 0).all() and (ours[:, 1:] == x[:, :-1]).all() and 0 < layer["rate"] < 1

# Students use neither the transition network nor the gate; the teacher scores by them.
networks = {f"layers.{i}.tpn.{name}.weight": draw(*sizes).tolist()
            for i in (1, 3) for name, sizes in (("up", (16, D)), ("down", (D, 8)))}
gates = {f"layers.{i}.gate.{name}": v for i in (1, 3) for name, v in (("o_ce", 3), ("m_cu", .1), ("beta_ce", 2))}
for what, modes in (("forward", [*STUDENT, {"mode": "teacher_topk"}]), ("decode", STUDENT)):
    cases = [{**how, "parameters": p} for how in modes for p in ({}, networks, gates)]
    r = ask(what, *TDT, tokens=tokens.tolist(), dump=True, cases=cases)
    for a, b in [pair for i in range(0, len(r), 3) for pair in ((r[i], r[i + 1]), (r[i], r[i + 2]))]:
        if a["mode"] == "student":
            assert a["logits"] == b["logits"], (what, a["decider"])
            assert [x["mask"] for x in a["layers"]] == [x["mask"] for x in b["layers"]], (what, a["decider"])
        else:
            assert far(a["layers"][0]["score"], b["layers"][0]["score"]) > 1e-3

# An untrained gate stands near its middle, whatever the scale of the residuals.
for words, s_cu in (((), (.498, .5001)), (("--set", "model.init.scheme=pytorch"), (.496, .5001))):
    for layer in ask("forward", *TDT, *words, mode="teacher_topk", rows=4, dump=True)[0]["layers"]:
        gate = {name: float(np.mean(layer[name])) for name in ("D_st", "S_CE", "S_CU", "g")}
        assert abs(gate["S_CE"] - .5034) <= .002 and s_cu[0] <= gate["S_CU"] <= s_cu[1], gate
        assert abs(gate["g"] - .7517) <= .002 and gate["D_st"] < (.01 if not words else 1), gate

# A cache holds what was executed: with a quarter of the tokens (1 − f) + f/4 of the dense one's bytes.
tokens = RANDOM.integers(0, 32, (4, 128))
quarter = np.zeros((4, 128), int)
for row in quarter:
    row[RANDOM.choice(128, 32, replace=False)] = 1
for layers, skipping, share in (("odd", 2, .625), ("all", 4, .25)):
    cases = [{"mode": "dense"}, {"mode": "forced", "masks": [quarter.tolist()] * skipping}]
    dense, student = ask("decode", *TDT, "--set", "model.tdt.layers=" + layers, tokens=tokens.tolist(), cases=cases)
    assert abs(student["cache_bytes"] / dense["cache_bytes"] - share) <= .02, (layers, student, dense)

# --- running TopK ---------------------------------------------------------------------------------
def among_the_best(scores, gamma):
    """Is a token among the highest ⌊γt⌋ of the first t?"""
    out = np.zeros(scores.shape, int)
    for t in range(scores.shape[1]):
        best = np.argsort(-scores[:, :t + 1], axis=1, kind="stable")[:, :math.floor(gamma * (t + 1) + 1e-9)]
        out[:, t] = (best == t).any(1)
    return out


TINY = [*TDT, "--set", "model.d_model=8", "--set", "model.n_layers=2", "--set", "data.synthetic.vocab_size=8"]
tokens = RANDOM.integers(0, 8, (100, 256))
later = tokens.copy()
later[:, 99:] = RANDOM.integers(0, 8, (100, 157))
before = np.tril(np.ones((256, 256), bool), -1)
cases = [{"tokens": x, "parameters": {"layers.1.router.weight": draw(1, 16).tolist()}}
         for x in [tokens.tolist(), *RANDOM.integers(0, 8, (3, 100, 256)).tolist()]]
cases.append({**cases[0], "tokens": later.tolist()})
r = [x["layers"][0] for x in ask("decode", *TINY, mode="student", decider="running_topk", dtype="f64", prefill=240,
                                 dump=True, cases=cases)]
for layer in r:
    scores, mask = np.asarray(layer["router_logits"]), np.asarray(layer["mask"])
    width = 1e-13 * np.maximum(1, np.abs(scores))
    tied = ((np.abs(scores[:, :, None] - scores[:, None]) <= width[:, :, None]) & before).any(-1)
    assert tied.mean() < .01 and (among_the_best(scores, .25) == mask)[~tied].all() and layer["mask_agreement"] == 1
    assert .21 <= mask.mean() <= .26, mask.mean()
assert not (among_the_best(scores, .26) == mask)[~tied].all()
a, b = (np.asarray(x["mask"]) for x in (r[0], r[-1]))
assert (a[:, :99] == b[:, :99]).all() and (a[:, 99:] != b[:, 99:]).any()
