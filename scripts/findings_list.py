"""What docs/findings.md reports: the runs behind each finding, what is kept of them, and the page's tables.

Data of findings.py. A finding may have runs here before it has tables: these need its CSV.
"""

from __future__ import annotations

import dataclasses

import findings_flows
from findings_kinds import (
    ArmTable,
    Column,
    FactorTable,
    Finding,
    GridTable,
    Names,
    QuestionTable,
    Run,
    SeedTable,
    ShareTable,
    Side,
    Table,
)

SMALL = ("model.d_model=64", "train.steps=1000", "eval.final_windows=256")
STUDY_1 = ("train.steps=500", "eval.every=250", "eval.final_windows=512")
STUDY_3 = ("train.steps=700", "eval.every=350", "eval.final_windows=256")
HIDDEN, SCALE = "model.modulation.hidden", "model.residual.scale"
STEPS = {"1": "Δt = 1", "1/6": "Δt = 1/6", "0.5": "Δt = 1/2"}
MODES = ("final_loss_mode.*",)
LEARNED = ("router_bce_relative", "router_auc", "router_accuracy", "tpn_skill", "tpn_mse", "tpn_mse_constant",
           "mod_predictor_auc", "mod_predictor_accuracy")  # fmt: skip
STUDENTS = ("student_calibrated", "predictor")

OTHER_TRAINING = {
    "trained_dense": ("model.family=tdt", "train.clip_scope=group", "model.tdt.train_path=dense"),
    "capacity_one": ("model.family=tdt", "train.clip_scope=group", "model.tdt.capacity=1"),
    "mod_global": ("model.family=mod", "train.clip_scope=global", "model.mod.capacity=0.25"),
}

FINDINGS = {
    **findings_flows.FINDINGS,
    "models": Finding(
        [Run("configs/study1/models.yaml", ("model.d_model=128", *STUDY_1[:1], "seeds=5", *STUDY_1[1:]))],
        ["final_loss.valid"],
        "23 minutes beside other work",
    ),
    "gate_start": Finding(
        [Run("configs/study1/gate_start.yaml", (f"model.d_model={d}", *STUDY_1), store=f"results/gate_start-{d}",
             factors={"model.d_model": str(d)}) for d in (64, 128)],
        ["final_loss.valid"],
        "7 and 25 minutes beside other work",
        ["model.d_model"],
    ),  # fmt: skip
    "h_mod_by_residual": Finding(
        [Run("configs/dynamics/h_mod_by_residual.yaml", SMALL)],
        ["final_loss.valid"],
        "23 minutes",
        [HIDDEN, SCALE],
    ),
    "h_mod_equal_parameters": Finding(
        [Run("configs/study1/h_mod_equal_parameters.yaml", SMALL)],
        ["final_loss.valid", "cost_flops_token"],
        "11 minutes",
        [HIDDEN, "model.d_ff"],
    ),
    "h_mod_eleven_seeds": Finding(
        [Run("configs/study1/h_mod_equal_parameters.yaml", (*SMALL, "seeds=11"))],
        ["final_loss.valid"],
        "36 minutes",
        [HIDDEN, "model.d_ff"],
    ),
    "control_small": Finding(
        [Run("configs/study2/control_small.yaml")],
        ["final_loss.valid", "control_nll_neutral.valid", "control_nll_matched.valid", "control_nll_mismatched.valid"],
        "18 minutes beside other work",
        elements=["control_auc.*.*", "control_label_phi.*.*"],
    ),  # fmt: skip
    "steering_published": Finding(
        [Run("configs/study2/steering_published.yaml", ("seeds=5",))],
        ["final_loss.valid"],
        seeds_differ=True,
        elements=["steering_positive_mass.signal.*", "steering_negative_mass.signal.*"],
        axes={"axis 0": "signal", "sentiment": "signal"},
    ),
    "steering_prompts": Finding(
        [Run("configs/study2/steering_prompts.yaml", ("seeds=5",))],
        ["final_loss.valid"],
        seeds_differ=True,
        elements=["steering_accuracy.*", "steering_positive_mass.*", "steering_negative_mass.*"],
    ),
    "equal_clipping": Finding(
        [Run("configs/study3/equal_clipping.yaml", (f"model.d_model={d}", *STUDY_3), store=f"results/equal_clipping-{d}",
             factors={"model.d_model": str(d)}) for d in (64, 128)],
        ["final_loss.valid", *MODES],
        "3 and 6 minutes beside other work",
        ["model.d_model"],
        elements=[*(f"{name}.last.*" for name in LEARNED), *(f"routing_rate.last.*.{student}" for student in STUDENTS)],
        ratios={"tpn_over_constant": ("tpn_mse", "tpn_mse_constant")},
    ),  # fmt: skip
    "against_mod": Finding(
        [Run("configs/study3/against_mod.yaml", ("model.d_model=128", *STUDY_3[:1], "seeds=2", *STUDY_3[1:]))],
        ["final_loss.valid", *MODES],
        "23 minutes beside other work",
    ),
    "other_training": Finding(
        [Run("configs/base/study3.yaml", ("model.d_model=128", *STUDY_3[:1], "seeds=4", *STUDY_3[1:], *words),
             store=f"results/{arm}", factors={"arm": arm}) for arm, words in OTHER_TRAINING.items()],
        ["final_loss.valid", *MODES],
        "9 minutes beside other work",
    ),  # fmt: skip
}

MODELS = {
    "mlp": ("one block under gates of depth-time, attention and MLP in parallel", "2.2168"),
    "constant": ("gates that see t = 0 in every layer", "– (repository: 0.55 % worse than `mlp`)"),
    "half": ("gates fixed at 0.5, where they start", "–"),
    "ungated": ("no gates (a gate of 1 everywhere)", "–"),
    "shared": ("`ungated` with MLP after attention", "–"),
    "one_layer": ("`mlp` with a single layer", "–"),
    "gpt": ("plain transformer", "not there: \"Standard\", 2.3645, is six weight-generating blocks of 308 M"),
    "tong": ("weights generated from depth-time", "2.3154"),
    "ssm": ("`mlp` with a state-space layer for the MLP", "2.0584"),
    "ssm_constant": ("`ssm` with t = 0 in every layer", "–"),
    "gpt_as_mlp": ("plain transformer as large as `mlp`, d = 68", "–"),
    "gpt_as_ssm": ("plain transformer as large as `ssm`, d = 56", "–"),
}
MODEL_QUESTIONS = [
    ("Does depth-time matter at d = 128?", "mlp", "constant"),
    ("Do learned gates harm?", "mlp", "ungated"),
    ("… gates that see no depth-time?", "constant", "ungated"),
    ("Is one layer better than six, under gates?", "mlp", "one_layer"),
    ("… without gates?", "ungated", "one_layer"),
    ("Parallel or sequential sublayers?", "ungated", "shared"),
    ("Is `mlp` better than a plain transformer, as published (0.148)?", "mlp", "gpt"),
    ("… than a plain one of its size?", "mlp", "gpt_as_mlp"),
    ("What does sharing one block cost, in a plain transformer?", "shared", "gpt"),
    ("Does the state-space layer help?", "ssm", "mlp"),
    ("Does depth-time matter to it?", "ssm", "ssm_constant"),
    ("Is `ssm` better than a plain transformer of its size?", "ssm", "gpt_as_ssm"),
    ("`tong` against the plain transformer", "tong", "gpt"),
]

BY_WIDTH: dict[str, Names] = {f"d = {d}": {"model.d_model": str(d)} for d in (64, 128)}


def _widths(metric: str) -> list[Column]:
    return [Column(title, metric, only=f"model.d_model = {at['model.d_model']}") for title, at in BY_WIDTH.items()]


def _loss(*arms: str) -> Side:
    """Of one arm, or of the first less the second."""
    return [(arm, "final_loss.valid") for arm in arms]


def _gate(gain: int, sees: str = "layer") -> str:
    return f"init_gain={gain},dependence={sees}"


WIDE = (10, 30, 100)
GATES = {
    _gate(1): "`mlp` (gain 1)",
    _gate(1, "constant"): "`constant` (gain 1, t = 0 in every layer)",
    **{_gate(gain, sees): f"gain {gain}{said}" for gain in WIDE
       for sees, said in (("layer", ""), ("constant", ", t = 0 in every layer"))},
    "half": "`half` (gates fixed at 0.5)",
    "ungated": "`ungated` (gates fixed at 1)",
}  # fmt: skip
GATE_QUESTIONS = [
    ("Does depth-time help?", "`mlp` − `constant`", _loss(_gate(1)), _loss(_gate(1, "constant"))),
    *((f"… from a start with gain {gain}?", f"gain {gain} − the same at t = 0",
       _loss(_gate(gain)), _loss(_gate(gain, "constant"))) for gain in WIDE),
    *((f"Does it help *more* with gain {gain}?", "that less `mlp` − `constant`",
       _loss(_gate(gain), _gate(gain, "constant")), _loss(_gate(1), _gate(1, "constant"))) for gain in WIDE),
    *((f"Is a start with gain {gain} better?", f"gain {gain} − `mlp`", _loss(_gate(gain)), _loss(_gate(1)))
      for gain in WIDE),
    ("What does a start at 0.5 cost?", "`half` − `ungated`", _loss("half"), _loss("ungated")),
    ("Do learned gates win it back?", "`mlp` − `half`", _loss(_gate(1)), _loss("half")),
    ("… without depth-time?", "`constant` − `half`", _loss(_gate(1, "constant")), _loss("half")),
    ("Are gates better than none?", "`mlp` − `ungated`", _loss(_gate(1)), _loss("ungated")),
    ("… with gain 100?", "gain 100 − `ungated`", _loss(_gate(100)), _loss("ungated")),
]  # fmt: skip


def _mode(arm: str, mode: str, less: str = "") -> Side:
    """What runs by that mode lose; with `less`: less what they lose by another one."""
    return [(arm, f"final_loss_mode.{name}") for name in (mode, less) if name]


MODE_COLUMNS = [
    Column("student", "final_loss.valid"),
    Column("teacher's TopK (not causal)", "final_loss_mode.{teacher}"),
    Column("every token", "final_loss_mode.dense"),
    Column("random tokens", "final_loss_mode.random"),
    Column("none", "final_loss_mode.skip_all"),
]
TDT, MOD = "student_calibrated", "predictor"
SKIPPING = ("standard", "tdt", "tdt_zero", "mod")
SKIP_QUESTIONS = [
    ("What does tdt cost against the plain transformer?", "`tdt` − `standard`", _loss("tdt"), _loss("standard")),
    ("What does mod cost?", "`mod` − `standard`", _loss("mod"), _loss("standard")),
    ("Is mod better than tdt?", "`tdt` − `mod`", _loss("tdt"), _loss("mod")),
    ("Does tdt's student follow its teacher?", "student − TopK", _mode("tdt", TDT), _mode("tdt", "teacher_topk")),
    ("Does mod's?", "student − TopK", _mode("mod", MOD), _mode("mod", "topk")),
    ("Does tdt's student choose better than chance?", "student − random tokens", _mode("tdt", TDT),
     _mode("tdt", "random")),
    ("… and better than skipping everything?", "student − none", _mode("tdt", TDT), _mode("tdt", "skip_all")),
    ("Does mod's predictor choose better than chance?", "student − random tokens", _mode("mod", MOD),
     _mode("mod", "random")),
    ("Does tdt depend less on the choice of tokens than mod?", "what random tokens cost tdt − what they cost mod",
     _mode("tdt", "random", TDT), _mode("mod", "random", MOD)),
    ("Does the zero start help?", "`tdt_zero` − `tdt`", _loss("tdt_zero"), _loss("tdt")),
]  # fmt: skip
LEARNED_ROWS = [
    (said, f"`{arm}`", [(arm, f"{name}.last.*")], nothing) for said, arm, name, nothing in (
        ("router's cross-entropy over that of the base rate (1 = nothing learned)", "tdt", "router_bce_relative", 1.0),
        ("area under its curve (0.5 = chance)", "tdt", "router_auc", 0.5),
        ("its accuracy (0.75 = never executing)", "tdt", "router_accuracy", 0.75),
        ("student's rate, calibrated (γ = 0.25)", "tdt", "routing_rate", 0.25),
        ("networks' skill over predicting nothing (0 = nothing)", "tdt", "tpn_skill", 0.0),
        ("networks' error over that of the constant mean (1 = the mean)", "tdt", "tpn_over_constant", 1.0),
        ("the same", "tdt_zero", "tpn_over_constant", 1.0),
        ("predictor's accuracy (0.75 = never executing)", "mod", "mod_predictor_accuracy", 0.75),
        ("area under its curve (0.5 = chance)", "mod", "mod_predictor_auc", 0.5),
        ("its rate (γ = 0.25)", "mod", "routing_rate", 0.25),
    )
]  # fmt: skip
SHARES = ("0.125", "0.25", "0.5", "0.75")


def _share(family: str, share: str) -> str:
    return f"family={family},{family}.capacity={share}"


SHARE_QUESTIONS = [
    *((f"Does {family} lose by γ = {share} instead of 0.25?", f"{family}, γ = {share} − γ = 0.25",
       _loss(_share(family, share)), _loss(_share(family, "0.25")))
      for family in ("tdt", "mod") for share in SHARES if share != "0.25"),
    *((f"Is mod better than tdt at γ = {share}?", f"tdt − mod, γ = {share}",
       _loss(_share("tdt", share)), _loss(_share("mod", share))) for share in SHARES),
]  # fmt: skip
OTHER_ARMS = {
    "trained_dense": ("`tdt`, trained on every token (`dense`, the study's text), γ = 0.25", "teacher_topk"),
    "capacity_one": ("`tdt`, γ = 1", "teacher_topk"),
    "mod_global": ("`mod`, γ = 0.25, one norm over all clips", "topk"),
}
OTHER_QUESTIONS = [
    ("Can a model that was trained on every token skip three quarters?", "student − every token",
     _loss("trained_dense"), _mode("trained_dense", "dense")),
    ("Does its router choose better than chance?", "student − random tokens",
     _loss("trained_dense"), _mode("trained_dense", "random")),
    ("Does mod's student follow its teacher?", "student − TopK", _loss("mod_global"), _mode("mod_global", "topk")),
    ("Does mod's predictor choose better than chance?", "student − random tokens",
     _loss("mod_global"), _mode("mod_global", "random")),
]
CONTROL_ARMS = {
    "additive": "into the flow (`additive`)",
    "discrete": "into the first block (`discrete`)",
    "shuffled": "labels shuffled",
    "constant": "every label 1",
    "continued": "`continued`, u = 0",
}
AXES = ("long", "digits", "passive")


def _label(arm: str, which: str) -> Side:
    return [(arm, f"control_nll_{which}.valid")]


CONTROL_QUESTIONS = [
    *((f"Does a flow help? AUC, {axis}", "`additive` − `discrete`", [("additive", f"control_auc.{axis}.{axis}")],
       [("discrete", f"control_auc.{axis}.{axis}")]) for axis in AXES),
    *((f"Is the true label more likely than none? `{arm}`", "loss under it − at u = 0", _label(arm, "matched"),
       _label(arm, "neutral")) for arm in ("additive", "discrete", "shuffled", "constant")),
    *((f"… its negative less? `{arm}`", "loss under it − at u = 0", _label(arm, "mismatched"), _label(arm, "neutral"))
      for arm in ("additive", "discrete")),
]  # fmt: skip


def _mass(sign: str, part: str, signal: str, axis: str = "{axis}") -> str:
    return f"steering_{sign}_mass.{axis}.{part}.{signal}"


PROMPT = ["positive", "train", "plus", "signal"]
PROMPT_ARMS = {
    "unsteered": "before (`unsteered`)",
    "hybrid": "`hybrid`: all at 1e-4, the map at 1e-2",
    "hybrid_slow": "`hybrid_slow`: the map at 1e-4, too",
    "flow_only": "`flow_only`, 1e-3",
    "maps": "`maps`: the map alone, 1e-2",
    "good": "`good`: as `hybrid`, \" good\" for the blank",
    "discrete": "`discrete`: as `hybrid`, into a block of six, no flow",
}
HELD_OUT_ARMS = {
    "unsteered": "before (`unsteered`)",
    "flow": "`flow`: all at 1e-4, the map at 1e-2",
    "flow_maps": "`flow_maps`: the map alone, 1e-2",
    "discrete": "`discrete`: as `flow`, into a block, no flow",
    "discrete_maps": "`discrete_maps`: that map alone, 1e-2",
}
BEFORE = {"discrete": "text6", "discrete_maps": "text6"}  # what an arm starts from, if not from `text`
HELD_OUT = "steering_accuracy.{}.heldout"

TABLES: dict[str, Table] = {
    **findings_flows.TABLES,
    "models/arms": ArmTable(
        "models",
        ["arm", "what it is", "published (d = 256, 1000 steps)"],
        [([f"`{arm}`", *said], {"arm": arm}) for arm, said in MODELS.items()],
        [Column("loss", "final_loss.valid"), Column("parameters", "parameters", "count")],
    ),
    "models/questions": QuestionTable("models", [(*asked, "final_loss.valid") for asked in MODEL_QUESTIONS]),
    "gate_start/arms": ArmTable(
        "gate_start", ["gates"], [([said], {"arm": arm}) for arm, said in GATES.items()], _widths("final_loss.valid")
    ),
    "gate_start/questions": SeedTable("gate_start", GATE_QUESTIONS, BY_WIDTH),
    "h_mod_by_residual/means": GridTable("h_mod_by_residual", HIDDEN, SCALE, "h_mod", STEPS),
    "h_mod_by_residual/h_mod": FactorTable("h_mod_by_residual", HIDDEN, f"{HIDDEN},{SCALE}", "h_mod"),
    "h_mod_by_residual/step": FactorTable("h_mod_by_residual", SCALE, f"{HIDDEN},{SCALE}", "step", STEPS),
    "h_mod_by_residual/within": GridTable("h_mod_by_residual", HIDDEN, SCALE, "h_mod less 64", STEPS, effects=True),
    "h_mod_by_residual/shares": ShareTable("h_mod_by_residual", {HIDDEN: "h_mod", SCALE: "step"}),
    "h_mod_equal_parameters/h_mod": FactorTable("h_mod_equal_parameters", HIDDEN, HIDDEN, "h_mod"),
    "h_mod_eleven_seeds/h_mod": FactorTable("h_mod_eleven_seeds", HIDDEN, HIDDEN, "h_mod"),
    "h_mod_equal_parameters/wider": QuestionTable(
        "h_mod_equal_parameters+h_mod_by_residual",
        [(f"Does an MLP of {wide} units instead of 256 help, at h_mod = {h}?", f"hidden={h}", f"hidden={h},scale=1",
          "final_loss.valid") for h, wide in ((32, 1600), (64, 1218), (128, 738))],
    ),
    "control_small/arms": ArmTable(
        "control_small",
        ["arm"],
        [([said], {"arm": arm}) for arm, said in CONTROL_ARMS.items()],
        [
            *(Column(f"AUC {axis}", f"control_auc.{axis}.{axis}", "interval", 3) for axis in AXES),
            Column("loss at u = 0", "control_nll_neutral.valid", "interval"),
            Column("less `continued`", "control_nll_neutral.valid", "difference", 4, "continued"),
            Column("under the true label", "control_nll_matched.valid", "interval"),
            Column("under its negative", "control_nll_mismatched.valid", "interval"),
        ],
    ),
    "control_small/questions": SeedTable("control_small", CONTROL_QUESTIONS, {"value": {}}),
    "control_small/matrix": ArmTable(
        "control_small",
        ["arm", "signal of"],
        [([f"`{arm}`", axis], {"arm": arm, "axis": axis}) for arm in ("additive", "discrete") for axis in AXES],
        [Column(f"AUC, labels of {other}", f"control_auc.{{axis}}.{other}", "interval", 3) for other in AXES],
    ),
    "steering_published/arms": ArmTable(
        "steering_published",
        ["arm"],
        [([label], {"arm": arm, "before": BEFORE.get(arm, "text")}) for arm, label in PROMPT_ARMS.items()],
        [
            Column("word of +1, u = +1", _mass("positive", "train", "plus", "signal"), "interval", 3),
            Column("\" bad\", u = −1", _mass("negative", "train", "minus", "signal"), "interval", 3),
            Column("word of +1, u = 0", _mass("positive", "train", "zero", "signal"), "interval", 3),
            Column("\" bad\", u = 0", _mass("negative", "train", "zero", "signal"), "interval", 3),
            Column("text, +1", _mass("positive", "text", "plus", "signal"), "interval", 3),
            Column("text, 0", _mass("positive", "text", "zero", "signal"), "interval", 3),
            Column("loss, no signal", "final_loss.valid", "difference", 3, "{before}"),
        ],
    ),
    "steering_published/questions": QuestionTable(
        "steering_published",
        [
            ("Does a map at 1e-2 steer more than one at 1e-4?", "hybrid", "hybrid_slow", _mass(*PROMPT)),
            ("Is the word more probable behind unrelated text, at u = +1?", "hybrid", "unsteered",
             _mass("positive", "text", "plus", "signal")),
            ("… at u = 0?", "hybrid", "unsteered", _mass("positive", "text", "zero", "signal")),
            ("What does the recipe cost without a signal (nat)?", "hybrid", "unsteered", "final_loss.valid"),
            ("Is the word of +1 more probable than through a block?", "hybrid", "discrete", _mass(*PROMPT)),
            ("… \" bad\" at u = −1?", "hybrid", "discrete", _mass("negative", "train", "minus", "signal")),
            ("… and behind unrelated text, at u = +1?", "hybrid", "discrete", _mass("positive", "text", "plus", "signal")),
        ],
        3,
    ),
    "steering_prompts/arms": ArmTable(
        "steering_prompts",
        ["arm", "axis"],
        [([label if axis == "sentiment" else "", axis], {"arm": arm, "axis": axis, "before": BEFORE.get(arm, "text")})
         for arm, label in HELD_OUT_ARMS.items() for axis in ("sentiment", "scale")],
        [
            Column("accuracy, trained", "steering_accuracy.{axis}.train", "interval", 3),
            Column("accuracy, held out", "steering_accuracy.{axis}.heldout", "interval", 3),
            Column("held out, +", _mass("positive", "heldout", "plus"), "interval"),
            Column("held out, −", _mass("negative", "heldout", "minus"), "interval"),
            Column("text, +", _mass("positive", "text", "plus"), "interval"),
            Column("text, −", _mass("negative", "text", "minus"), "interval"),
            Column("text, u = 0", _mass("positive", "text", "zero"), "interval"),
            Column("loss, no signal", "final_loss.valid", "difference", 3, "{before}", {"axis": "sentiment"}),
        ],
    ),
    "steering_prompts/questions": QuestionTable(
        "steering_prompts",
        [
            ("Is the map alone better than chance through the flow? Held out, sentiment", "flow_maps", "unsteered",
             HELD_OUT.format("sentiment")),
            ("… scale", "flow_maps", "unsteered", HELD_OUT.format("scale")),
            ("Is a map into a block better than one into the flow? Map alone, sentiment", "flow_maps", "discrete_maps",
             HELD_OUT.format("sentiment")),
            ("… scale", "flow_maps", "discrete_maps", HELD_OUT.format("scale")),
            ("What does training all cost without a signal, through the flow (nat)?", "flow", "text", "final_loss.valid"),
            ("… into a block?", "discrete", "text6", "final_loss.valid"),
        ],
        3,
    ),
    "equal_clipping/arms": ArmTable(
        "equal_clipping",
        ["d", "arm"],
        [([d, f"`{arm}`"], {"arm": arm, "d": d, "teacher": "topk" if arm == "mod" else "teacher_topk"})
         for d in ("64", "128") for arm in SKIPPING],
        [dataclasses.replace(column, only="model.d_model = {d}") for column in MODE_COLUMNS],
    ),
    "equal_clipping/questions": SeedTable("equal_clipping", SKIP_QUESTIONS, BY_WIDTH),
    "equal_clipping/learned": SeedTable(
        "equal_clipping", LEARNED_ROWS, BY_WIDTH, ("quantity", "arm"), digits=3, ranges=True
    ),
    "against_mod/arms": ArmTable(
        "against_mod",
        ["arm"],
        [(["`standard`"], {"arm": "family=standard", "teacher": "topk"})]
        + [([f"`{family}`, γ = {share}"], {"arm": _share(family, share), "teacher": teacher})
           for family, teacher in (("tdt", "teacher_topk"), ("mod", "topk")) for share in SHARES],
        MODE_COLUMNS,
    ),
    "against_mod/questions": SeedTable("against_mod", SHARE_QUESTIONS, {"value": {}}),
    "other_training/arms": ArmTable(
        "other_training",
        ["arm"],
        [([label], {"arm": arm, "teacher": teacher}) for arm, (label, teacher) in OTHER_ARMS.items()],
        MODE_COLUMNS,
    ),
    "other_training/questions": SeedTable("other_training", OTHER_QUESTIONS, {"value": {}}),
}  # fmt: skip
