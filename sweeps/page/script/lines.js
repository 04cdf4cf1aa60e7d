// Lines of a plot: curves, smoothed, and means of the seeds of an arm.

/** Exponential moving average with the bias of its start removed; gaps stay gaps. */
function smoothed(curve, weight) {
  if (curve.weight === weight) return curve.smooth;
  let sum = 0, norm = 0;
  curve.weight = weight;
  curve.smooth = weight === 0 ? curve.y : curve.y.map((y) => {
    if (!finite(y)) return NaN;
    sum = weight * sum + (1 - weight) * y;
    norm = weight * norm + (1 - weight);
    return sum / norm;
  });
  return curve.smooth;
}

/** The y of a curve at other x: its own, or between its neighbours; NaN beyond its ends. */
function resampled(from, y, to) {
  const out = new Float64Array(to.length).fill(NaN);
  let i = 0;
  to.forEach((x, k) => {
    while (i + 1 < from.length && from[i + 1] <= x) ++i;
    if (from[i] === x) out[k] = y[i];
    else if (from[i] < x && i + 1 < from.length) {
      out[k] = y[i] + (y[i + 1] - y[i]) * ((x - from[i]) / (from[i + 1] - from[i]));
    }
  });
  return out;
}

/** Mean and band of the seeds of an arm. */
function meanLine(arm, curves, weight, band) {
  const shared = curves.every((curve) => curve.x === curves[0].x);
  const x = shared ? curves[0].x
                   : Float64Array.from(new Set(curves.flatMap((c) => [...c.x]))).sort();
  const columns = curves.map((c) => (shared ? smoothed(c, weight)
                                            : resampled(c.x, smoothed(c, weight), x)));
  const n = x.length, y = new Float64Array(n), low = new Float64Array(n).fill(NaN);
  const high = new Float64Array(n).fill(NaN), count = new Uint16Array(n);
  for (let i = 0; i < n; ++i) {
    let sum = 0, seeds = 0, least = Infinity, most = -Infinity, squares = 0;
    for (const column of columns) {
      const value = column[i];
      if (!finite(value)) continue;
      sum += value;
      ++seeds;
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
    count[i] = seeds;
    y[i] = sum / seeds;  // NaN without any
    if (seeds === 0 || band === "none") continue;
    if (band === "minmax") [low[i], high[i]] = [least, most];
    if (band === "minmax" || seeds < 2) continue;
    for (const column of columns) {
      if (finite(column[i])) squares += (column[i] - y[i]) ** 2;
    }
    const deviation = Math.sqrt(squares / (seeds - 1));
    [low[i], high[i]] = [y[i] - deviation, y[i] + deviation];
  }
  const limits = curves.length > 1 && band !== "none" ? {low, high} : {};
  return {arm, curve: null, x, y, ...limits, count, seeds: curves.length, faint: false};
}

const cellLine = (curve, weight) => ({arm: curve.arm, curve, x: curve.x,
                                      y: smoothed(curve, weight),
                                      faint: curve.status !== "completed"});

/** Of each arm the mean of its completed curves, in the view of arms, and the curves that are not
    in it. */
function linesOf(stats, {view, weight, band}) {
  const out = [];
  for (const [arm, {curves}] of stats) {
    const drawn = curves.filter((curve) => finite(curve.final));
    const inMean = (curve) => view === "arms" && curve.status === "completed";
    const whole = drawn.filter(inMean);
    if (whole.length > 0) out.push(meanLine(arm, whole, weight, band));
    for (const curve of drawn) if (!inMean(curve)) out.push(cellLine(curve, weight));
  }
  return out;
}

const diverged = ({curve}) => curve !== null && curve.status === "diverged";
