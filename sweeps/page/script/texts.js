// What is said of a scene: below the plot, above it, and to those who do not see it.

function pointText({model, state}, {line, index}) {
  const name = model.labels[state.metric];
  const at = `${model.xLabel || "x"} ${numberText(line.x[index], 12)}`;
  if (line.curve !== null) {
    const {seed, cell, status, y} = line.curve;
    const raw = state.weight > 0 ? ` (not smoothed ${numberText(y[index])})` : "";
    return `arm ${line.arm.name} · seed ${seed} · cell ${cell} · ${at} · ${name} ` +
        `${numberText(line.y[index])}${raw} · ${status}`;
  }
  const {count, seeds, low, high} = line;
  const words = state.band === "sd" ? "mean ± sd" : "lowest and highest";
  const band = low !== undefined && finite(low[index])
      ? `, ${words} ${numberText(low[index])} to ${numberText(high[index])}` : "";
  const some = count[index] < seeds ? `${count[index]} of ` : "";
  return `arm ${line.arm.name} · mean of ${some}${plural(seeds, "completed seed")} · ${at} · ` +
      `${name} ${numberText(line.y[index])}${band}`;
}

function armText({stats}, arm) {
  const one = stats.get(arm);
  if (one === undefined) return `arm ${arm.name} · not shown`;
  const {finals, curves, mean} = one;
  const ends = finals.length === 0 ? "none completed"
      : `at the end ${numberText(mean)}` + (finals.length < 2 ? "" :
          ` (${numberText(Math.min(...finals))} to ${numberText(Math.max(...finals))})`) +
        `, ${plural(finals.length, "completed seed")}`;
  return `arm ${arm.name} · ${plural(curves.length, "curve")} · ${ends}`;
}

/** Of the point at the cursor, else of the arm that is highlighted. */
function readoutText(scene, {cursor, hoverArm}) {
  const arm = hoverArm || scene.state.arm;
  return cursor !== null ? pointText(scene, cursor)
      : arm !== null ? armText(scene, arm)
      : "Point at a curve, or focus the plot and press an arrow key.";
}

/** Whether a diverged curve leaves a range of y that nobody has chosen. */
function runsOut({lines, plot, state}) {
  const {low, high} = plot.y.range, beyond = (v) => v > high || v < low;
  return state.y0 === null && state.y1 === null &&
      lines.some((line) => diverged(line) && line.y.some(beyond));
}

/** What the plot shows, and what it cannot show. */
function summaryText(scene) {
  const {model, state, shown, stats, lines, plot} = scene;
  const all = model.curves.filter((curve) => curve.metric === state.metric).length;
  const empty = shown.filter((curve) => !finite(curve.final)).length;
  const parts = [`${groupedText(shown.length)} of ${plural(all, "curve")} shown, in ` +
                 plural(stats.size, "arm")];
  if (state.view === "arms") {
    const bands = {minmax: ", bands from lowest to highest",
                   sd: ", bands of ± one standard deviation"};
    parts.push("lines are means of completed seeds" + (bands[state.band] || ""));
  }
  if (lines.some((line) => line.faint)) parts.push("thin: not completed, × diverged, ○ other");
  if (state.weight > 0) parts.push(`smoothed (EMA ${state.weight.toFixed(2)})`);
  if (empty > 0) parts.push(`${plural(empty, "curve")} without a point`);
  if (runsOut(scene)) parts.push("diverged curves run out of the plot");
  return parts.concat(plot.notes).join("; ") + ".";
}

/** The picture in a sentence. */
function pictureText({model, state, shown, stats, best}) {
  const most = model.goals[state.metric] === "maximize" ? "highest" : "lowest";
  const winner = best === null ? ""
      : `; ${most} mean at the end: ${best.name}, ${numberText(stats.get(best).mean)}`;
  return `Learning curves of ${model.labels[state.metric]} over ${model.xLabel || "x"}: ` +
      `${plural(shown.length, "curve")} in ${plural(stats.size, "arm")}${winner}`;
}
