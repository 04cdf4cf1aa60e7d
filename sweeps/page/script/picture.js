// The picture: the canvas that the reader sees, and one behind it that changes less often.

function linesByArm(lines) {
  const out = new Map();
  for (const line of lines) {
    if (!out.has(line.arm)) out.set(line.arm, []);
    out.get(line.arm).push(line);
  }
  return out;
}

/** The lines to be highlighted: one curve at the cursor, or those of an arm. */
function highlighted({lines, state}, {cursor, hoverArm}) {
  const alone = cursor !== null && cursor.line.arm !== state.arm && cursor.line.curve !== null;
  if (alone) return [cursor.line];
  const arm = cursor !== null ? cursor.line.arm : hoverArm || state.arm;
  return lines.filter((line) => line.arm === arm);
}

class Picture {
  constructor() {
    this.canvas = make("canvas", {tabindex: "0", role: "application", class: "curves-canvas",
                                  "aria-describedby": "curves-help"});
    this.base = make("canvas");
    this.context = this.canvas.getContext("2d");
    this.baseContext = this.base.getContext("2d");
  }

  /** Whether the browser can draw. */
  get works() {
    return this.context !== null && this.baseContext !== null;
  }

  /** The font of the texts, and what it makes of them; only once the canvas is in the page. */
  ruler() {
    const {context} = this, style = getComputedStyle(this.canvas);
    const size = parseFloat(style.fontSize) || 13, font = `${size}px ${style.fontFamily}`;
    context.font = font;
    return {font, size, widthOf: (text) => context.measureText(text).width};
  }

  paint(scene, focus) {
    this.paintBase(scene);
    this.paintTop(scene, focus);
  }

  /** Everything but what is highlighted. */
  paintBase(scene) {
    const {plot, colours, lines, state} = scene, target = this.baseContext;
    const byArm = linesByArm(lines), thin = state.view === "cells" && lines.length > 60;
    this.prepare(target, plot);
    target.fillStyle = colours.background;
    target.fillRect(0, 0, plot.width, plot.height);
    drawAxes(target, scene);
    clipToPlot(target, plot, 0);
    drawBands(target, scene, lines);
    target.restore();
    clipToPlot(target, plot, 5);
    for (const its of byArm.values()) {
      drawArm(target, scene, its, its, thin ? 1.5 : 2, thin ? 0.75 : 1);
    }
    target.restore();
    drawEndLabels(target, scene, byArm);
    if (lines.length === 0) {
      target.fillStyle = colours.muted;
      target.textAlign = "center";
      target.fillText("no curve passes the filters", (plot.left + plot.right) / 2,
                      (plot.top + plot.bottom) / 2);
    }
  }

  /** That picture, and on it what the pointer, the keys and the legend are at. */
  paintTop(scene, focus) {
    const {plot} = scene, {cursor, drag} = focus, target = this.context;
    this.prepare(target, plot);
    target.drawImage(this.base, 0, 0, plot.width, plot.height);
    const lines = highlighted(scene, focus);
    if (lines.length > 0) this.paintHighlight(scene, lines, cursor);
    if (cursor !== null) drawCursor(target, scene, cursor);
    if (drag !== null && drag.moved) drawDrag(target, scene, drag);
  }

  /** Lines of one arm over a veil, and their name. */
  paintHighlight(scene, lines, cursor) {
    const {plot, colours} = scene, {left, right, top, bottom} = plot, target = this.context;
    const marked = scene.lines.filter((line) => line.arm === lines[0].arm);
    clipToPlot(target, plot, 5);
    target.globalAlpha = 0.6;
    target.fillStyle = colours.background;
    target.fillRect(left + 1, top - 5, right - left + 5, bottom - top + 4);
    target.globalAlpha = 1;
    drawBands(target, scene, lines);
    if (lines.length <= 6) drawArm(target, scene, lines, marked, 3, 2, 3);
    else drawArm(target, scene, lines, marked, 1.5, 1);  // a halo around each would hide the others
    if (cursor !== null && lines.length > 1 && cursor.line.curve !== null) {
      drawArm(target, scene, [cursor.line], marked, 4, 3, 3);
    }
    target.restore();
    drawChosenLabel(target, scene, lines);
  }

  /** The size of a plot, in pixels of the screen. Setting it clears a canvas, so only if it
      differs. */
  prepare(target, {width, height, ratio}) {
    const surface = target.canvas;
    const wide = Math.round(width * ratio), high = Math.round(height * ratio);
    if (surface.width !== wide) surface.width = wide;
    if (surface.height !== high) surface.height = high;
    target.setTransform(surface.width / width, 0, 0, surface.height / height, 0, 0);
    target.lineJoin = "round";
  }
}
