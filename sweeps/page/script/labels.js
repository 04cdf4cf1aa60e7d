// Names at the ends of the lines.

/** Texts at these places, moved apart until they are `distance` apart: end_labels.cpp. */
function spreadApart(wanted, distance, low, high) {
  const order = wanted.map((_, i) => i).sort((a, b) => wanted[a] - wanted[b] || a - b);
  const pools = [], out = new Array(wanted.length);
  const mean = (pool) => pool.sum / pool.count;
  order.forEach((index, i) => {
    pools.push({sum: wanted[index] - i * distance, count: 1});
    while (pools.length > 1 && mean(pools[pools.length - 2]) > mean(pools[pools.length - 1])) {
      const last = pools.pop(), before = pools[pools.length - 1];
      before.sum += last.sum;
      before.count += last.count;
    }
  });
  const limit = high - (wanted.length - 1) * distance;
  let i = 0;
  for (const pool of pools) {
    const place = Math.max(low, Math.min(mean(pool), limit));
    for (let k = 0; k < pool.count; ++k, ++i) out[order[i]] = place + i * distance;
  }
  return out;
}

/** The text, or its beginning and its end around "…". */
function cutText(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let low = 0, high = text.length;
  const cut = (n) => text.slice(0, Math.ceil(n / 2)) + "…" +
      text.slice(text.length - Math.floor(n / 2));
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if (context.measureText(cut(middle)).width <= width) low = middle; else high = middle;
  }
  return cut(low);
}

/** Where the lines of an arm end: at its mean, else at the middle one of its curves. */
function endOfArm(lines, {top, bottom}) {
  const ends = lines.filter((line) => line.end >= line.from);
  const completed = ends.filter((line) => !line.faint);
  const mean = ends.find((line) => line.curve === null);
  const some = completed.length > 0 ? completed : ends;
  some.sort((a, b) => a.py[a.end] - b.py[b.end]);
  const line = mean || some[some.length >> 1];
  return line === undefined ? null
      : {arm: line.arm, x: line.px[line.end], y: clamp(line.py[line.end], top, bottom)};
}

function drawEndLabel(target, {plot, colours}, {arm, x, y}, place) {
  const {right} = plot, leader = new Path2D();
  leader.moveTo(x + 2, y);
  if (x + 2 < right) leader.lineTo(right, y);
  leader.lineTo(right + 18, place);
  strokePath(target, leader, colours.series[arm.series % 8], 1, [3, 2]);
  target.textAlign = "left";
  target.textBaseline = "middle";
  target.fillStyle = colours.text;
  target.fillText(cutText(target, plot.texts.get(arm), plot.labelSpace - 26), right + 22, place);
}

/** Names at the lines of each arm; where there are too many, those of the best arms. The plot
    keeps their places. */
function drawEndLabels(target, scene, byArm) {
  const {plot, state, stats} = scene, {top, bottom, size} = plot, distance = 1.25 * size;
  const ends = [...byArm.values()].map((lines) => endOfArm(lines, plot));
  const labels = ends.filter((end) => end !== null);
  const most = Math.max(1, Math.floor((bottom - top) / distance));
  const rank = ({arm}) => (arm === state.arm ? -1 : stats.get(arm).rank);
  labels.sort((a, b) => rank(a) - rank(b));
  if (labels.length > most) {
    plot.notes.push(`names at the lines: ${most} of ${labels.length} arms`);
    labels.length = most;
  }
  const places = spreadApart(labels.map((label) => label.y), distance, top + distance / 2,
                             bottom - distance / 2);
  plot.places = new Map(labels.map((label, i) => [label.arm, places[i]]));
  labels.forEach((label, i) => drawEndLabel(target, scene, label, places[i]));
}

/** The name of the arm that is highlighted, in bold, over others if it has no place. */
function drawChosenLabel(target, scene, lines) {
  const {plot, colours} = scene, {right, size, width} = plot, end = endOfArm(lines, plot);
  if (end === null) return;
  const place = plot.places.has(end.arm) ? plot.places.get(end.arm) : end.y;
  target.fillStyle = colours.background;
  target.fillRect(right + 20, place - 0.62 * size, width - right - 20, 1.24 * size);
  target.font = `bold ${plot.font}`;
  drawEndLabel(target, scene, end, place);
}
