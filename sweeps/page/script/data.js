// What the page brings, checked: the model.

/** Points in order of x; null and what cannot be drawn is NaN. Equal grids are one array. */
function readPoints(x, y, known) {
  const number = (v) => (typeof v === "number" && Math.abs(v) <= kLargestDrawn ? v : NaN);
  const n = Math.min(x.length, y.length);
  let xs = new Float64Array(n), ys = new Float64Array(n);
  for (let i = 0; i < n; ++i) {
    xs[i] = number(x[i]);
    ys[i] = number(y[i]);
  }
  if (!xs.every((v, i) => (i === 0 ? finite(v) : v >= xs[i - 1]))) {
    const order = [...xs.keys()].filter((i) => finite(xs[i]));
    order.sort((a, b) => xs[a] - xs[b] || a - b);
    [xs, ys] = [Float64Array.from(order, (i) => xs[i]), Float64Array.from(order, (i) => ys[i])];
  }
  const same = known.find((one) => one.length === xs.length && one.every((v, i) => v === xs[i]));
  if (same === undefined && known.length < 8) known.push(xs);
  return {x: same || xs, y: ys};
}

function lastFinite(values) {
  let i = values.length - 1;
  while (i >= 0 && !finite(values[i])) --i;
  return i;
}

/** Curves by a property of theirs, its levels in order; `of` has the level of each curve. */
function readGroup(key, title, levelOf, curves) {
  const texts = [...new Set(curves.map(levelOf))];
  if (texts.every((text) => text.trim() !== "" && Number.isFinite(Number(text)))) {
    texts.sort((a, b) => Number(a) - Number(b));
  }
  const index = new Map(texts.map((text, i) => [text, i]));
  return {key, title, texts, of: curves.map((curve) => index.get(levelOf(curve)))};
}

function readArm(arm, index, factors) {
  const levels = factors.map((f) => (Object.hasOwn(arm.factors || {}, f) ? plain(arm.factors[f])
                                                                         : "–"));
  const name = plain(arm.name);
  return {index, name, search: name.toLowerCase(), levels,
          series: Number.isInteger(arm.series) && arm.series >= 0 ? arm.series : index};
}

function readCurve(raw, arm, metrics, steps, grids) {
  const {x, y} = readPoints(listOf(steps[raw.x]), listOf(raw.y), grids), last = lastFinite(y);
  return {arm, seed: plain(raw.seed), cell: plain(raw.cell), status: plain(raw.status),
          metric: metrics[raw.metric] === undefined ? 0 : raw.metric,
          x, y, final: last < 0 ? NaN : y[last], smooth: y, weight: 0};
}

/** @throws if the text is not of the form that the page promises. */
function readModel(text) {
  const raw = JSON.parse(text);
  const metrics = listOf(raw.metrics).map(plain);
  if (metrics.length === 0) metrics.push("y");
  const ofMetric = (value, m) => (Array.isArray(value) ? value[m] : value);
  const labels = metrics.map((metric, m) => {
    const label = plain(ofMetric(raw.y_label, m) || metric);
    return Array.isArray(raw.y_label) || label.startsWith(metric) || metrics.length === 1 ? label
                                                                                         : metric;
  });
  const factors = listOf(raw.factors).map(String);
  const arms = raw.arms.map((arm, i) => readArm(arm, i, factors));
  const steps = listOf(raw.grids), grids = [];
  const curves = listOf(raw.curves).filter((c) => arms[c.arm] !== undefined)
                     .map((c) => readCurve(c, arms[c.arm], metrics, steps, grids));
  const groups = factors.map(
      (f, i) => readGroup("f." + f, plain(f), (curve) => curve.arm.levels[i], curves));
  groups.push(readGroup("seed", "seed", (c) => c.seed, curves));
  groups.push(readGroup("status", "state", (c) => c.status, curves));
  return {metrics, labels, arms, curves, groups: groups.filter((group) => group.texts.length > 1),
          goals: metrics.map((_, m) => ofMetric(raw.goal, m)), xLabel: plain(raw.x_label || "")};
}
