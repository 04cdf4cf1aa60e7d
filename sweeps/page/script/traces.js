// Paths of lines and bands, from their pixels.

/** M4: of each column of pixels the first, lowest, highest and last point; null: keep all. */
function thinned(line, ys, width) {
  const {px, from, to} = line;
  if (to - from <= 2 * width) return null;
  const out = [];
  for (let i = from; i < to;) {
    const column = Math.floor(px[i]);
    const joins = (k) => k < to && finite(ys[k]) && finite(ys[k - 1]) &&
        Math.floor(px[k]) === column;
    let low = i, high = i, end = i + 1;
    for (; joins(end); ++end) {
      if (ys[end] < ys[low]) low = end;
      if (ys[end] > ys[high]) high = end;
    }
    for (const k of [i, Math.min(low, high), Math.max(low, high), end - 1]) {
      if (out[out.length - 1] !== k) out.push(k);
    }
    i = end;
  }
  return out;
}

/** Adds a line to the path of its kind; a point without neighbours becomes a dot. */
function traceLine(line, width, solid, faint, dots) {
  const {px, py, count, seeds} = line, kept = thinned(line, py, width);
  const n = kept === null ? line.to - line.from : kept.length;
  let before = -1, run = 0, path = null;
  const endRun = () => {
    if (run === 1) {
      dots.moveTo(px[before] + 2, py[before]);
      dots.arc(px[before], py[before], 2, 0, 2 * Math.PI);
    }
    run = 0;
    path = null;
  };
  for (let k = 0; k < n; ++k) {
    const i = kept === null ? line.from + k : kept[k];
    if (!finite(py[i])) {
      endRun();
      continue;
    }
    if (run > 0) {
      const partial = count !== undefined && Math.min(count[i], count[before]) < seeds;
      const next = line.faint || partial ? faint : solid;
      if (next !== path) next.moveTo(px[before], py[before]);
      next.lineTo(px[i], py[i]);
      path = next;
    }
    before = i;
    ++run;
  }
  endRun();
}

/** The area between low and high, run by run. */
function traceBand(line, axis, bottom, width, path) {
  const pixel = (v) => (axis.log && v <= 0 ? bottom : clamp(axis.pixel(v), -1e4, 1e4));
  const low = line.low.map(pixel), high = line.high.map(pixel);
  for (let start = line.from; start < line.to;) {
    let end = start;
    while (end < line.to && finite(low[end]) && finite(high[end])) ++end;
    if (end - start > 1) {
      const run = {px: line.px, from: start, to: end};
      const all = Array.from({length: end - start}, (_, i) => start + i);
      const upper = thinned(run, high, width) || all, lower = thinned(run, low, width) || all;
      path.moveTo(line.px[upper[0]], high[upper[0]]);
      for (const i of upper) path.lineTo(line.px[i], high[i]);
      for (let k = lower.length; k-- > 0;) path.lineTo(line.px[lower[k]], low[lower[k]]);
      path.closePath();
    }
    start = end + 1;
  }
}

/** × where a curve diverged, ○ where it goes on or was stopped. */
function traceEnds(lines, plot, path) {
  const r = 4;
  for (const {curve, px, py, end, from} of lines) {
    if (curve === null || curve.status === "completed") continue;
    if (end < from || end !== lastFinite(curve.y)) continue;  // it goes on beyond the plot
    const at = px[end], y = clamp(py[end], plot.top, plot.bottom);
    if (curve.status === "diverged") {
      path.moveTo(at - r, y - r);
      path.lineTo(at + r, y + r);
      path.moveTo(at - r, y + r);
      path.lineTo(at + r, y - r);
    } else {
      path.moveTo(at + r, y);
      path.arc(at, y, r, 0, 2 * Math.PI);
    }
  }
}
