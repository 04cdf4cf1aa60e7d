// The legend: the arms that are shown, each a button that highlights it.

function sampleOf(arm) {
  const line = make("line", {x1: "1", y1: "5", x2: "43", y2: "5", stroke: "currentColor",
                             "stroke-width": "2.5",
                             "stroke-dasharray": dashesOf(arm.series).join(" ") || null});
  return make("svg", {class: `swatch s${arm.series % 8}`, width: "44", height: "10",
                      viewBox: "0 0 44 10", "aria-hidden": "true"}, line);
}

/** `view` learns what is pointed at or chosen: hover(), toggle(). */
class Legend {
  constructor(arms, view) {
    this.items = arms.map((arm) => this.buildItem(arm, view));
    this.list = make("ul", {class: "curves-legend", "aria-label": "arms"},
                     ...this.items.map(({item}) => item));
  }

  buildItem(arm, view) {
    const value = make("span", {class: "count"});
    const toggle = button("", () => view.toggle(arm), {"aria-pressed": "false"});
    const words = arm.name.split(/(?<=[,;/_])/).flatMap((part) => [part, make("wbr")]);
    toggle.append(sampleOf(arm), make("span", {}, `${arm.index + 1}\u00a0`, ...words, " "), value);
    for (const event of ["pointerenter", "focus"]) {
      toggle.addEventListener(event, () => view.hover(arm));
    }
    for (const event of ["pointerleave", "blur"]) {
      toggle.addEventListener(event, () => view.hover(null));
    }
    return {arm, item: make("li", {}, toggle), toggle, value};
  }

  writePressed(chosen) {
    for (const {arm, toggle} of this.items) {
      toggle.setAttribute("aria-pressed", String(arm === chosen));
    }
  }

  write({stats, best, state}) {
    this.writePressed(state.arm);
    for (const {arm, item, value} of this.items) {
      const one = stats.get(arm);
      item.hidden = one === undefined;
      if (one === undefined) continue;
      writeText(value, `${plural(one.curves.length, "curve")}` +
          (finite(one.mean) ? `, mean ${numberText(one.mean)}` : "") +
          (arm === best ? ", best" : ""));
    }
  }
}
