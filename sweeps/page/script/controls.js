// The controls: what is drawn and how, and filters.

/** `view` learns what changes: set(), changed(), zoomBy(), zoomToEnd(). */
class Controls {
  constructor(model, state, view) {
    this.model = model;
    this.state = state;
    this.view = view;
    this.inputs = {};
    this.boxes = model.groups.map((group, g) => this.buildBoxes(group, g));
    this.settings = this.buildSettings();
    this.filters = this.buildFilters();
  }

  buildSettings() {
    const {view} = this;
    return make(
        "div", {class: "curves-controls"},
        make("fieldset", {}, make("legend", {}, "View"), this.choice("arms", "arms (means)"),
             this.choice("cells", "cells (every curve)")),
        this.buildMetric(), this.buildBand(),
        make("fieldset", {}, make("legend", {}, "Axes"),
             this.log("logX", "log x", {x0: null, x1: null}),
             this.log("logY", "log y", {y0: null, y1: null})),
        this.buildSmoothing(),
        make("fieldset", {class: "curves-limits"}, make("legend", {}, "Limits"),
             this.limit("x0", "x from"), this.limit("x1", "x to"), this.limit("y0", "y from"),
             this.limit("y1", "y to")),
        make("div", {class: "curves-buttons", role: "group", "aria-label": "Zoom"},
             button("Zoom in", () => view.zoomBy(1 / 1.5)),
             button("Zoom out", () => view.zoomBy(1.5)),
             button("Last half", () => view.zoomToEnd()),
             button("Reset zoom", () => view.set(kWholeRange))));
  }

  choice(value, text) {
    const input = make("input", {type: "radio", name: "curves-view", value});
    input.addEventListener("change", () => this.view.set({view: value}));
    this.inputs[value] = input;
    return make("label", {class: "choice"}, input, make("span", {}, text));
  }

  /** `reset`: limits that the other kind of axis may not have. */
  log(name, text, reset) {
    const {input, label} = checkbox(text, (on) => this.view.set({[name]: on, ...reset}));
    this.inputs[name] = input;
    return label;
  }

  select(name, text, options, changed) {
    const input = make("select", {}, ...options.map(
        ([value, label]) => make("option", {value}, label)));
    input.addEventListener("change", () => changed(input.value));
    this.inputs[name] = input;
    return field(text, input);
  }

  buildBand() {
    return this.select("band", "Band", [["minmax", "lowest to highest"], ["sd", "± sd"],
                                        ["none", "none"]], (band) => this.view.set({band}));
  }

  buildMetric() {
    const {metrics} = this.model;
    const out = this.select("metric", "Metric", metrics.map((name, i) => [i, name]), (value) =>
      this.view.set({metric: Number(value), y0: null, y1: null}));
    out.hidden = metrics.length < 2;
    return out;
  }

  buildSmoothing() {
    const input = make("input", {type: "range", min: "0", max: "0.99", step: "0.01",
                                 id: "curves-smoothing"});
    input.addEventListener("input", () => this.view.set({weight: Number(input.value)}));
    this.inputs.weight = input;
    this.inputs.weightText = make("output", {for: "curves-smoothing"});
    const out = field("Smoothing (EMA)", input);
    out.append(this.inputs.weightText);
    return out;
  }

  limit(name, text) {
    const input = make("input", {type: "text", inputmode: "decimal", autocomplete: "off",
                                 size: "8", placeholder: "auto", maxlength: "24"});
    input.addEventListener("change", () => {
      const value = typedNumber(input.value), bad = value === null && input.value.trim() !== "";
      input.toggleAttribute("aria-invalid", false);
      if (bad) input.setAttribute("aria-invalid", "true");
      if (!bad) this.view.set({[name]: value});
    });
    this.inputs[name] = input;
    return field(text, input);
  }

  buildFilters() {
    const {model, state, view} = this;
    const query = make("input", {type: "search", maxlength: String(kMostQuery),
                                 autocomplete: "off", spellcheck: "false"});
    query.addEventListener("input", () => view.set({query: query.value}));
    this.inputs.query = query;
    const all = button("Show all curves", () => view.set(
        {query: "", excluded: model.groups.map(() => new Set())}));
    const out = make("details", {class: "curves-filters"}, make("summary", {}, "Filters"),
                     make("div", {class: "curves-controls"},
                          field("Name of the arm contains", query),
                          ...model.groups.map((group, g) => this.buildGroup(group, g)),
                          make("div", {class: "curves-buttons"}, all)));
    out.open = state.excluded.some((levels) => levels.size > 0) || state.query !== "";
    return out;
  }

  /** A box for each level of a group, and how many curves it has. */
  buildBoxes(group, g) {
    const {state, view} = this;
    return group.texts.map((text, i) => {
      const count = make("span", {class: "count"});
      const box = checkbox(text, (on) => {
        if (on) state.excluded[g].delete(i); else state.excluded[g].add(i);
        view.changed();
      }, count);
      return {...box, count};
    });
  }

  buildGroup(group, g) {
    const {state, view} = this;
    const choice = (word, excluded) => button(word, () => {
      state.excluded[g] = new Set(excluded);
      view.changed();
    }, {"aria-label": `${word} of ${group.title}`});
    return make("fieldset", {}, make("legend", {}, group.title),
                make("div", {class: "levels"}, ...this.boxes[g].map((box) => box.label)),
                make("div", {class: "curves-buttons"}, choice("all", []),
                     choice("none", [...group.texts.keys()])));
  }

  /** The state, on the controls. */
  write() {
    const {state, inputs} = this;
    inputs.arms.checked = state.view === "arms";
    inputs.cells.checked = state.view === "cells";
    inputs.band.value = state.band;
    inputs.band.disabled = state.view !== "arms";
    inputs.metric.value = String(state.metric);
    inputs.logX.checked = state.logX;
    inputs.logY.checked = state.logY;
    inputs.weight.value = String(state.weight);
    inputs.weightText.value = state.weight === 0 ? "none" : state.weight.toFixed(2);
    if (inputs.query.value !== state.query) inputs.query.value = state.query;
    for (const key of kLimits) {
      inputs[key].value = state[key] === null ? "" : String(state[key]);
      inputs[key].removeAttribute("aria-invalid");
    }
  }

  /** What passes the filters, on their boxes. */
  writeCounts({counts, state}) {
    this.boxes.forEach((boxes, g) => boxes.forEach(({input, count}, i) => {
      input.checked = !state.excluded[g].has(i);
      writeText(count, `(${groupedText(counts[g][i])})`);
    }));
  }
}
