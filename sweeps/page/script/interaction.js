// Pointer and keys over the picture.

const kDragSlack = 6;  // pixels

/** What pointer and keys are at. hoverArm is an arm of the legend. */
const freshFocus = () => ({cursor: null, hoverArm: null, drag: null});

/** Changes the focus of a view, and with clicks, drags and keys its state. */
class Interaction {
  constructor(view) {
    const step = (steps) => () => this.moveAlong(steps);
    const beside = (direction) => () => this.moveBeside(direction);
    const zoom = (factor) => () => view.zoomBy(factor);
    this.view = view;
    this.focus = view.focus;
    this.canvas = view.picture.canvas;
    this.keys = {
      ArrowLeft: step(-1), ArrowRight: step(1), PageUp: step(-10), PageDown: step(10),
      Home: step(-Infinity), End: step(Infinity), ArrowUp: beside(-1), ArrowDown: beside(1),
      "+": zoom(1 / 1.5), "=": zoom(1 / 1.5), "-": zoom(1.5),
      Enter: () => { if (this.focus.cursor !== null) view.toggle(this.focus.cursor.line.arm); },
      Escape: () => {
        Object.assign(this.focus, freshFocus());
        view.set({arm: null, ...kWholeRange});
      },
    };
    this.listen();
  }

  listen() {
    const on = (name, action) => this.canvas.addEventListener(name, action);
    on("keydown", (event) => this.keyDown(event));
    on("pointerdown", (event) => this.pointerDown(event));
    on("pointermove", (event) => this.pointerMove(event));
    on("pointerup", (event) => { if (this.focus.drag !== null && event.isPrimary) this.drop(); });
    on("pointercancel", () => {
      this.focus.drag = null;
      this.view.schedule(1);
    });
    on("pointerleave", (event) => {
      if (event.pointerType === "mouse" && this.focus.drag === null) this.setCursor(null);
    });
    on("dblclick", () => this.view.set(kWholeRange));
  }

  keyDown(event) {
    const other = event.ctrlKey || event.metaKey || event.altKey;
    if (other || !Object.hasOwn(this.keys, event.key)) return;
    event.preventDefault();
    this.keys[event.key]();
  }

  pointerDown(event) {
    if (event.button !== 0 || !event.isPrimary) return;
    const [x, y] = this.placeOf(event);
    this.focus.drag = {startX: x, startY: y, x, y, moved: false,
                       touch: event.pointerType !== "mouse"};
    this.canvas.setPointerCapture(event.pointerId);
  }

  pointerMove(event) {
    const [x, y] = this.placeOf(event), {drag} = this.focus;
    if (drag === null || !event.isPrimary) {
      this.setCursor(nearestPoint(this.view.scene, x, y));
      return;
    }
    drag.moved = drag.moved || Math.hypot(x - drag.startX, y - drag.startY) > kDragSlack;
    [drag.x, drag.y] = [x, y];
    if (drag.moved) {
      this.focus.cursor = null;
      this.view.schedule(1);
    }
  }

  /** The end of a click or a drag. */
  drop() {
    const {view, focus} = this, {plot} = view.scene, {drag} = focus, box = dragBox(plot, drag);
    focus.drag = null;
    if (!drag.moved) {
      const point = nearestPoint(view.scene, drag.x, drag.y);
      this.setCursor(point);
      view.toggle(point === null ? null : point.line.arm);
    } else if (box.right - box.left < 8) {
      view.schedule(1);
    } else {
      const [x0, x1] = limitsAt(plot.x, box.left, box.right);
      const [y0, y1] = limitsAt(plot.y, box.top, box.bottom);
      view.set(box.tall ? {x0, x1, y0, y1} : {x0, x1});
    }
  }

  /** Pixels of the plot. */
  placeOf(event) {
    const box = this.canvas.getBoundingClientRect(), {plot} = this.view.scene;
    return [(event.clientX - box.left) * (plot.width / box.width),
            (event.clientY - box.top) * (plot.height / box.height)];
  }

  moveAlong(steps) {
    const {view, focus} = this;
    this.setCursor(focus.cursor === null ? firstPoint(view.scene)
                                         : pointAlong(view.scene, focus.cursor, steps));
  }

  moveBeside(direction) {
    const {view, focus} = this;
    this.setCursor(focus.cursor === null ? firstPoint(view.scene)
                                         : pointBeside(view.scene, focus.cursor, direction));
  }

  setCursor(next) {
    const {cursor} = this.focus;
    const same = cursor !== null && next !== null && cursor.line === next.line &&
        cursor.index === next.index;
    if (same || (cursor === null && next === null)) return;
    this.focus.cursor = next === null ? null : {x: next.line.px[next.index], ...next};
    this.view.schedule(1);
  }
}
