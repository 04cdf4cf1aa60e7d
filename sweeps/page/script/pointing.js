// From places and steps to points of lines. A point, or cursor, is {line, index}, and x where the
// reader came from, so that steps up and down keep to it.

const kReach = 40;  // pixels

/** Whether point i of a line is drawn and within the plot. */
function inSight({left, right}, line, i) {
  return i >= line.from && i < line.to && finite(line.py[i]) && line.px[i] >= left - 0.5 &&
      line.px[i] <= right + 0.5;
}

/** The point of a line that is nearest to a place, by the distance to the line, or null. */
function nearestPoint({lines, plot}, x, y) {
  let best = null, least = kReach ** 2;
  for (const line of lines) {
    const {px, py, from, to} = line;
    for (let i = Math.max(from, lowerBound(px, x - kReach, from, to) - 1); i < to; ++i) {
      if (px[i] > x + kReach && px[Math.max(i - 1, from)] > x + kReach) break;
      if (!finite(py[i])) continue;
      const joined = i + 1 < to && finite(py[i + 1]);
      const dx = joined ? px[i + 1] - px[i] : 0, dy = joined ? py[i + 1] - py[i] : 0;
      const length = dx * dx + dy * dy;
      const t = length > 0 ? clamp(((x - px[i]) * dx + (y - py[i]) * dy) / length, 0, 1) : 0;
      const away = (px[i] + t * dx - x) ** 2 + (py[i] + t * dy - y) ** 2;
      if (away < least) {
        least = away;
        const after = t > 0.5 && inSight(plot, line, i + 1) || !inSight(plot, line, i);
        best = {line, index: after ? i + 1 : i};
      }
    }
  }
  return best !== null && inSight(plot, best.line, best.index) ? best : null;
}

/** The end of the line of the arm that is highlighted, else of the best one, or null. */
function firstPoint({lines, state, best}) {
  const arm = state.arm || best;
  const line = lines.find((one) => one.arm === arm && one.end >= one.from) ||
      lines.find((one) => one.end >= one.from);
  return line === undefined ? null : {line, index: line.end};
}

/** So many points on along the line, or as far as it goes. */
function pointAlong({plot}, {line, index}, steps) {
  const {from, to} = line, direction = Math.sign(steps);
  let out = index;
  for (let i = index + direction; i >= from && i < to && steps !== 0; i += direction) {
    if (!inSight(plot, line, i)) continue;
    out = i;
    steps -= direction;
  }
  return {line, index: out};
}

/** The next curve above (-1) or below (1) at the x of the cursor. */
function pointBeside({lines, plot}, cursor, direction) {
  const here = [];
  lines.forEach((line, order) => {
    const {px, py, from, to} = line, after = lowerBound(px, cursor.x, from, to);
    const [i, j] = [Math.max(from, after - 1), Math.min(to - 1, after)];
    const near = [i, j].filter((k) => inSight(plot, line, k));
    if (near.length === 0 || (px[j] < cursor.x - 1 && j === to - 1)) return;
    near.sort((a, b) => Math.abs(px[a] - cursor.x) - Math.abs(px[b] - cursor.x));
    const t = px[j] > px[i] ? clamp((cursor.x - px[i]) / (px[j] - px[i]), 0, 1) : 0;
    const y = near.length === 2 ? py[i] + t * (py[j] - py[i]) : py[near[0]];
    here.push({line, order, y, index: near[0]});
  });
  here.sort((a, b) => a.y - b.y || a.order - b.order);
  const now = here.findIndex((one) => one.line === cursor.line);
  const next = here[clamp(now + direction, 0, here.length - 1)];
  return next === undefined ? cursor : {line: next.line, index: next.index, x: cursor.x};
}

/** The same point of the line that a new scene has for the same curve or mean, or null. */
function samePoint({lines, plot}, cursor) {
  if (cursor === null) return null;
  const {arm, curve, x} = cursor.line, {index} = cursor;
  const line = lines.find((one) => one.arm === arm && one.curve === curve);
  return line !== undefined && line.x[index] === x[index] && inSight(plot, line, index)
      ? {line, index, x: line.px[index]} : null;
}

/** The part of a plot that a drag marks: a range of x, with that of y if it is tall. */
function dragBox({left, right, top, bottom}, drag) {
  const tall = Math.abs(drag.y - drag.startY) > 24 && !drag.touch;
  const xs = [drag.startX, drag.x].map((v) => clamp(v, left, right)).sort((a, b) => a - b);
  const ys = [drag.startY, drag.y].map((v) => clamp(v, top, bottom)).sort((a, b) => a - b);
  return {left: xs[0], right: xs[1], top: tall ? ys[0] : top, bottom: tall ? ys[1] : bottom, tall};
}
