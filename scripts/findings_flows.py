"""The part of findings_list.py on flows in place of layers: their runs, and the page's tables of them."""

from __future__ import annotations

from findings_kinds import ArmTable, Column, Finding, QuestionTable, Run, SeedTable, Table

STUDY_1 = ("model.d_model=64", "train.steps=500", "eval.every=250", "eval.final_windows=256")
STUDY_2 = ("data.tokenizer=char256", "data.join=as_is", "model.d_model=64", "train.batch_size=8", "eval.every=250",
           "eval.final_windows=256")  # fmt: skip
SOLVER = "--probe solver --set 'probes.solver.schedule={at: [\"100 %\"]}'"
FLOW_STEPS = "[3-6]"  # of the depth: four steps in place of two of six layers

FINDINGS = {
    "gradient_flow": Finding(
        [Run("configs/study2/gradient_flow.yaml", (*STUDY_2, "seeds=3"))],
        ["final_loss.valid", "flow_bypass_cost", "train_grad_norm"],
        elements=["gradient_vanish_count.last.*", "gradient_explode_count.last.*", "gradient_clip_count.last",
                  "alpha.1", "alpha.250", "alpha.500"],
    ),
    "gradient_flow_full": Finding(
        [Run("configs/study2/gradient_flow.yaml", ("seeds=1",), store="results/study2-gradient-flow-full")],
        ["final_loss.valid", "train_loss_last50", "flow_bypass_cost"],
        "about two and a half hours, two cells side by side",
        elements=["gradient_vanish_count.last.*", "gradient_explode_count.last.*", "gradient_clip_count.last",
                  "alpha.1", "alpha.50", "alpha.250", "alpha.500", "solver_divergence_state.*.euler_*",
                  "solver_divergence_displacement.*.euler_*", "solver_loss_change.*.euler_m"],
    ),
    "replaced_layers": Finding(
        [Run("configs/study2/replaced_layers.yaml", STUDY_2)],
        ["final_loss.valid", "flow_bypass_cost", "cost_flops_token"],
    ),
    "regularisers": Finding(
        [Run("configs/study2/regularisers.yaml", (*STUDY_2, "train.steps=300"))],
        ["final_loss.valid", "train_loss_*"],
        "50 minutes beside other work",
        elements=[f"trajectory_velocity.last.{FLOW_STEPS}.all", "trajectory_displacement.last.[26].all",
                  "trajectory_acceleration.last.[4-6].all", f"lyapunov_local_stretch.last.{FLOW_STEPS}",
                  "regulariser_jacobian_frobenius.last", "regulariser_spectral_norm.last",
                  "regulariser_spectral_norm_converged.last", "regulariser_log_norm.last",
                  "regulariser_log_norm_converged.last", "regulariser_control_slope.last",
                  "solver_divergence_state.last.euler_m", "solver_divergence_displacement.last.euler_m"],
        ratios={"flow_displacement": ("solver_divergence_state", "solver_divergence_displacement")},
    ),
    "alpha": Finding(
        [Run("configs/study2/alpha.yaml", STUDY_2, probes=["--probe gradients --set probes.gradients.norms=true"])],
        ["final_loss.valid"],
        elements=["lyapunov_local_stretch.last.*", "lyapunov_log_norm.last.*", "lyapunov_log_norm.first.[3-4]",
                  "regulariser_spectral_norm_converged.last"],
    ),
    "alpha_start": Finding(
        [Run("configs/study2/alpha.yaml", (*STUDY_2, "train.steps=1", 'probes.gradients.schedule={at: ["0 %"]}',
             "probes.gradients.norms=true"), store="results/study2-alpha-start")],
        ["final_loss.valid"],
        "three minutes beside other work",
        elements=["regulariser_spectral_norm_converged.first"],
    ),
    "solver_invariance": Finding(
        [Run("configs/study2/solver_invariance.yaml", STUDY_2)],
        ["final_loss.valid"],
        "eleven minutes beside other work",
        elements=["solver_divergence_state.last.*", "solver_divergence_displacement.last.*", "solver_continuous.last",
                  "solver_observed_order.last.*", "solver_invariant.last", "solver_control_divergence.last.*",
                  "solver_control_order.last.*", "alpha.50", "alpha.500"],
    ),
    "solver_steps": Finding(
        [Run("configs/study2/solver_steps.yaml", STUDY_2)],
        ["final_loss.valid", "flow_bypass_cost", "cost_flops_token"],
        "37 minutes beside other work",
        elements=["solver_divergence_displacement.last.euler_m", "solver_divergence_displacement.last.rk4",
                  "solver_loss_change.last.euler_m", "solver_observed_order.last.*", "solver_continuous.last"],
    ),
    "overhead_law": Finding(
        [Run("configs/study2/overhead_law.yaml", (*STUDY_2, "train.steps=500", "seeds=3"))],
        ["final_loss.valid", "flow_bypass_cost", "cost_flops_token", "cost_step_time_p50"],
        "17 minutes, two cells side by side, beside other work",
    ),
    "gradient_modes": Finding(
        [Run("configs/study2/gradient_modes.yaml", STUDY_2)],
        ["final_loss.valid", "cost_memory_activations", "cost_memory_peak"],
        "48 minutes beside other work",
        elements=["gradient_adjoint_error.last", "reversible_defect.last", "reversible_error.last"],
    ),
    "field_time_indexed": Finding(
        [Run("configs/study2/field_time_indexed.yaml", STUDY_1)],
        ["final_loss.valid", "flow_bypass_cost", "cost_flops_token"],
        "17 minutes beside other work",
        elements=["alpha.500", "solver_divergence_displacement.last.euler_m", "solver_observed_order.last.rk4",
                  "solver_continuous.last", "solver_invariant.last"],
    ),
    "solved": Finding(
        [Run("configs/study1/solved.yaml", (*STUDY_1, "seeds=3"), probes=[SOLVER])],
        ["final_loss.valid", "cost_flops_token"],
        "15 minutes beside other work",
        elements=["solver_divergence_displacement.last.*", "solver_observed_order.last.rk4", "solver_continuous.last",
                  "solver_invariant.last"],
    ),
}

FLOW_ARMS = {
    "blocks6": "six blocks",
    "hybrid": "four blocks and a flow of four Euler steps",
    "blocks4": "the flow deleted",
    "blocks5": "as many parameters as the hybrid",
    "tied4": "one block applied four times, for the flow",
}
FLOW_QUESTIONS = [
    ("What does the flow cost against the two layers that it replaces?", "hybrid", "blocks6"),
    ("Is it better than nothing in their place?", "hybrid", "blocks4"),
    ("… than a transformer of as many parameters?", "hybrid", "blocks5"),
    ("… than one block, applied as often?", "hybrid", "tied4"),
]
REPLACED = {
    "early": "layers 0, 1", "middle": "layers 2, 3", "late": "layers 4, 5", "one": "layer 2", "three": "layers 1 to 3",
    "four": "layers 1 to 4",
}  # fmt: skip
DELETED = {"early": "blocks4", "middle": "blocks4", "late": "blocks4", "one": "blocks5", "three": "blocks3",
           "four": "blocks2"}  # fmt: skip
ALPHAS = ("0.1", "1", "4", "20")


def _alpha(start: str, learned: bool = True) -> str:
    return f"family=hybrid_ode,alpha_init={start},alpha_learned={str(learned).lower()}"


ALPHA_ROWS = [
    ([f"{start}, {'learned' if learned else 'fixed'}"], {"arm": _alpha(start, learned), "first": "3", "last": "6"})
    for start in ALPHAS for learned in (True, False)
] + [(["six blocks"], {"arm": "family=standard", "first": "3", "last": "4"})]  # fmt: skip
STRETCH = f"lyapunov_local_stretch.last.{FLOW_STEPS}"
REGULARISERS = {
    "energy": ("speed of the flow", f"trajectory_velocity.last.{FLOW_STEPS}.all"),
    "kinetic": ("speed of the flow", f"trajectory_velocity.last.{FLOW_STEPS}.all"),
    "acceleration": ("acceleration in the flow", "trajectory_acceleration.last.[4-6].all"),
    "jacobian_frobenius": ("Σ h ‖J‖²_F/TC", "regulariser_jacobian_frobenius.last"),
    "spectral_norm": ("Σ h ‖J‖₂", "regulariser_spectral_norm_converged.last"),
    "log_norm": ("Σ h μ₂(J)", "regulariser_log_norm_converged.last"),
    "control_smoothness": ("‖∂H/∂u‖_F/√TC", "regulariser_control_slope.last"),
}
REGULARISED = [
    ("displacement before the flow", "trajectory_displacement.last.2.all", 3),
    ("after it", "trajectory_displacement.last.6.all", 3),
    ("by the flow", "flow_displacement.last.euler_m", 4),
    ("Σ h ‖J‖²_F/TC", "regulariser_jacobian_frobenius.last", 5),
    ("Σ h ‖J‖₂", "regulariser_spectral_norm_converged.last", 4),
    ("Σ h μ₂", "regulariser_log_norm_converged.last", 4),
    ("‖∂H/∂u‖_F/√TC", "regulariser_control_slope.last", 4),
]
WEIGHTS = ("0.001", "0.01", "0.1")
METHODS = {"euler": ("Euler", 1), "midpoint": ("midpoint", 2), "rk4": ("RK4", 4)}  # evaluations of a step
STEPS = (1, 2, 4, 8, 16)
SIX, FOUR = "family=standard,n_layers=6", "family=standard,n_layers=4"


def _solved(method: str, steps: int) -> str:
    return f"family=hybrid_ode,steps={steps},method={method}"


SOLVED_ROWS = [
    ([said, str(m), str(m * each)], {"arm": _solved(method, m)})
    for method, (said, each) in METHODS.items() for m in STEPS
] + [(["six blocks", "", ""], {"arm": SIX}), (["four blocks", "", ""], {"arm": FOUR})]  # fmt: skip
EQUAL_COST = (("midpoint", 2, 4), ("rk4", 1, 4), ("midpoint", 8, 16), ("rk4", 4, 16))  # its m, Euler's
MODES = {
    "plain": "Euler", "checkpoint": "Euler, two states kept", "adjoint": "Euler", "heun": "reversible Heun, `plain`",
    "reversible": "reversible Heun",
}  # fmt: skip
MODE_QUESTIONS = [
    ("Does `checkpoint` lose anything?", "checkpoint", "plain"),
    ("Does `adjoint`, whose gradient is approximate?", "adjoint", "plain"),
    ("Does `reversible`, against the same method?", "reversible", "heun"),
    ("Is reversible Heun, `plain`, better than Euler?", "heun", "plain"),
]
SHORTENED = {"m2_k8": (2, 8), "m4_k8": (4, 8), "m4_k2": (4, 2), "m8_k2": (8, 2)}  # m steps for k of 24 layers


BOUNDED = [  # what each is said to bound, beside what it names
    ("energy", "displacement by the flow", "flow_displacement.last.euler_m"),
    ("spectral_norm", "ln of the stretch of a step", STRETCH),
    ("log_norm", "ln of the stretch of a step", STRETCH),
]
REGULARISER_QUESTIONS = [
    (f"`{name}` at {weight}: {what}", "arm − none", [(f"{name}={weight}", metric)], [("baseline", metric)])
    for name, what, metric in [*((name, *named) for name, named in REGULARISERS.items()), *BOUNDED] for weight in WEIGHTS
] + [("`control_smoothness` at 0.1, band 0.05 … 0.1: ‖∂H/∂u‖_F/√TC", "arm − none",
      [("band", REGULARISERS["control_smoothness"][1])], [("baseline", REGULARISERS["control_smoothness"][1])])]  # fmt: skip

INVARIANCE = {
    "attention": "attention and MLP, α from 0.1, on text", "strong": "the same, α fixed at 3", "strong_1": "the same in one step",
    "too_strong": "the same, α fixed at 20", "mlp": "MLP alone, on text",
    "mlp_uniform": "MLP alone, 50 steps on independent tokens, V = 33,278",
}  # fmt: skip

FIELDS = {
    "layers": ("six layers that share the block", "6"), "m3": ("the block as a field", "3"),
    "m6": ("the same", "6"), "m12": ("the same", "12"), "blocks6": ("six blocks", "6"),
}  # fmt: skip
METHODS_OF_LAYERS = {
    "layers": ("a step of Euler for each layer", "6"), "euler3": ("Euler", "3"), "euler12": ("Euler", "12"),
    "midpoint6": ("midpoint", "6"), "rk4_3": ("RK4", "3"), "rk4_6": ("RK4", "6"), "ab2_6": ("Adams–Bashforth 2", "6"),
}  # fmt: skip

TABLES: dict[str, Table] = {
    "field_time_indexed/arms": ArmTable(
        "field_time_indexed",
        ["arm", "depth", "steps"],
        [([f"`{arm}`", said, m], {"arm": arm}) for arm, (said, m) in FIELDS.items()],
        [
            Column("loss", "final_loss.valid"),
            Column("less `layers`", "final_loss.valid", "difference", 4, "layers"),
            Column("less `blocks6`", "final_loss.valid", "difference", 4, "blocks6"),
            Column("operations a token", "cost_flops_token", "count"),
            Column("parameters", "parameters", "count"),
            Column("m Euler steps from the solution", "solver_divergence_displacement.last.euler_m", "interval"),
        ],
    ),
    "field_time_indexed/questions": QuestionTable(
        "field_time_indexed",
        [(f"Are {more} steps better than {less}?", f"m{more}", f"m{less}", "final_loss.valid")
         for less, more in ((3, 6), (6, 12))],
    ),
    "solved/arms": ArmTable(
        "solved",
        ["arm", "method", "steps"],
        [([f"`{arm}`", said, m], {"arm": arm}) for arm, (said, m) in METHODS_OF_LAYERS.items()],
        [
            Column("loss", "final_loss.valid"),
            Column("less `layers`", "final_loss.valid", "difference", 4, "layers"),
            Column("operations a token", "cost_flops_token", "count"),
            Column("as many Euler steps from the solution", "solver_divergence_displacement.last.euler_m", "interval"),
            Column("RK4, a step more", "solver_divergence_displacement.last.rk4", "interval", 6),
            Column("its order", "solver_observed_order.last.rk4", "interval", 2),
        ],
    ),
    "solver_invariance/arms": ArmTable(
        "solver_invariance",
        ["arm", "field"],
        [([f"`{arm}`", said], {"arm": arm}) for arm, said in INVARIANCE.items()],
        [
            Column("its steps, of the state", "solver_divergence_state.last.euler_m", "interval", 5),
            Column("of the displacement", "solver_divergence_displacement.last.euler_m", "interval", 4),
            Column("twice as many", "solver_divergence_displacement.last.euler_2m", "interval", 4),
            Column("RK4, a step more", "solver_divergence_displacement.last.rk4", "interval", 6),
            Column("its order", "solver_observed_order.last.rk4", "interval", 2),
            Column("independent layers: RK4", "solver_control_divergence.last.rk4", "interval", 2),
            Column("its order", "solver_control_order.last.rk4", "interval", 2),
        ],
    ),
    "gradient_flow/arms": ArmTable(
        "gradient_flow",
        ["arm", "what it is"],
        [([f"`{arm}`", said], {"arm": arm}) for arm, said in FLOW_ARMS.items()],
        [
            Column("loss", "final_loss.valid"),
            Column("less `blocks6`", "final_loss.valid", "difference", 4, "blocks6"),
            Column("without the flow, more", "flow_bypass_cost", "interval"),
            Column("parameters", "parameters", "count"),
        ],
    ),
    "gradient_flow_full/arms": ArmTable(
        "gradient_flow_full",
        ["arm"],
        [([f"`{arm}`"], {"arm": arm}) for arm in FLOW_ARMS],
        [
            Column("loss of training, last 50 steps", "train_loss_last50", "sd", 3),
            Column("on `valid`", "final_loss.valid", "sd", 3),
            Column("without the flow, more", "flow_bypass_cost", "sd", 3),
            Column("steps clipped", "gradient_clip_count.last", "count"),
            Column("parameters", "parameters", "count"),
        ],
    ),
    "gradient_flow/questions": QuestionTable(
        "gradient_flow", [(*asked, "final_loss.valid") for asked in FLOW_QUESTIONS]
    ),
    "replaced_layers/arms": ArmTable(
        "replaced_layers",
        ["arm", "the flow stands for"],
        [([f"`{arm}`", said], {"arm": arm}) for arm, said in REPLACED.items()]
        + [([f"`blocks{n}`", "–"], {"arm": f"blocks{n}"}) for n in (6, 5, 4, 3, 2)],
        [
            Column("loss", "final_loss.valid"),
            Column("less `blocks6`", "final_loss.valid", "difference", 4, "blocks6"),
            Column("without the flow, more", "flow_bypass_cost", "interval"),
            Column("operations a token", "cost_flops_token", "count"),
            Column("parameters", "parameters", "count"),
        ],
    ),
    "replaced_layers/questions": QuestionTable(
        "replaced_layers",
        [(f"Is a flow for {REPLACED[arm]} better than deleting {'it' if arm == 'one' else 'them'}?", arm, blocks,
          "final_loss.valid") for arm, blocks in DELETED.items()]
        + [(f"Is the place, {REPLACED[arm]}, better than the middle?", arm, "middle", "final_loss.valid")
           for arm in ("early", "late")],
    ),
    "alpha/arms": ArmTable(
        "alpha",
        ["α"],
        ALPHA_ROWS,
        [
            Column("loss", "final_loss.valid"),
            Column("less six blocks", "final_loss.valid", "difference", 4, "family=standard"),
            Column("μ₂ at the start, first step", "lyapunov_log_norm.first.3", "interval", 2),
            Column("μ₂ after training, first step", "lyapunov_log_norm.last.{first}", "interval", 2),
            Column("μ₂, last", "lyapunov_log_norm.last.{last}", "interval", 2),
            Column("Σ h ‖J‖₂", "regulariser_spectral_norm_converged.last", "interval", 2),
            Column("ln of the stretch, first", "lyapunov_local_stretch.last.{first}", "interval", 3),
            Column("last", "lyapunov_local_stretch.last.{last}", "interval", 3),
        ],
    ),
    "alpha_start/norms": ArmTable(
        "alpha_start",
        ["α"],
        ALPHA_ROWS,
        [Column("Σ h ‖J‖₂ at the start", "regulariser_spectral_norm_converged.first", "interval", 3)],
    ),
    "alpha/questions": QuestionTable(
        "alpha",
        [(f"Is α = {more} at the start better than {less}?", _alpha(more), _alpha(less), "final_loss.valid")
         for less, more in zip(ALPHAS, ALPHAS[1:], strict=False)]
        + [(f"Does it help to learn α, from {start}?", _alpha(start), _alpha(start, learned=False), "final_loss.valid")
           for start in ALPHAS],
    ),
    "alpha/deleted": QuestionTable(
        "alpha+replaced_layers",
        [(f"Is a flow that starts with α = {start} better than nothing in its place?", _alpha(start), "blocks4",
          "final_loss.valid") for start in ALPHAS],
    ),
    "regularisers/arms": ArmTable(
        "regularisers",
        ["arm"],
        [(["none"], {"arm": "baseline", "penalised": "no"})]
        + [([f"`{name}`, {weight}"], {"arm": f"{name}={weight}", "name": name, "penalised": "yes"})
           for name in REGULARISERS for weight in WEIGHTS]
        + [(["`control_smoothness`, 0.1, band"],
            {"arm": "band", "name": "control_smoothness", "penalised": "yes"})],
        [
            Column("loss", "final_loss.valid"),
            Column("less none", "final_loss.valid", "difference", 4, "baseline"),
            Column("penalty, as logged", "train_loss_{name}", "interval", 5, where={"penalised": "yes"}),
            *(Column(title, metric, "interval", digits) for title, metric, digits in REGULARISED),
        ],
    ),
    "regularisers/targets": SeedTable(
        "regularisers", REGULARISER_QUESTIONS, {"value": {}}, ("what it names", "difference"), 5, holm=True
    ),
    "solver_steps/arms": ArmTable(
        "solver_steps",
        ["method", "m", "evaluations"],
        SOLVED_ROWS,
        [
            Column("loss", "final_loss.valid"),
            Column("less 4 Euler steps", "final_loss.valid", "difference", 4, _solved("euler", 4)),
            Column("less six blocks", "final_loss.valid", "difference", 4, SIX),
            Column("less four blocks", "final_loss.valid", "difference", 4, FOUR),
            Column("operations a token", "cost_flops_token", "count"),
            Column("m Euler steps from the solution", "solver_divergence_displacement.last.euler_m", "interval"),
        ],
    ),
    "solver_steps/questions": QuestionTable(
        "solver_steps",
        [(f"Are {more} Euler steps better than {less}?", _solved("euler", more), _solved("euler", less),
          "final_loss.valid") for less, more in (*zip(STEPS, STEPS[1:], strict=False), (1, 16))]
        + [(f"Is {METHODS[method][0]} better than Euler, at {euler} evaluations?", _solved(method, m),
            _solved("euler", euler), "final_loss.valid") for method, m, euler in EQUAL_COST]
        + [(f"Is a flow better than nothing in its place? Euler, m = {m}", _solved("euler", m), FOUR,
            "final_loss.valid") for m in STEPS],
    ),
    "gradient_modes/arms": ArmTable(
        "gradient_modes",
        ["arm", "method", "m"],
        [([f"`{mode}{m}`", said, m], {"arm": f"{mode}{m}"}) for m in ("4", "16") for mode, said in MODES.items()],
        [
            Column("loss", "final_loss.valid"),
            Column("bytes kept, as counted", "cost_memory_activations", "count"),
            Column("error of the adjoint", "gradient_adjoint_error.last", "interval", 3),
            Column("reversible: defect", "reversible_defect.last", "interval", 6),
            Column("error of undoing", "reversible_error.last", "interval", 9),
        ],
    ),
    "gradient_modes/questions": QuestionTable(
        "gradient_modes",
        [(f"{question} m = {m}", f"{arm}{m}", f"{less}{m}", "final_loss.valid")
         for question, arm, less in MODE_QUESTIONS for m in (4, 16)],
        7,
    ),
    "overhead_law/arms": ArmTable(
        "overhead_law",
        ["arm", "m/k", "(L − k + m)/L"],
        [(["`blocks24`", "", "1"], {"arm": "blocks24"})]
        + [([f"`{arm}`", f"{m / k:g}", f"{(24 - k + m) / 24:.3f}"], {"arm": arm}) for arm, (m, k) in SHORTENED.items()]
        + [([f"`blocks{left}`", "", f"{left / 24:.3f}"], {"arm": f"blocks{left}"}) for left in (16, 22)],
        [
            Column("operations a token", "cost_flops_token", "count"),
            Column("loss", "final_loss.valid"),
            Column("less `blocks24`", "final_loss.valid", "difference", 4, "blocks24"),
        ],
    ),
    "overhead_law/questions": QuestionTable(
        "overhead_law",
        [(f"Is a flow of {m} steps better than nothing in place of {k} layers?", arm, f"blocks{24 - k}",
          "final_loss.valid") for arm, (m, k) in SHORTENED.items()],
    ),
}
