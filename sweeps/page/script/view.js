// The view: picture, controls, legend and texts, and the order in which a change reaches them.

const kPrintWidth = 680, kPrintRatio = 3;

class View {
  constructor(model, state, address, picture) {
    this.model = model;
    this.state = state;
    this.address = address;
    this.picture = picture;
    this.focus = freshFocus();
    this.scene = null;  // until the first refresh()
    this.due = 0;
    this.frame = 0;
    this.width = 0;
    this.theme = new ThemeButton(state, () => this.changed());
    this.controls = new Controls(model, state, this);
    this.legend = new Legend(model.arms, this);
    this.readout = make("p", {class: "curves-readout", "aria-live": "polite"});
    this.summary = make("p", {class: "curves-summary", role: "status"});
    this.figure = make("div", {class: "curves-plot"}, picture.canvas);
  }

  /** Into the element `live`, in place of `still`. */
  show(live, still) {
    const help = make(
        "p", {class: "note curves-help", id: "curves-help"},
        "Drag across the plot to zoom, double click to reset; click a curve or a name to keep " +
        "its arm highlighted. Keys in the plot: arrows go along and between curves, Enter keeps " +
        "the arm, + and − zoom, Escape resets. Means below are those of completed seeds at their " +
        "end.");
    live.append(this.controls.settings, this.controls.filters, this.summary, this.figure,
                this.readout, help, this.legend.list);
    live.hidden = false;
    if (still !== null) still.hidden = !("stays" in still.dataset);  // it is of all cells
    this.controls.write();
    this.refresh();
    this.interaction = new Interaction(this);
    this.listen();
  }

  // What others ask for --------------------------------------------------------------------------

  set(changes) {
    Object.assign(this.state, changes);
    this.changed();
  }

  /** After a change of the state. */
  changed() {
    this.controls.write();
    this.address.write(this.state);
    this.schedule(2);
  }

  highlight(arm) {
    this.state.arm = arm;
    this.legend.writePressed(arm);
    this.address.write(this.state);
    this.schedule(1);
  }

  toggle(arm) {
    this.highlight(arm === this.state.arm ? null : arm);
  }

  hover(arm) {
    this.focus.hoverArm = arm;
    this.schedule(1);
  }

  /** Around the cursor, else the middle of the plot. */
  zoomBy(factor) {
    const {plot} = this.scene, {cursor} = this.focus;
    const middle = cursor !== null ? cursor.line.px[cursor.index] : (plot.left + plot.right) / 2;
    const limits = zoomedLimits(plot, middle, factor);
    if (limits !== null) this.set(limits);
  }

  /** The last half of x, where arms that have begun alike differ. */
  zoomToEnd() {
    const {low, high} = this.scene.plot.allX;
    this.set({...kWholeRange, x0: roundedFor((low + high) / 2, high - low)});
  }

  // Order of work --------------------------------------------------------------------------------

  /** 2: everything; 1: what is highlighted. Once a frame. */
  schedule(what) {
    this.due = Math.max(this.due, what);
    if (this.frame !== 0) return;
    this.frame = requestAnimationFrame(() => {
      const {due} = this;
      [this.frame, this.due] = [0, 0];
      if (due === 2) this.refresh();
      else {
        this.picture.paintTop(this.scene, this.focus);
        this.writeReadout();
      }
    });
  }

  refresh() {
    const scene = makeScene(this.model, this.state);
    this.scene = scene;
    this.width = this.figure.clientWidth || this.width || kPrintWidth;
    layOut(scene, this.picture.ruler(), this.width, Math.max(1, window.devicePixelRatio || 1));
    this.focus.cursor = samePoint(scene, this.focus.cursor);
    this.picture.paint(scene, this.focus);
    writeText(this.summary, summaryText(scene));
    this.picture.canvas.setAttribute("aria-label", pictureText(scene));
    this.legend.write(scene);
    this.controls.writeCounts(scene);
    this.writeReadout();
  }

  writeReadout() {
    writeText(this.readout, readoutText(this.scene, this.focus));
  }

  /** As it is on the screen, in the colours and the width of paper. */
  paintForPrint() {
    this.focus.cursor = null;
    this.scene.colours = readLightColours(this.state.theme);
    layOut(this.scene, this.picture.ruler(), kPrintWidth, kPrintRatio);
    this.picture.paint(this.scene, this.focus);
  }

  // The page around it ---------------------------------------------------------------------------

  listen() {
    const {figure} = this;
    new ResizeObserver(() => {
      if (figure.clientWidth !== this.width) this.schedule(2);
    }).observe(figure);
    this.watchRatio();
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", () => this.schedule(2));
    window.addEventListener("hashchange", () => this.readAddress());
    window.addEventListener("beforeprint", () => this.paintForPrint());
    window.addEventListener("afterprint", () => this.refresh());
  }

  /** Calls again whenever the window gets another ratio of pixels: on another screen, for one. */
  watchRatio() {
    const query = window.matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`);
    query.addEventListener("change", () => {
      this.schedule(2);
      this.watchRatio();
    }, {once: true});
  }

  readAddress() {
    const next = this.address.read();
    if (next === null) return;
    Object.assign(this.state, next);
    this.theme.write();
    this.controls.write();
    this.schedule(2);
  }
}
