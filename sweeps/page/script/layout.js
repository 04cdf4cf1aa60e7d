// Where the lines of a scene are: its plot, and their pixels.

const kNarrow = 560;   // below, labels at lines are numbers of the legend
const kCrowd = 20000;  // points, beyond which lines are drawn the fast way

/** Pixels of all lines; each gets px, py and the window [from, to) that touches the plot. */
function placeLines(lines, {x, y}) {
  const pixels = new Map();
  const keep = (pixel) => (finite(pixel) ? clamp(pixel, -1e4, 1e4) : NaN);
  const yPixel = y.log ? (v) => (v > 0 ? keep(y.pixel(v)) : NaN) : (v) => keep(y.pixel(v));
  const left = Math.min(x.first, x.last), right = Math.max(x.first, x.last);
  for (const line of lines) {
    let px = pixels.get(line.x);
    if (px === undefined) {
      const xPixel = (v) => (x.log && v <= 0 ? -1e9 : clamp(x.pixel(v), -1e6, 1e6));
      px = Float32Array.from(line.x, xPixel);
      pixels.set(line.x, px);
    }
    const n = px.length, first = lowerBound(px, -1e8, 0, n);
    line.px = px;
    line.py = Float32Array.from(line.y, yPixel);
    line.from = Math.max(first, lowerBound(px, left, 0, n) - 1);
    line.to = Math.min(n, lowerBound(px, right + 0.01, 0, n) + 1);
    // The last point in sight, for the label and the mark at the end.
    line.end = line.to - 1;
    while (line.end >= line.from && !(finite(line.py[line.end]) && px[line.end] <= right + 0.5)) {
      --line.end;
    }
  }
}

/** Low and high of all x that an axis can show. */
function wholeExtent(lines, log) {
  let low = Infinity, high = -Infinity;
  for (const {x} of lines) {
    const first = log ? lowerBound(x, Number.MIN_VALUE, 0, x.length) : 0;
    if (first >= x.length) continue;
    low = Math.min(low, x[first]);
    high = Math.max(high, x[x.length - 1]);
  }
  return {low, high};
}

/** Low and high of what lines show in a range of x, without diverged ones if there are others. */
function shownExtent(lines, log, x) {
  const finished = lines.filter((line) => !diverged(line));
  let low = Infinity, high = -Infinity;
  const add = (value) => {
    if (!finite(value) || (log && value <= 0)) return;
    if (value < low) low = value;
    if (value > high) high = value;
  };
  for (const line of finished.length > 0 ? finished : lines) {
    const to = lowerBound(line.x, x.high * (1 + 1e-12), 0, line.x.length);
    for (let i = lowerBound(line.x, x.low, 0, to); i < to; ++i) {
      add(line.y[i]);
      if (line.low !== undefined) {
        add(line.low[i]);
        add(line.high[i]);
      }
    }
  }
  return {low, high};
}

/** Points that have no place on a log axis. */
function hiddenPoints(lines, logX, logY) {
  let out = 0;
  for (const line of lines) {
    for (let i = 0; i < line.x.length; ++i) {
      out += finite(line.y[i]) && ((logX && line.x[i] <= 0) || (logY && line.y[i] <= 0)) ? 1 : 0;
    }
  }
  return out;
}

/** Gives a scene its plot, and its lines their pixels. `ruler` measures texts in the font of the
    picture (Picture.ruler()); `ratio`: pixels of the screen in one of the `width`. */
function layOut(scene, ruler, width, ratio) {
  const {lines, stats, state} = scene, {logX, logY} = state, {font, size, widthOf} = ruler;
  const notes = [], narrow = width < kNarrow;
  const texts = new Map([...stats.keys()].map(
      (arm) => [arm, narrow ? String(arm.index + 1) : arm.name]));
  let widest = 0;
  for (const text of texts.values()) widest = Math.max(widest, widthOf(text));
  const labelSpace = 26 + Math.min(1.15 * widest, 0.28 * width) + 4;  // bold is wider
  const height = Math.round(clamp(0.56 * width, 300, 520));
  const top = 2 * size, bottom = height - 3.6 * size;
  // x first: the automatic range of y is that of what is in sight.
  const whole = wholeExtent(lines, logX), allX = paddedRange(whole.low, whole.high, logX, 0.02);
  const xRange = chosenRange(allX, state.x0, state.x1, logX, "x", notes);
  const extent = shownExtent(lines, logY, xRange);
  const yRange = chosenRange(paddedRange(extent.low, extent.high, logY, 0.05), state.y0, state.y1,
                             logY, "y", notes);
  const y = makeAxis(yRange, logY, bottom, top, 45);
  const tickSpace = Math.max(...y.ticks.map((tick) => widthOf(tick.label)));
  const left = Math.ceil(tickSpace) + 12, right = width - labelSpace;
  const x = makeAxis(xRange, logX, left, right, 5.5 * size);
  placeLines(lines, {x, y});
  const hidden = logX || logY ? hiddenPoints(lines, logX, logY) : 0;
  if (hidden > 0) notes.push(`${plural(hidden, "point")} at or below 0 not on the log axis`);
  scene.plot = {x, y, left, right, top, bottom, width, height, ratio, font, size, texts, notes,
                allX, labelSpace, places: new Map(),
                crowded: lines.reduce((n, line) => n + line.to - line.from, 0) > kCrowd};
}
