// What a state shows: the scene. layOut() adds where.

/** The curves that pass the filters, and of each level of each group how many of them it has. */
function passing(model, state) {
  const query = state.query.trim().toLowerCase(), {groups} = model, shown = [];
  const counts = groups.map((group) => new Array(group.texts.length).fill(0));
  model.curves.forEach((curve, c) => {
    if (curve.metric !== state.metric) return;
    let misses = curve.arm.search.includes(query) ? 0 : 2, missed = null;
    groups.forEach((group, g) => {
      if (!state.excluded[g].has(group.of[c])) return;
      ++misses;
      missed = g;
    });
    if (misses === 0) {
      shown.push(curve);
      groups.forEach((group, g) => { ++counts[g][group.of[c]]; });
    } else if (misses === 1 && missed !== null) {
      ++counts[missed][groups[missed].of[c]];  // what checking this level would add
    }
  });
  return {shown, counts};
}

/** Of each arm its curves, where the completed ones end, and its rank by their mean. */
function summarised(curves, goal) {
  const out = new Map();
  for (const curve of curves) {
    if (!out.has(curve.arm)) out.set(curve.arm, {curves: [], finals: [], rank: 0});
    const arm = out.get(curve.arm);
    arm.curves.push(curve);
    if (curve.status === "completed" && finite(curve.final)) arm.finals.push(curve.final);
  }
  for (const arm of out.values()) {
    arm.mean = arm.finals.reduce((a, b) => a + b, 0) / arm.finals.length;  // NaN without any
  }
  const sign = goal === "maximize" ? -1 : 1;
  const ranked = [...out.values()].sort((a, b) => {
    if (finite(a.mean) !== finite(b.mean)) return finite(a.mean) ? -1 : 1;
    return finite(a.mean) ? sign * (a.mean - b.mean) : 0;
  });
  ranked.forEach((arm, i) => { arm.rank = i; });
  return out;
}

function bestArm(stats, goal) {
  if (!goal) return null;
  for (const [arm, one] of stats) if (one.rank === 0 && finite(one.mean)) return arm;
  return null;
}

/** `state` stays what the reader chooses; the rest is what it was when the scene was made. */
function makeScene(model, state) {
  const {shown, counts} = passing(model, state), goal = model.goals[state.metric];
  const stats = summarised(shown, goal);
  return {model, state, shown, counts, stats, best: bestArm(stats, goal),
          lines: linesOf(stats, state), colours: readColours(), plot: null};
}
