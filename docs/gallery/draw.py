"""Draws the pictures of docs/diagnostics.md and docs/flows.md.

    python docs/gallery/draw.py PICTURE SOURCE [OUT.svg]

PICTURE is a name of the tables at the end; SOURCE the folder of a packed store (with a sweep.h5), or of a picture of a
benchmark the file that it wrote. Needs xarray, h5netcdf and matplotlib. The
commands that made the stores stand in docs/gallery/README.md.
"""
import json
import pathlib
import sys

import matplotlib

matplotlib.use("svg")
# No time stamp, no random names: the same store gives the same file.
matplotlib.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "depthgrid", "font.size": 9, "figure.constrained_layout.use": True,
    "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False, "legend.fontsize": 8,
})
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import xarray as xr  # noqa: E402


def exponents(sweep):
    """Leading exponent and saturation of the gates against the width of the modulation network."""
    last = sweep.isel(probe_step=-1)
    leading = last.lyapunov_exponent.sel(lyapunov_variant="raw").isel(exponent=0)
    shut = last.gate_saturation.mean(["depth", "weight_type"])
    figure, axes = plt.subplots(1, 2, figsize=(7, 2.8))
    for axis, values, name in zip(axes, (leading, shut), ("leading exponent", "share of saturated gate entries")):
        for scale, cells in values.groupby("param_model_residual_scale"):
            cells = cells.groupby("param_model_modulation_hidden")
            axis.errorbar(cells.mean()[cells.mean().dims[0]], cells.mean(), cells.std(), marker="o", ms=3, capsize=2,
                          label=f"residual scale {scale:.3g}")
        axis.set(xscale="log", xticks=[32, 64, 128, 256], xticklabels=[32, 64, 128, 256], xlabel="h_mod", ylabel=name)
        axis.minorticks_off()
    axes[1].legend()
    return figure


def by_arm(values):
    """Mean over the seeds of each arm, in the order of the sweep: (name, values)."""
    names = values.arm.values
    for name in dict.fromkeys(names.tolist()):
        yield name, values.isel(cell=names == name).mean("cell")


def middles(edges):
    """Depth-times between the states: where a step is drawn."""
    edges = edges.values
    return (edges[1:] + edges[:-1]) / 2


def paths(sweep):
    """Norm, velocity and turning of the states along depth at the end of training, by family."""
    last = sweep.isel(probe_step=-1).sel(token_class="all")
    figure, axes = plt.subplots(1, 3, figsize=(9, 2.8))
    shown = (("trajectory_norm_mean", "RMS of H", "depth_edge"), ("trajectory_velocity", "velocity, RMS", "depth"),
             ("trajectory_cosine_step", "cosine of successive steps", "depth"))
    for axis, (variable, label, over) in zip(axes, shown):
        for (name, values), (_, at) in zip(by_arm(last[variable]), by_arm(last.depth_edge_time)):
            axis.plot(at if over == "depth_edge" else middles(at), values, marker="o", ms=3, label=name)
        axis.set(xlabel="depth-time", ylabel=label)
    axes[0].set_yscale("log")
    axes[1].set_yscale("log")
    axes[2].axhline(0, color="grey", lw=0.5)
    axes[0].legend(ncols=2)
    return figure


def similarity(sweep):
    """Debiased CKA between all pairs of depths, by family, before and after training."""
    states = sweep.trajectory_cka
    arms = list(by_arm(states))
    figure, axes = plt.subplots(2, len(arms), figsize=(1.4 * len(arms) + 0.8, 2.9))
    for column, (name, values) in enumerate(arms):
        for row, step in enumerate((0, -1)):
            shown = values.isel(probe_step=step).dropna("depth_edge", how="all").dropna("depth_edge_b", how="all")
            picture = axes[row, column].imshow(shown, vmin=0, vmax=1, cmap="magma", origin="lower")
            axes[row, column].set(xticks=[], yticks=[])
        axes[0, column].set_title(name, fontsize=8)
    axes[0, 0].set_ylabel("step 0")
    axes[1, 0].set_ylabel("last step")
    figure.colorbar(picture, ax=axes, shrink=0.8, label="CKA")
    return figure


def lens(sweep):
    """What the head reads at each depth, and the gradients that reach it."""
    last = sweep.isel(probe_step=-1)
    figure, axes = plt.subplots(1, 2, figsize=(7, 2.8))
    shown = (("logit_lens_loss", "loss of the head, nats"), ("gradient_norm_depth", "|∂ℓ/∂H|"))
    for axis, (variable, label) in zip(axes, shown):
        for (name, values), (_, at) in zip(by_arm(last[variable]), by_arm(last.depth_edge_time)):
            axis.plot(at if "depth_edge" in values.dims else at[1:], values, marker="o", ms=3, label=name)
        axis.set(xlabel="depth-time of the state", ylabel=label)
    axes[1].set_yscale("log")
    axes[0].legend(ncols=2)
    return figure


def gates(sweep):
    """Mean gate over depth-time, on the fine grid, of one arm, at the start and at the end of training."""
    chosen = sweep.sel(cell=sweep.arm == "time_indexed").isel(cell=0)
    figure, axes = plt.subplots(1, 2, figsize=(7, 2.6), sharey=True)
    for axis, step in zip(axes, (0, -1)):
        values = chosen.gate_fine.isel(probe_step=step)
        for kind in values.weight_type.values:
            axis.plot(values.fine_depth, values.sel(weight_type=kind), label=kind)
        for time in chosen.depth_time.values:
            axis.axvline(time, color="grey", lw=0.4, ls=":")
        axis.set(xlabel="depth-time", title=f"after {int(values.probe_step)} steps")
    axes[0].set_ylabel("mean gate")
    axes[1].legend(ncols=2)
    return figure


def training(sweep):
    """How the length and the straightness of the path change along training, by family."""
    seen = sweep.sel(token_class="all")
    figure, axes = plt.subplots(1, 2, figsize=(7, 2.8))
    shown = (("trajectory_displacement", "displacement of the last state"), ("trajectory_straightness", "straightness"))
    for axis, (variable, label) in zip(axes, shown):
        for name, values in by_arm(seen[variable]):
            if "depth_edge" in values.dims:
                values = values.dropna("depth_edge", how="all").isel(depth_edge=-1)
            values = values.dropna("probe_step")
            axis.plot(np.maximum(values.probe_step, 0.5), values, marker="o", ms=3, label=name)
        axis.set(xscale="log", xlabel="steps (0 drawn at ½)", ylabel=label)
    axes[0].set_yscale("log")
    axes[0].legend(ncols=2)
    return figure


def routing(sweep):
    """Where in the window the student executes tokens, and how masks and routers settle along training."""
    def arms(values):
        for name, mean in by_arm(values):
            family, capacity = name.split(",")
            yield f"{family.split('=')[1]}, γ = {capacity.split('=')[1]}", mean

    figure, axes = plt.subplots(2, 2, figsize=(7, 5))
    rates = dict(arms(sweep.routing_rate_position.isel(probe_step=-1).dropna("layer", how="all")))
    highest = max(float(rate.max()) for rate in rates.values())
    for axis, name in zip(axes[0], ("tdt, γ = 0.25", "mod, γ = 0.25")):
        rate = rates[name]
        picture = axis.imshow(rate, vmin=0, vmax=highest, cmap="viridis", aspect="auto")
        axis.set(title=name, xlabel="tenth of the window", xticks=range(10), ylabel="layer",
                 yticks=range(rate.sizes["layer"]), yticklabels=rate.layer.values)
    figure.colorbar(picture, ax=axes[0], label="share executed")
    auc = sweep.router_auc.fillna(sweep.mod_predictor_auc)
    for axis, values, label in zip(axes[1], (sweep.routing_capacity_churn, auc),
                                   ("churn of the teacher's masks", "AUC of router or predictor")):
        for name, along in arms(values.mean("layer")):
            along = along.dropna("probe_step")
            axis.plot(np.maximum(along.probe_step, 0.5), along, marker="o", ms=3, label=name)
        axis.set(xscale="log", xlabel="steps (0 drawn at ½)", ylabel=label)
    axes[1, 1].legend(loc="lower right")
    return figure


def gradients(rows):
    """Memory and time of a training step against the steps of a flow, by the way to its gradient."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharex=True)
    for way in dict.fromkeys(row["way"] for row in rows):
        own = [row for row in rows if row["way"] == way]
        style = "--" if way.startswith("odeint") else "-"
        for axis, quantity in zip(axes, ("MiB", "ms")):
            axis.plot([row["m"] for row in own], [row[quantity] for row in own], style, marker="o", ms=3, label=way)
    for axis, label in zip(axes, ("memory that steps add, MiB", "time of a step, ms")):
        axis.set(xscale="log", yscale="log", xlabel="steps of the flow, m", ylabel=label)
        axis.set_xticks([row["m"] for row in own], [row["m"] for row in own])
        axis.minorticks_off()
    axes[0].set_yticks([20, 50, 100, 200], [20, 50, 100, 200])
    axes[1].legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


PICTURES = {
    "exponents": exponents,
    "gates": gates,
    "lens": lens,
    "paths": paths,
    "routing": routing,
    "similarity": similarity,
    "training": training,
}
OF_BENCHMARKS = {"gradients": gradients}


def main(arguments):
    names = [*PICTURES, *OF_BENCHMARKS]
    if len(arguments) not in (2, 3) or arguments[0] not in names:
        sys.exit(f"usage: draw.py PICTURE SOURCE [OUT.svg]; pictures: {', '.join(names)}")
    name, source = arguments[0], pathlib.Path(arguments[1])
    out = arguments[2] if len(arguments) == 3 else pathlib.Path(__file__).parent / f"{name}.svg"
    if name in OF_BENCHMARKS:
        figure = OF_BENCHMARKS[name](json.loads(source.read_text()))
    else:
        sweep = xr.open_dataset(source / "sweep.h5", engine="h5netcdf")
        figure = PICTURES[name](sweep.set_coords([v for v in sweep.data_vars if v == "arm" or v.startswith("param_")]))
    figure.savefig(out, metadata={"Date": None}, bbox_inches="tight")


if __name__ == "__main__":
    main(sys.argv[1:])
