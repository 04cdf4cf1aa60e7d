// Parts of the picture: each draws one thing of a scene on `target`, a context of a canvas.

function strokePath(target, path, colour, lineWidth, dashes) {
  target.strokeStyle = colour;
  target.lineWidth = lineWidth;
  target.setLineDash(dashes);
  target.stroke(path);
}

/** A line one or more pixels of the screen high. Browsers draw lines of one pixel about fifteen
    times as fast as wider ones. */
function strokeFast(target, path, colour, pixels, dashes) {
  const scale = target.getTransform().a;
  for (let k = 0; k < pixels; ++k) {
    target.translate(0, k / scale);
    strokePath(target, path, colour, 0.99 / scale, dashes);
    target.translate(0, -k / scale);
  }
}

function clipToPlot(target, {left, right, top, bottom}, slack) {
  target.save();
  target.beginPath();
  target.rect(left - slack, top - slack, right - left + 2 * slack, bottom - top + 2 * slack);
  target.clip();
}

function drawAxes(target, {plot, colours, model, state}) {
  const {x, y, left, right, top, bottom, size} = plot, grid = new Path2D(), axis = new Path2D();
  const crisp = (pixel) => Math.round(pixel) + 0.5;
  target.font = plot.font;
  target.fillStyle = colours.muted;
  target.textBaseline = "middle";
  target.textAlign = "right";
  for (const tick of y.ticks) {
    const at = y.pixel(tick.value);
    if (at < top - 1 || at > bottom + 1) continue;
    grid.moveTo(left, crisp(at));
    grid.lineTo(right, crisp(at));
    target.fillText(tick.label, left - 6, at);
  }
  target.textAlign = "center";
  let taken = -10;
  for (const tick of x.ticks) {
    const at = x.pixel(tick.value), half = target.measureText(tick.label).width / 2;
    if (at < left - 1 || at > right + 1) continue;
    grid.moveTo(crisp(at), top);
    grid.lineTo(crisp(at), bottom);
    if (at - half < taken + 10) continue;
    taken = at + half;
    target.fillText(tick.label, at, bottom + 0.5 * size + 6);
  }
  axis.moveTo(crisp(left), top);
  axis.lineTo(crisp(left), crisp(bottom));
  axis.lineTo(right, crisp(bottom));
  strokePath(target, grid, colours.grid, 1, []);
  if (!y.log && y.range.low < 0 && y.range.high > 0) {
    const zero = new Path2D();
    zero.moveTo(left, crisp(y.pixel(0)));
    zero.lineTo(right, crisp(y.pixel(0)));
    strokePath(target, zero, colours.zero, 1.5, []);
  }
  strokePath(target, axis, colours.axis, 1, []);
  target.fillStyle = colours.text;
  target.fillText(cutText(target, model.xLabel, right - left), (left + right) / 2,
                  bottom + 2.4 * size);
  target.textAlign = "left";
  target.fillText(cutText(target, model.labels[state.metric], plot.width - 12), 6, 0.8 * size);
}

function drawBands(target, {plot, colours}, lines) {
  target.globalAlpha = 0.16;
  for (const line of lines) {
    if (line.low === undefined) continue;
    const path = new Path2D();
    traceBand(line, plot.y, plot.bottom, plot.right - plot.left, path);
    target.fillStyle = colours.series[line.arm.series % 8];
    target.fill(path);
  }
  target.globalAlpha = 1;
}

/** Lines of one arm, and the marks at the ends of all `marked` ones; `halo`: pixels of the
    background on both sides together. */
function drawArm(target, {plot, colours}, lines, marked, solidWidth, faintWidth, halo = 0) {
  const {arm} = lines[0], solid = new Path2D(), faint = new Path2D(), dots = new Path2D();
  for (const line of lines) traceLine(line, plot.right - plot.left, solid, faint, dots);
  const marks = new Path2D();
  traceEnds(marked, plot, marks);
  const colour = colours.series[arm.series % 8], dashes = dashesOf(arm.series);
  if (halo > 0) {
    strokePath(target, solid, colours.background, solidWidth + halo, []);
    strokePath(target, faint, colours.background, faintWidth + halo, []);
  }
  if (halo === 0 && plot.crowded) {
    strokeFast(target, solid, colour, plot.ratio > 1.5 ? 3 : 2, dashes);
    strokeFast(target, faint, colour, 1, dashes);
  } else {
    strokePath(target, solid, colour, solidWidth, dashes);
    strokePath(target, faint, colour, faintWidth, dashes);
  }
  strokePath(target, marks, colour, 1.75, []);
  target.fillStyle = colour;
  target.fill(dots);
}

/** The point at the cursor, and a line down to the axis. */
function drawCursor(target, {plot, colours}, {line, index}) {
  const {top, bottom} = plot, at = line.px[index], y = clamp(line.py[index], top, bottom);
  const guide = new Path2D(), point = new Path2D();
  guide.moveTo(at, top);
  guide.lineTo(at, bottom);
  strokePath(target, guide, colours.muted, 1, [2, 2]);
  point.arc(at, y, 5, 0, 2 * Math.PI);
  target.fillStyle = colours.series[line.arm.series % 8];
  target.fill(point);
  strokePath(target, point, colours.text, 1.5, []);
}

/** The part of the plot that a drag has marked. */
function drawDrag(target, {plot, colours}, drag) {
  const {left, right, top, bottom} = dragBox(plot, drag), outline = new Path2D();
  target.fillStyle = colours.muted;
  target.globalAlpha = 0.2;
  target.fillRect(left, top, right - left, bottom - top);
  target.globalAlpha = 1;
  outline.rect(left, top, right - left, bottom - top);
  strokePath(target, outline, colours.axis, 1, []);
}
