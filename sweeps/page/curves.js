"use strict";

// Learning curves on a canvas, and the button for the theme. Without this script the page shows the
// same curves as a static picture; if something is wrong with the data, that picture stays.
//
// Nothing is loaded, nothing is evaluated, and texts of the store only ever become text nodes,
// attribute values or strokes of a canvas. The state of the view stands behind "#curves?" in the
// address; any other fragment is an anchor of the page and is left alone.

(() => {
  const kPrefix = "#curves?", kMostHash = 50000, kMostQuery = 200;
  const kLargestDrawn = 1e300, kEqualValues = 1e-12;
  const kNarrow = 560;                      // below, labels at lines are numbers of the legend
  const kReach = 40, kDragSlack = 6;        // pixels
  const kCrowd = 20000;                     // points, beyond which lines are drawn the fast way
  const kPrintWidth = 680, kPrintRatio = 3;
  const kThemes = ["auto", "light", "dark"];
  // As series_dashes(): shifted by one after eight series.
  const kDashes = [[], [8, 4], [2, 3], [10, 3, 2, 3], [16, 4], [5, 5], [10, 3, 2, 3, 2, 3], [1, 5]];

  const dashesOf = (series) => kDashes[(series + Math.floor(series / 8)) % 8];
  const finite = (value) => value === value;  // nothing else is kept: see readPoints()
  const clamp = (value, low, high) => Math.max(low, Math.min(value, high));
  const plural = (n, one) => `${n.toLocaleString("en")} ${one}${n === 1 ? "" : "s"}`;
  const listOf = (value) => (Array.isArray(value) ? value : []);

  /** Characters of control and those that reorder a line become visible escapes. */
  function plain(text) {
    return String(text).replace(
        /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
        (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
  }

  /** Up to `digits` significant digits, whole numbers in full, exponents as in 1e-7. */
  function numberText(value, digits = 5) {
    if (value === null || Number.isNaN(value)) return "–";
    if (!Number.isFinite(value)) return value > 0 ? "∞" : "-∞";
    const large = Math.abs(value) >= 10 ** digits && Math.abs(value) < 1e15;
    const rounded = large ? Math.round(value) : Number(value.toPrecision(digits));
    return String(rounded).replace("e+", "e");
  }

  /** A number as people type it, or null. */
  function typedNumber(text) {
    const form = /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i;
    const number = form.test(text || "") ? Number(text) : NaN;
    return Math.abs(number) <= kLargestDrawn ? number : null;
  }

  /** First index in [from, to) whose value is not below `value`. */
  function lowerBound(values, value, from, to) {
    while (from < to) {
      const middle = (from + to) >> 1;
      if (values[middle] < value) from = middle + 1; else to = middle;
    }
    return from;
  }

  // Elements -------------------------------------------------------------------------------------

  function make(tag, attributes = {}, ...children) {
    const svg = tag === "svg" || tag === "line";
    const out = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag)
                    : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== null && value !== false) out.setAttribute(name, value === true ? "" : value);
    }
    out.append(...children);
    return out;
  }

  function button(text, action, attributes = {}) {
    const out = make("button", {type: "button", ...attributes}, text);
    out.addEventListener("click", action);
    return out;
  }

  function field(text, input, className = "field") {
    return make("label", {class: className}, make("span", {}, text), input);
  }

  function checkbox(text, action, ...more) {
    const input = make("input", {type: "checkbox"});
    input.addEventListener("change", () => action(input.checked));
    return {input, label: make("label", {class: "choice"}, input, make("span", {}, text), ...more)};
  }

  // Axes: the rules of sweeps/picture/axis.cpp ---------------------------------------------------

  const decimalValue = (n, exponent) => (exponent < 0 ? n / 10 ** -exponent : n * 10 ** exponent);

  function paddedRange(low, high, log, padding) {
    if (!(low <= high)) return log ? {low: 1, high: 10} : {low: 0, high: 1};
    const size = Math.max(Math.abs(low), Math.abs(high));
    const equal = high - low <= kEqualValues * size || high - low < 1e-280;
    if (log) {
      const factor = equal ? 2 : 10 ** (padding * (Math.log10(high) - Math.log10(low)));
      return {low: low / factor, high: high * factor};
    }
    const margin = equal ? (size < 1e-280 ? 1 : size / 20) : padding * (high - low);
    return {low: low - margin, high: high + margin};
  }

  function multiplesIn(range, multiple, exponent, most) {
    const step = decimalValue(multiple, exponent);
    const low = range.low / step, high = range.high / step;
    const slack = Math.max(1e-9, 4e-16 * Math.max(Math.abs(low), Math.abs(high)));
    const out = [], last = Math.floor(high + slack);
    for (let i = Math.ceil(low - slack); i <= last && out.length <= most; ++i) {
      out.push({n: i * multiple, exponent});
    }
    return out;
  }

  function linearTicks(range, most) {
    const span = Math.max(range.high - range.low, 1e-280);
    let finer = null;
    for (let exponent = Math.floor(Math.log10(span / most)); exponent < 310; ++exponent) {
      for (const multiple of [1, 2, 5]) {
        const ticks = multiplesIn(range, multiple, exponent, most + 8);
        if (ticks.length <= most) return ticks.length >= 2 || finer === null ? ticks : finer;
        finer = ticks;
      }
    }
    return finer;
  }

  function labelled(ticks) {
    const values = ticks.map((tick) => decimalValue(tick.n, tick.exponent));
    const largest = Math.max(0, ...values.map(Math.abs));
    const digitsOf = ({n}) => String(Math.abs(n)).replace(/0+$/, "").length;
    const digits = clamp(Math.max(...ticks.map(digitsOf)), 1, 16);
    const exponents = largest >= 1e15 || (largest >= 1e6 && digits <= 5) ||
        (largest > 0 && largest < 1e-3);
    return ticks.map((tick, i) => {
      const label = !exponents ? values[i].toFixed(clamp(-tick.exponent, 0, 20))
          : tick.n === 0 ? "0" : values[i].toExponential(digits - 1);
      return {value: values[i], label: label.replace("e+", "e")};
    });
  }

  function logTicks(range, most) {
    const powers = [], between = [];
    const last = Math.ceil(Math.log10(range.high));
    for (let k = Math.floor(Math.log10(range.low)); k <= last; ++k) {
      for (const n of [1, 2, 5]) {
        const value = decimalValue(n, k);
        if (value < range.low * (1 - 1e-12) || value > range.high * (1 + 1e-12)) continue;
        if (n === 1) powers.push({n, exponent: k});
        between.push({n, exponent: k});
      }
    }
    const chosen = between.length <= most || powers.length < 2 ? between : powers;
    if (chosen.length < 2) return labelled(linearTicks(range, most));
    const isPlain = chosen[0].exponent >= -3 && chosen[chosen.length - 1].exponent <= 4;
    const stride = Math.ceil(chosen.length / most);
    return chosen.filter((_, i) => i % stride === 0).map(({n, exponent}) => {
      const value = decimalValue(n, exponent);
      return {value, label: isPlain ? value.toFixed(Math.max(0, -exponent)) : `${n}e${exponent}`};
    });
  }

  /** `first` is the pixel of range.low, `last` that of range.high. */
  function makeAxis(range, log, first, last, spacing) {
    const most = clamp(Math.floor(Math.abs(last - first) / spacing), 3, 8);
    const place = log ? Math.log10 : (value) => value;
    const low = place(range.low), factor = (last - first) / (place(range.high) - low);
    return {
      range, log, first, last,
      ticks: log ? logTicks(range, most) : labelled(linearTicks(range, most)),
      pixel: (value) => first + (place(value) - low) * factor,
      value: (pixel) => {
        const at = low + (pixel - first) / factor;
        return log ? 10 ** at : at;
      },
    };
  }

  /** Texts at these places, moved apart until they are `distance` apart: label_layout.cpp. */
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
    const room = high - (wanted.length - 1) * distance;
    let i = 0;
    for (const pool of pools) {
      const place = Math.max(low, Math.min(mean(pool), room));
      for (let k = 0; k < pool.count; ++k, ++i) out[order[i]] = place + i * distance;
    }
    return out;
  }

  // Data -----------------------------------------------------------------------------------------

  /** Points in order of x; null and what cannot be drawn is NaN. Equal grids are one array. */
  function readPoints(x, y, known) {
    const number = (v) => (typeof v === "number" && Math.abs(v) <= kLargestDrawn ? v : NaN);
    const n = Math.min(x.length, y.length);
    let xs = Float64Array.from({length: n}, (_, i) => number(x[i]));
    let ys = Float64Array.from({length: n}, (_, i) => number(y[i]));
    if (!xs.every((v, i) => (i === 0 ? finite(v) : v >= xs[i - 1]))) {
      const order = [...xs.keys()].filter((i) => finite(xs[i]));
      order.sort((a, b) => xs[a] - xs[b] || a - b);
      [xs, ys] = [Float64Array.from(order, (i) => xs[i]), Float64Array.from(order, (i) => ys[i])];
    }
    const same = known.find((one) => one.length === xs.length && one.every((v, i) => v === xs[i]));
    if (same === undefined && known.length < 8) known.push(xs);
    return {x: same || xs, y: ys};
  }

  function lastFinite(values) {
    let i = values.length - 1;
    while (i >= 0 && !finite(values[i])) --i;
    return i;
  }

  function readGroup(key, title, levelOf, curves) {
    const texts = [...new Set(curves.map(levelOf))];
    if (texts.every((text) => text.trim() !== "" && Number.isFinite(Number(text)))) {
      texts.sort((a, b) => Number(a) - Number(b));
    }
    const index = new Map(texts.map((text, i) => [text, i]));
    return {key, title, texts, of: curves.map((curve) => index.get(levelOf(curve))),
            counts: new Array(texts.length).fill(0)};
  }

  /** What the page brings, checked. @throws if it is not of the form that the page promises. */
  function readModel(text) {
    const raw = JSON.parse(text);
    const metrics = listOf(raw.metrics).map(plain);
    if (metrics.length === 0) metrics.push("y");
    const ofMetric = (value, m) => (Array.isArray(value) ? value[m] : value);
    const labels = metrics.map((metric, m) => {
      const label = plain(ofMetric(raw.y_label, m) || metric);
      return Array.isArray(raw.y_label) || label.startsWith(metric) || metrics.length === 1 ? label
                                                                                           : metric;
    });
    const factors = listOf(raw.factors).map(String);
    const arms = raw.arms.map((arm, i) => {
      const levels = factors.map((f) => (Object.hasOwn(arm.factors || {}, f) ? plain(arm.factors[f])
                                                                             : "–"));
      const name = plain(arm.name);
      return {index: i, name, search: name.toLowerCase(), levels,
              series: Number.isInteger(arm.series) && arm.series >= 0 ? arm.series : i};
    });
    const grids = [];
    const curves = listOf(raw.curves).filter((c) => arms[c.arm] !== undefined).map((c) => {
      const {x, y} = readPoints(listOf(c.x), listOf(c.y), grids);
      const metric = metrics[c.metric] === undefined ? 0 : c.metric, last = lastFinite(y);
      return {arm: arms[c.arm], seed: plain(c.seed), cell: plain(c.cell), status: plain(c.status),
              metric, x, y, final: last < 0 ? NaN : y[last], smooth: y, weight: 0};
    });
    const groups = factors.map(
        (f, i) => readGroup("f." + f, plain(f), (curve) => curve.arm.levels[i], curves));
    groups.push(readGroup("seed", "seed", (c) => c.seed, curves));
    groups.push(readGroup("status", "state", (c) => c.status, curves));
    return {metrics, labels, arms, curves, groups: groups.filter((group) => group.texts.length > 1),
            goals: metrics.map((_, m) => ofMetric(raw.goal, m)), xLabel: plain(raw.x_label || "")};
  }

  /** Exponential moving average with the bias of its start removed; gaps stay gaps. */
  function smoothed(curve, weight) {
    if (curve.weight === weight) return curve.smooth;
    let sum = 0, norm = 0;
    curve.weight = weight;
    curve.smooth = weight === 0 ? curve.y : curve.y.map((y) => {
      if (!finite(y)) return NaN;
      sum = weight * sum + (1 - weight) * y;
      norm = weight * norm + (1 - weight);
      return sum / norm;
    });
    return curve.smooth;
  }

  /** The y of a curve at other x: its own, or between its neighbours; NaN beyond its ends. */
  function resampled(from, y, to) {
    const out = new Float64Array(to.length).fill(NaN);
    let i = 0;
    to.forEach((x, k) => {
      while (i + 1 < from.length && from[i + 1] <= x) ++i;
      if (from[i] === x) out[k] = y[i];
      else if (from[i] < x && i + 1 < from.length) {
        out[k] = y[i] + (y[i + 1] - y[i]) * ((x - from[i]) / (from[i + 1] - from[i]));
      }
    });
    return out;
  }

  /** Mean and band of the seeds of an arm. */
  function meanLine(arm, curves, weight, band) {
    const shared = curves.every((curve) => curve.x === curves[0].x);
    const x = shared ? curves[0].x
                     : Float64Array.from(new Set(curves.flatMap((c) => [...c.x]))).sort();
    const columns = curves.map((c) => (shared ? smoothed(c, weight)
                                              : resampled(c.x, smoothed(c, weight), x)));
    const n = x.length, y = new Float64Array(n), low = new Float64Array(n).fill(NaN);
    const high = new Float64Array(n).fill(NaN), count = new Uint16Array(n);
    for (let i = 0; i < n; ++i) {
      let sum = 0, seeds = 0, least = Infinity, most = -Infinity, squares = 0;
      for (const column of columns) {
        const value = column[i];
        if (!finite(value)) continue;
        sum += value;
        ++seeds;
        least = Math.min(least, value);
        most = Math.max(most, value);
      }
      count[i] = seeds;
      y[i] = sum / seeds;  // NaN without any
      if (seeds === 0 || band === "none") continue;
      if (band === "minmax") [low[i], high[i]] = [least, most];
      if (band === "minmax" || seeds < 2) continue;
      for (const column of columns) {
        if (finite(column[i])) squares += (column[i] - y[i]) ** 2;
      }
      const deviation = Math.sqrt(squares / (seeds - 1));
      [low[i], high[i]] = [y[i] - deviation, y[i] + deviation];
    }
    const limits = curves.length > 1 && band !== "none" ? {low, high} : {};
    return {arm, curve: null, x, y, ...limits, count, seeds: curves.length, faint: false};
  }

  // State ----------------------------------------------------------------------------------------

  const freshState = (groups) => ({
    view: "arms", band: "minmax", metric: 0, logX: false, logY: false, weight: 0, query: "",
    x0: null, x1: null, y0: null, y1: null, arm: null, theme: "auto",
    excluded: groups.map(() => new Set()),  // indices of levels
  });

  function hashOf(state, model) {
    const out = new URLSearchParams();
    const add = (key, value, usual) => { if (value !== usual) out.append(key, value); };
    add("view", state.view, "arms");
    add("band", state.band, "minmax");
    add("metric", model.metrics[state.metric], model.metrics[0]);
    add("log", (state.logX ? "x" : "") + (state.logY ? "y" : ""), "");
    add("ema", state.weight, 0);
    add("q", state.query, "");
    for (const key of ["x0", "x1", "y0", "y1"]) add(key, state[key], null);
    if (state.arm !== null) out.append("arm", state.arm.name);
    add("theme", state.theme, "auto");
    model.groups.forEach((group, g) => {
      const excluded = state.excluded[g], all = group.texts.length;
      if (excluded.size === all) out.append("none." + group.key, "1");
      else if (excluded.size > 0) {
        const only = excluded.size > all / 2;
        group.texts.forEach((text, i) => {
          if (excluded.has(i) !== only) out.append((only ? "only." : "not.") + group.key, text);
        });
      }
    });
    return out.toString();
  }

  /** The state that a fragment describes, or null if it describes none. Never throws. */
  function stateOf(hash, model) {
    if (!hash.startsWith(kPrefix) || hash.length > kMostHash) return null;
    const given = new URLSearchParams(hash.slice(kPrefix.length)), out = freshState(model.groups);
    const oneOf = (key, words, usual) => (words.includes(given.get(key)) ? given.get(key) : usual);
    out.view = oneOf("view", ["arms", "cells"], out.view);
    out.band = oneOf("band", ["minmax", "sd", "none"], out.band);
    out.theme = oneOf("theme", kThemes, out.theme);
    out.metric = Math.max(0, model.metrics.indexOf(given.get("metric")));
    const log = oneOf("log", ["x", "y", "xy"], "");
    [out.logX, out.logY] = [log.includes("x"), log.includes("y")];
    out.weight = Math.round(100 * clamp(typedNumber(given.get("ema")) || 0, 0, 0.99)) / 100;
    out.query = (given.get("q") || "").slice(0, kMostQuery);
    for (const key of ["x0", "x1", "y0", "y1"]) out[key] = typedNumber(given.get(key));
    out.arm = model.arms.find((arm) => arm.name === given.get("arm")) || null;
    model.groups.forEach((group, g) => {
      const only = new Set(given.getAll("only." + group.key));
      const not = new Set(given.getAll("not." + group.key));
      const known = group.texts.some((text) => only.has(text));  // else of another report
      group.texts.forEach((text, i) => {
        if (given.has("none." + group.key) || not.has(text) || (known && !only.has(text))) {
          out.excluded[g].add(i);
        }
      });
    });
    return out;
  }

  // Theme ----------------------------------------------------------------------------------------

  const root = document.documentElement;

  function setTheme(theme) {
    if (theme === "auto") root.removeAttribute("data-theme");
    else root.setAttribute("data-theme", theme);
  }

  function readColours() {
    const style = getComputedStyle(root);
    const named = (name, usual) => style.getPropertyValue("--chart-" + name).trim() || usual;
    const out = {series: [], background: named("background", "Canvas")};
    const names = ["text", "muted", "axis", "grid", "zero"];
    for (const name of names) out[name] = named(name, "CanvasText");
    for (let i = 0; i < 8; ++i) out.series.push(named("s" + i, "CanvasText"));
    return out;
  }

  /** The colours of paper, whatever the theme of the screen. */
  function readLightColours(theme) {
    setTheme("light");
    const out = readColours();
    setTheme(theme);
    return out;
  }

  /** In the element "page-tools", else in the header of the page. */
  function placeThemeButton(state, changed) {
    const out = button(`Theme: ${state.theme}`, () => {
      state.theme = kThemes[(kThemes.indexOf(state.theme) + 1) % kThemes.length];
      setTheme(state.theme);
      out.textContent = `Theme: ${state.theme}`;
      changed();
    }, {class: "theme"});
    const place = document.getElementById("page-tools") || document.querySelector("header");
    (place || document.body).append(out);
    setTheme(state.theme);
    return out;
  }

  let hashTimer = 0;

  function writeHash(state, model) {
    clearTimeout(hashTimer);  // browsers refuse what comes too often
    hashTimer = setTimeout(() => {
      const words = hashOf(state, model), page = location.href.split("#")[0];
      if (words === "" && !location.hash.startsWith(kPrefix)) return;
      try {
        history.replaceState(null, "", words === "" ? page : page + kPrefix + words);
      } catch (error) {
        if (error.name !== "SecurityError") throw error;
      }
    }, 200);
  }

  // Plot -----------------------------------------------------------------------------------------

  /** Pixels of all lines; each gets px, py and the window [from, to) that touches the plot. */
  function placeLines(lines, axes) {
    const {x, y} = axes, pixels = new Map();
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

  /** The text, or its beginning and its end around "…". */
  function cutText(context, text, room) {
    if (context.measureText(text).width <= room) return text;
    let low = 0, high = text.length;
    const cut = (n) => text.slice(0, Math.ceil(n / 2)) + "…" +
        text.slice(text.length - Math.floor(n / 2));
    while (low + 1 < high) {
      const middle = (low + high) >> 1;
      if (context.measureText(cut(middle)).width <= room) low = middle; else high = middle;
    }
    return cut(low);
  }

  const diverged = ({curve}) => curve !== null && curve.status === "diverged";

  /** Low and high of what lines show in a range of x, without diverged ones if there are others. */
  function shownExtent(lines, state, x) {
    const settled = lines.filter((line) => !diverged(line));
    let low = Infinity, high = -Infinity;
    const add = (value) => {
      if (!finite(value) || (state.logY && value <= 0)) return;
      if (value < low) low = value;
      if (value > high) high = value;
    };
    for (const line of settled.length > 0 ? settled : lines) {
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

  /** Typed limits over the range of the data; says why where they cannot be used. */
  function chosenRange(automatic, low, high, log, name, notes) {
    const out = {low: low === null ? automatic.low : low,
                 high: high === null ? automatic.high : high};
    if (log && ((low !== null && low <= 0) || (high !== null && high <= 0))) {
      notes.push(`limits of ${name} not used: a log axis has only numbers above 0`);
      return automatic;
    }
    if (out.low < out.high && out.high - out.low > kEqualValues * Math.abs(out.high)) return out;
    if (low !== null || high !== null) {
      notes.push(`limits of ${name} not used: the lower one is not below the upper one`);
    }
    return automatic;
  }

  // The view -------------------------------------------------------------------------------------

  /** Builds the controls and the plot in `live` and hides `still`. */
  function startCurves(model, live, still) {
    const state = stateOf(location.hash, model) || freshState(model.groups);
    const theme = placeThemeButton(state, () => changed());
    let colours = null, lines = [], stats = new Map(), plot = null, shown = [];
    let cursor = null, hoverArm = null, drag = null;  // what the pointer and the keys are at
    let due = 0, frame = 0, width = 0;
    const controls = {}, groupControls = [], legendItems = [];

    const canvas = make("canvas", {tabindex: "0", role: "application", class: "curves-canvas",
                                   "aria-describedby": "curves-help"});
    const context = canvas.getContext("2d");
    const base = make("canvas"), baseContext = base.getContext("2d");
    if (context === null || baseContext === null) return;
    const readout = make("p", {class: "curves-readout", "aria-live": "polite"});
    const summary = make("p", {class: "curves-summary", role: "status"});
    const legend = make("ul", {class: "curves-legend", "aria-label": "arms"});
    const figure = make("div", {class: "curves-plot"}, canvas);

    // From state to lines ------------------------------------------------------------------------

    function select() {
      const query = state.query.trim().toLowerCase(), {groups} = model;
      for (const group of groups) group.counts.fill(0);
      shown = [];
      model.curves.forEach((curve, c) => {
        if (curve.metric !== state.metric) return;
        let misses = curve.arm.search.includes(query) ? 0 : 2, missed = null;
        groups.forEach((group, g) => {
          if (!state.excluded[g].has(group.of[c])) return;
          ++misses;
          missed = group;
        });
        if (misses === 0) {
          shown.push(curve);
          for (const group of groups) ++group.counts[group.of[c]];
        } else if (misses === 1 && missed !== null) {
          ++missed.counts[missed.of[c]];  // what checking this level would add
        }
      });
    }

    function summarise() {
      stats = new Map();
      for (const curve of shown) {
        if (!stats.has(curve.arm)) stats.set(curve.arm, {curves: [], finals: [], rank: 0});
        const arm = stats.get(curve.arm);
        arm.curves.push(curve);
        if (curve.status === "completed" && finite(curve.final)) arm.finals.push(curve.final);
      }
      const sign = model.goals[state.metric] === "maximize" ? -1 : 1;
      for (const arm of stats.values()) {
        arm.mean = arm.finals.reduce((a, b) => a + b, 0) / arm.finals.length;  // NaN without any
      }
      const ranked = [...stats.values()].sort((a, b) => {
        if (finite(a.mean) !== finite(b.mean)) return finite(a.mean) ? -1 : 1;
        return finite(a.mean) ? sign * (a.mean - b.mean) : 0;
      });
      ranked.forEach((arm, i) => { arm.rank = i; });
    }

    function bestArm() {
      if (!model.goals[state.metric]) return null;
      for (const [arm, one] of stats) if (one.rank === 0 && finite(one.mean)) return arm;
      return null;
    }

    function buildLines() {
      lines = [];
      const {weight, band} = state;
      const cellLine = (curve) => ({arm: curve.arm, curve, x: curve.x, y: smoothed(curve, weight),
                                    faint: curve.status !== "completed"});
      for (const [arm, one] of stats) {
        const drawn = one.curves.filter((curve) => finite(curve.final));
        const inMean = (curve) => state.view === "arms" && curve.status === "completed";
        const whole = drawn.filter(inMean);
        if (whole.length > 0) lines.push(meanLine(arm, whole, weight, band));
        for (const curve of drawn) if (!inMean(curve)) lines.push(cellLine(curve));
      }
    }

    function layout(cssWidth, ratio) {
      const notes = [], narrow = cssWidth < kNarrow;
      const style = getComputedStyle(canvas);
      const size = parseFloat(style.fontSize) || 13, font = `${size}px ${style.fontFamily}`;
      context.font = font;
      const texts = new Map([...stats.keys()].map(
          (arm) => [arm, narrow ? String(arm.index + 1) : arm.name]));
      let widest = 0;
      for (const text of texts.values()) widest = Math.max(widest, context.measureText(text).width);
      const labelRoom = 26 + Math.min(1.15 * widest, 0.28 * cssWidth) + 4;  // bold is wider
      const height = Math.round(clamp(0.56 * cssWidth, 300, 520));
      const top = 2 * size, bottom = height - 3.6 * size;
      // x first: the automatic range of y is that of what is in sight.
      let low = Infinity, high = -Infinity;
      for (const {x} of lines) {
        const first = state.logX ? lowerBound(x, Number.MIN_VALUE, 0, x.length) : 0;
        if (first >= x.length) continue;
        low = Math.min(low, x[first]);
        high = Math.max(high, x[x.length - 1]);
      }
      const allX = paddedRange(low, high, state.logX, 0.02);
      const xRange = chosenRange(allX, state.x0, state.x1, state.logX, "x", notes);
      const extent = shownExtent(lines, state, xRange);
      const yRange = chosenRange(paddedRange(extent.low, extent.high, state.logY, 0.05), state.y0,
                                 state.y1, state.logY, "y", notes);
      const y = makeAxis(yRange, state.logY, bottom, top, 45);
      const tickRoom = Math.max(...y.ticks.map((tick) => context.measureText(tick.label).width));
      const left = Math.ceil(tickRoom) + 12, right = cssWidth - labelRoom;
      const x = makeAxis(xRange, state.logX, left, right, 5.5 * size);
      plot = {x, y, left, right, top, bottom, width: cssWidth, height, ratio, font, size, texts,
              notes, allX, labelRoom};
      placeLines(lines, plot);
      plot.crowded = lines.reduce((n, line) => n + line.to - line.from, 0) > kCrowd;
      if (state.logX || state.logY) {
        let hidden = 0;
        for (const line of lines) {
          for (let i = 0; i < line.x.length; ++i) {
            hidden += finite(line.y[i]) && ((state.logX && line.x[i] <= 0) ||
                                            (state.logY && line.y[i] <= 0)) ? 1 : 0;
          }
        }
        if (hidden > 0) notes.push(`${plural(hidden, "point")} at or below 0 not on the log axis`);
      }
    }

    // Drawing ------------------------------------------------------------------------------------

    function strokePath(target, path, colour, lineWidth, dashes) {
      target.strokeStyle = colour;
      target.lineWidth = lineWidth;
      target.setLineDash(dashes);
      target.stroke(path);
    }

    function drawAxes(target) {
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

    function clipToPlot(target, slack) {
      const {left, right, top, bottom} = plot;
      target.save();
      target.beginPath();
      target.rect(left - slack, top - slack, right - left + 2 * slack, bottom - top + 2 * slack);
      target.clip();
    }

    /** × where a curve diverged, ○ where it goes on or was stopped. */
    function endMarks(arm) {
      const out = new Path2D(), r = 4;
      for (const {curve, px, py, end, from} of lines) {
        if (curve === null || curve.arm !== arm || curve.status === "completed") continue;
        if (end < from || end !== lastFinite(curve.y)) continue;  // it goes on beyond the plot
        const at = px[end], y = clamp(py[end], plot.top, plot.bottom);
        if (curve.status === "diverged") {
          out.moveTo(at - r, y - r);
          out.lineTo(at + r, y + r);
          out.moveTo(at - r, y + r);
          out.lineTo(at + r, y - r);
        } else {
          out.moveTo(at + r, y);
          out.arc(at, y, r, 0, 2 * Math.PI);
        }
      }
      return out;
    }

    function linesByArm() {
      const out = new Map();
      for (const line of lines) {
        if (!out.has(line.arm)) out.set(line.arm, []);
        out.get(line.arm).push(line);
      }
      return out;
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

    function drawArm(target, arm, its, solidWidth, faintWidth, halo = 0) {
      const solid = new Path2D(), faint = new Path2D(), dots = new Path2D(), marks = endMarks(arm);
      for (const line of its) traceLine(line, plot.right - plot.left, solid, faint, dots);
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

    function drawBands(target, some) {
      target.globalAlpha = 0.16;
      for (const line of some) {
        if (line.low === undefined) continue;
        const path = new Path2D();
        traceBand(line, plot.y, plot.bottom, plot.right - plot.left, path);
        target.fillStyle = colours.series[line.arm.series % 8];
        target.fill(path);
      }
      target.globalAlpha = 1;
    }

    /** Where the lines of an arm end: at its mean, else at the middle one of its curves. */
    function endOfArm(arm, its) {
      const ends = its.filter((line) => line.end >= line.from);
      const settled = ends.filter((line) => !line.faint);
      const mean = ends.find((line) => line.curve === null);
      const some = settled.length > 0 ? settled : ends;
      some.sort((a, b) => a.py[a.end] - b.py[b.end]);
      const line = mean || some[some.length >> 1];
      return line === undefined ? null
          : {arm, x: line.px[line.end], y: clamp(line.py[line.end], plot.top, plot.bottom)};
    }

    function drawEndLabel(target, {arm, x, y}, place) {
      const {right} = plot, leader = new Path2D();
      leader.moveTo(x + 2, y);
      if (x + 2 < right) leader.lineTo(right, y);
      leader.lineTo(right + 18, place);
      strokePath(target, leader, colours.series[arm.series % 8], 1, [3, 2]);
      target.textAlign = "left";
      target.textBaseline = "middle";
      target.fillStyle = colours.text;
      target.fillText(cutText(target, plot.texts.get(arm), plot.labelRoom - 26), right + 22, place);
    }

    /** Names at the ends of the lines; where there are too many, those of the best arms. */
    function drawEndLabels(target, byArm) {
      const {top, bottom, size} = plot, distance = 1.25 * size;
      const ends = [...byArm].map(([arm, its]) => endOfArm(arm, its));
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
      labels.forEach((label, i) => drawEndLabel(target, label, places[i]));
    }

    /** The name of the arm that is highlighted, in bold, over others if it has no place. */
    function drawChosenLabel(target, arm, its) {
      const end = endOfArm(arm, its), {right, size, width: w} = plot;
      if (end === null) return;
      const place = plot.places.has(arm) ? plot.places.get(arm) : end.y;
      target.fillStyle = colours.background;
      target.fillRect(right + 20, place - 0.62 * size, w - right - 20, 1.24 * size);
      target.font = `bold ${plot.font}`;
      drawEndLabel(target, end, place);
    }

    function prepare(surface, target) {
      const {width: w, height: h, ratio} = plot;
      const wide = Math.round(w * ratio), high = Math.round(h * ratio);
      if (surface.width !== wide) surface.width = wide;
      if (surface.height !== high) surface.height = high;
      target.setTransform(surface.width / w, 0, 0, surface.height / h, 0, 0);
      target.lineJoin = "round";
    }

    function paintBase() {
      const target = baseContext, byArm = linesByArm();
      prepare(base, target);
      target.fillStyle = colours.background;
      target.fillRect(0, 0, plot.width, plot.height);
      drawAxes(target);
      clipToPlot(target, 0);
      drawBands(target, lines);
      target.restore();
      clipToPlot(target, 5);
      const thin = state.view === "cells" && lines.length > 60;
      for (const [arm, its] of byArm) drawArm(target, arm, its, thin ? 1.5 : 2, thin ? 0.75 : 1);
      target.restore();
      drawEndLabels(target, byArm);
      if (lines.length === 0) {
        target.fillStyle = colours.muted;
        target.textAlign = "center";
        target.fillText("no curve passes the filters", (plot.left + plot.right) / 2,
                        (plot.top + plot.bottom) / 2);
      }
    }

    /** The picture with what is highlighted on it. */
    function paintTop() {
      const target = context, {left, right, top, bottom} = plot;
      prepare(canvas, target);
      target.drawImage(base, 0, 0, plot.width, plot.height);
      const arm = cursor !== null ? cursor.line.arm : hoverArm || state.arm;
      const its = cursor !== null && cursor.line.arm !== state.arm && cursor.line.curve !== null
          ? [cursor.line] : lines.filter((line) => line.arm === arm);
      if (its.length > 0) {
        clipToPlot(target, 5);
        target.globalAlpha = 0.6;
        target.fillStyle = colours.background;
        target.fillRect(left + 1, top - 5, right - left + 5, bottom - top + 4);
        target.globalAlpha = 1;
        drawBands(target, its);
        if (its.length <= 6) drawArm(target, arm, its, 3, 2, 3);
        else drawArm(target, arm, its, 1.5, 1);  // a halo around each would hide the others
        if (cursor !== null && its.length > 1 && cursor.line.curve !== null) {
          drawArm(target, arm, [cursor.line], 4, 3, 3);
        }
        target.restore();
      }
      if (its.length > 0) drawChosenLabel(target, arm, its);
      if (cursor !== null) {
        const {line, index} = cursor, at = line.px[index], y = clamp(line.py[index], top, bottom);
        const guide = new Path2D(), point = new Path2D();
        guide.moveTo(at, top);
        guide.lineTo(at, bottom);
        strokePath(target, guide, colours.muted, 1, [2, 2]);
        point.arc(at, y, 5, 0, 2 * Math.PI);
        target.fillStyle = colours.series[arm.series % 8];
        target.fill(point);
        strokePath(target, point, colours.text, 1.5, []);
      }
      if (drag !== null && drag.moved) {
        const box = dragBox();
        target.fillStyle = colours.muted;
        target.globalAlpha = 0.2;
        target.fillRect(box.left, box.top, box.right - box.left, box.bottom - box.top);
        target.globalAlpha = 1;
        const outline = new Path2D();
        outline.rect(box.left, box.top, box.right - box.left, box.bottom - box.top);
        strokePath(target, outline, colours.axis, 1, []);
      }
    }

    // Texts --------------------------------------------------------------------------------------

    function valuesOf(line, index) {
      const name = model.labels[state.metric];
      const at = `${model.xLabel || "x"} ${numberText(line.x[index], 12)}`;
      if (line.curve !== null) {
        const {seed, cell, status, y} = line.curve;
        const raw = state.weight > 0 ? ` (not smoothed ${numberText(y[index])})` : "";
        return `arm ${line.arm.name} · seed ${seed} · cell ${cell} · ${at} · ${name} ` +
            `${numberText(line.y[index])}${raw} · ${status}`;
      }
      const {count, seeds, low, high} = line;
      const words = state.band === "sd" ? "mean ± sd" : "lowest and highest";
      const band = low !== undefined && finite(low[index])
          ? `, ${words} ${numberText(low[index])} to ${numberText(high[index])}` : "";
      const some = count[index] < seeds ? `${count[index]} of ` : "";
      return `arm ${line.arm.name} · mean of ${some}${plural(seeds, "completed seed")} · ${at} · ` +
          `${name} ${numberText(line.y[index])}${band}`;
    }

    function armText(arm) {
      const one = stats.get(arm);
      if (one === undefined) return `arm ${arm.name} · not shown`;
      const {finals, curves, mean} = one;
      const ends = finals.length === 0 ? "none completed"
          : `at the end ${numberText(mean)}` + (finals.length < 2 ? "" :
              ` (${numberText(Math.min(...finals))} to ${numberText(Math.max(...finals))})`) +
            `, ${plural(finals.length, "completed seed")}`;
      return `arm ${arm.name} · ${plural(curves.length, "curve")} · ${ends}`;
    }

    function writeReadout() {
      const arm = hoverArm || state.arm;
      const text = cursor !== null ? valuesOf(cursor.line, cursor.index)
          : arm !== null ? armText(arm)
          : "Point at a curve, or focus the plot and press an arrow key.";
      if (readout.textContent !== text) readout.textContent = text;
    }

    function writeTexts() {
      const all = model.curves.filter((curve) => curve.metric === state.metric).length;
      const empty = shown.filter((curve) => !finite(curve.final)).length;
      const arms = new Set(shown.map((curve) => curve.arm)).size, best = bestArm();
      const parts = [`${shown.length.toLocaleString("en")} of ${plural(all, "curve")} shown, in ` +
                     plural(arms, "arm")];
      if (state.view === "arms") {
        const bands = {minmax: ", bands from lowest to highest",
                       sd: ", bands of ± one standard deviation"};
        parts.push("lines are means of completed seeds" + (bands[state.band] || ""));
      }
      if (lines.some((line) => line.faint)) parts.push("thin: not completed, × diverged, ○ other");
      if (state.weight > 0) parts.push(`smoothed (EMA ${state.weight.toFixed(2)})`);
      if (empty > 0) parts.push(`${plural(empty, "curve")} without a point`);
      const range = plot.y.range;
      if (state.y0 === null && state.y1 === null &&
          lines.some((line) => diverged(line) &&
                               line.y.some((v) => v > range.high || v < range.low))) {
        parts.push("diverged curves run out of the plot");
      }
      const text = parts.concat(plot.notes).join("; ") + ".";
      if (summary.textContent !== text) summary.textContent = text;
      const winner = best === null ? "" : `; ${model.goals[state.metric] === "maximize" ? "highest"
          : "lowest"} mean at the end: ${best.name}, ${numberText(stats.get(best).mean)}`;
      canvas.setAttribute("aria-label", `Learning curves of ${model.labels[state.metric]} over ` +
          `${model.xLabel || "x"}: ${plural(shown.length, "curve")} in ${plural(arms, "arm")}` +
          winner);
      writeLegend(best);
      writeReadout();
    }

    function writeLegend(best) {
      for (const {arm, item, toggle, value} of legendItems) {
        const one = stats.get(arm);
        item.hidden = one === undefined;
        toggle.setAttribute("aria-pressed", String(arm === state.arm));
        if (one === undefined) continue;
        const text = `${plural(one.curves.length, "curve")}` +
            (finite(one.mean) ? `, mean ${numberText(one.mean)}` : "") +
            (arm === best ? ", best" : "");
        if (value.textContent !== text) value.textContent = text;
      }
      groupControls.forEach(({boxes, group}, g) => boxes.forEach(({input, count}, i) => {
        input.checked = !state.excluded[g].has(i);
        const text = `(${group.counts[i].toLocaleString("en")})`;
        if (count.textContent !== text) count.textContent = text;
      }));
    }

    // Order of work ------------------------------------------------------------------------------

    /** The cursor on the line that is now drawn for the same curve or mean. */
    function keptCursor() {
      if (cursor === null) return null;
      const {arm, curve, x} = cursor.line, {index} = cursor;
      const line = lines.find((one) => one.arm === arm && one.curve === curve);
      return line !== undefined && line.x[index] === x[index] && inSight(line, index)
          ? {line, index, x: line.px[index]} : null;
    }

    function refresh() {
      colours = readColours();
      select();
      summarise();
      buildLines();
      width = figure.clientWidth || width || kPrintWidth;
      layout(width, Math.max(1, window.devicePixelRatio || 1));
      cursor = keptCursor();
      paintBase();
      paintTop();
      writeTexts();
    }

    /** 2: everything; 1: what is highlighted. Once a frame. */
    function schedule(what) {
      due = Math.max(due, what);
      if (frame !== 0) return;
      frame = requestAnimationFrame(() => {
        frame = 0;
        const now = due;
        due = 0;
        if (now === 2) refresh();
        else {
          paintTop();
          writeReadout();
        }
      });
    }

    function changed() {
      writeControls();
      writeHash(state, model);
      schedule(2);
    }

    function set(changes) {
      Object.assign(state, changes);
      changed();
    }

    function highlight(arm) {
      state.arm = arm;
      for (const item of legendItems) {
        item.toggle.setAttribute("aria-pressed", String(item.arm === arm));
      }
      writeHash(state, model);
      schedule(1);
    }

    // Zoom ---------------------------------------------------------------------------------------

    /** As few digits as tell the ends of a range apart, so that the address stays short. */
    function rounded(value, span) {
      const digits = Math.ceil(Math.log10(Math.max(1, Math.abs(value) / span))) + 4;
      return Number(value.toPrecision(clamp(digits, 4, 17)));
    }

    function limits(axis, from, to) {
      const [low, high] = [axis.value(from), axis.value(to)].sort((a, b) => a - b);
      return [rounded(low, high - low), rounded(high, high - low)];
    }

    const resetZoom = () => set({x0: null, x1: null, y0: null, y1: null});

    function zoomBy(factor) {
      const {x, left, right, allX} = plot;
      const middle = cursor !== null ? cursor.line.px[cursor.index] : (left + right) / 2;
      const [low, high] = limits(x, middle - (middle - left) * factor,
                                 middle + (right - middle) * factor);
      if (!(low < high)) return;
      set({x0: low <= allX.low ? null : low, x1: high >= allX.high ? null : high});
    }

    function dragBox() {
      const {left, right, top, bottom} = plot;
      const tall = Math.abs(drag.y - drag.startY) > 24 && !drag.touch;
      const xs = [drag.startX, drag.x].map((v) => clamp(v, left, right)).sort((a, b) => a - b);
      const ys = [drag.startY, drag.y].map((v) => clamp(v, top, bottom)).sort((a, b) => a - b);
      return {left: xs[0], right: xs[1], top: tall ? ys[0] : top, bottom: tall ? ys[1] : bottom,
              tall};
    }

    // Pointer and keys ---------------------------------------------------------------------------

    /** The point of a line that is nearest to a place, by the distance to the line. */
    function nearest(x, y) {
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
            best = {line, index: t > 0.5 && inSight(line, i + 1) || !inSight(line, i) ? i + 1 : i};
          }
        }
      }
      return best !== null && inSight(best.line, best.index) ? best : null;
    }

    function inSight(line, i) {
      return i >= line.from && i < line.to && finite(line.py[i]) && line.px[i] >= plot.left - 0.5 &&
          line.px[i] <= plot.right + 0.5;
    }

    function setCursor(next) {
      const same = cursor !== null && next !== null && cursor.line === next.line &&
          cursor.index === next.index;
      if (same || (cursor === null && next === null)) return;
      cursor = next === null ? null : {x: next.line.px[next.index], ...next};
      schedule(1);
    }

    function placeOf(event) {
      const box = canvas.getBoundingClientRect();
      return [(event.clientX - box.left) * (plot.width / box.width),
              (event.clientY - box.top) * (plot.height / box.height)];
    }

    function startCursor() {
      const arm = state.arm || bestArm();
      const line = lines.find((one) => one.arm === arm && one.end >= one.from) ||
          lines.find((one) => one.end >= one.from);
      if (line !== undefined) setCursor({line, index: line.end});
    }

    function moveAlong(steps) {
      if (cursor === null) return startCursor();
      const {line} = cursor, {from, to} = line, direction = Math.sign(steps);
      let {index} = cursor;
      for (let i = index + direction; i >= from && i < to && steps !== 0; i += direction) {
        if (!inSight(line, i)) continue;
        index = i;
        steps -= direction;
      }
      return setCursor({line, index});
    }

    /** To the next curve above or below at this x. */
    function moveBetween(direction) {
      if (cursor === null) return startCursor();
      const here = [];
      lines.forEach((line, order) => {
        const {px, py, from, to} = line, after = lowerBound(px, cursor.x, from, to);
        const [i, j] = [Math.max(from, after - 1), Math.min(to - 1, after)];
        const near = [i, j].filter((k) => inSight(line, k));
        if (near.length === 0 || (px[j] < cursor.x - 1 && j === to - 1)) return;
        near.sort((a, b) => Math.abs(px[a] - cursor.x) - Math.abs(px[b] - cursor.x));
        const t = px[j] > px[i] ? clamp((cursor.x - px[i]) / (px[j] - px[i]), 0, 1) : 0;
        const y = near.length === 2 ? py[i] + t * (py[j] - py[i]) : py[near[0]];
        here.push({line, order, y, index: near[0]});
      });
      here.sort((a, b) => a.y - b.y || a.order - b.order);
      const now = here.findIndex((one) => one.line === cursor.line);
      const next = here[clamp(now + direction, 0, here.length - 1)];
      if (next !== undefined) setCursor({line: next.line, index: next.index, x: cursor.x});
    }

    const keys = {
      ArrowLeft: () => moveAlong(-1), ArrowRight: () => moveAlong(1),
      PageUp: () => moveAlong(-10), PageDown: () => moveAlong(10),
      Home: () => moveAlong(-Infinity), End: () => moveAlong(Infinity),
      ArrowUp: () => moveBetween(-1), ArrowDown: () => moveBetween(1),
      "+": () => zoomBy(1 / 1.5), "=": () => zoomBy(1 / 1.5), "-": () => zoomBy(1.5),
      Enter: () => { if (cursor !== null) toggleArm(cursor.line.arm); },
      Escape: () => {
        [drag, cursor, hoverArm] = [null, null, null];
        set({arm: null, x0: null, x1: null, y0: null, y1: null});
      },
    };

    const toggleArm = (arm) => highlight(arm === state.arm ? null : arm);

    function listenToCanvas() {
      canvas.addEventListener("keydown", (event) => {
        const other = event.ctrlKey || event.metaKey || event.altKey;
        if (other || !Object.hasOwn(keys, event.key)) return;
        event.preventDefault();
        keys[event.key]();
      });
      canvas.addEventListener("pointerdown", (event) => {
        if (event.button !== 0 || !event.isPrimary) return;
        const [x, y] = placeOf(event);
        drag = {startX: x, startY: y, x, y, moved: false, touch: event.pointerType !== "mouse"};
        canvas.setPointerCapture(event.pointerId);
      });
      canvas.addEventListener("pointermove", (event) => {
        const [x, y] = placeOf(event);
        if (drag === null || !event.isPrimary) return setCursor(nearest(x, y));
        drag.moved = drag.moved || Math.hypot(x - drag.startX, y - drag.startY) > kDragSlack;
        [drag.x, drag.y] = [x, y];
        if (drag.moved) {
          cursor = null;
          schedule(1);
        }
        return undefined;
      });
      canvas.addEventListener("pointerup", (event) => {
        if (drag === null || !event.isPrimary) return;
        const box = dragBox(), {moved, x, y} = drag;
        drag = null;
        if (!moved) {
          const point = nearest(x, y);
          setCursor(point);
          return highlight(point === null || point.line.arm === state.arm ? null : point.line.arm);
        }
        if (box.right - box.left < 8) return schedule(1);
        const [x0, x1] = limits(plot.x, box.left, box.right);
        const [y0, y1] = limits(plot.y, box.top, box.bottom);
        return set(box.tall ? {x0, x1, y0, y1} : {x0, x1});
      });
      canvas.addEventListener("pointercancel", () => {
        drag = null;
        schedule(1);
      });
      canvas.addEventListener("pointerleave", (event) => {
        if (event.pointerType === "mouse" && drag === null) setCursor(null);
      });
      canvas.addEventListener("dblclick", resetZoom);
    }

    // Controls -----------------------------------------------------------------------------------

    function chooser(name, text, options) {
      const input = make("select", {}, ...options.map(
          ([value, label]) => make("option", {value}, label)));
      controls[name] = input;
      return field(text, input);
    }

    function limitInput(name, text) {
      const input = make("input", {type: "text", inputmode: "decimal", autocomplete: "off",
                                   size: "8", placeholder: "auto", maxlength: "24"});
      input.addEventListener("change", () => {
        const value = typedNumber(input.value), bad = value === null && input.value.trim() !== "";
        input.toggleAttribute("aria-invalid", false);
        if (bad) input.setAttribute("aria-invalid", "true");
        if (!bad) set({[name]: value});
      });
      controls[name] = input;
      return field(text, input);
    }

    function buildView() {
      const views = [["arms", "arms (means)"], ["cells", "cells (every curve)"]];
      const radios = views.map(([value, text]) => {
        const input = make("input", {type: "radio", name: "curves-view", value});
        input.addEventListener("change", () => set({view: value}));
        controls[value] = input;
        return make("label", {class: "choice"}, input, make("span", {}, text));
      });
      const logX = checkbox("log x", (on) => set({logX: on, x0: null, x1: null}));
      const logY = checkbox("log y", (on) => set({logY: on, y0: null, y1: null}));
      [controls.logX, controls.logY] = [logX.input, logY.input];
      const band = chooser("band", "Band", [["minmax", "lowest to highest"], ["sd", "± sd"],
                                            ["none", "none"]]);
      controls.band.addEventListener("change", () => set({band: controls.band.value}));
      const metric = chooser("metric", "Metric", model.metrics.map((name, i) => [i, name]));
      controls.metric.addEventListener("change", () => set(
          {metric: Number(controls.metric.value), y0: null, y1: null}));
      metric.hidden = model.metrics.length < 2;
      controls.weight = make("input", {type: "range", min: "0", max: "0.99", step: "0.01",
                                       id: "curves-smoothing"});
      controls.weightText = make("output", {for: "curves-smoothing"});
      controls.weight.addEventListener("input", () => set({weight: Number(controls.weight.value)}));
      const smoothing = field("Smoothing (EMA)", controls.weight);
      smoothing.append(controls.weightText);
      return make(
          "div", {class: "curves-controls"},
          make("fieldset", {}, make("legend", {}, "View"), ...radios), metric, band,
          make("fieldset", {}, make("legend", {}, "Axes"), logX.label, logY.label), smoothing,
          make("fieldset", {class: "curves-limits"}, make("legend", {}, "Limits"),
               limitInput("x0", "x from"), limitInput("x1", "x to"), limitInput("y0", "y from"),
               limitInput("y1", "y to")),
          make("div", {class: "curves-buttons", role: "group", "aria-label": "Zoom"},
               button("Zoom in", () => zoomBy(1 / 1.5)), button("Zoom out", () => zoomBy(1.5)),
               button("Reset zoom", resetZoom)));
    }

    function buildGroup(group, g) {
      const excludeAll = (on) => {
        state.excluded[g] = new Set(on ? group.texts.keys() : []);
        changed();
      };
      const boxes = group.texts.map((text, i) => {
        const count = make("span", {class: "count"});
        const box = checkbox(text, (on) => {
          if (on) state.excluded[g].delete(i); else state.excluded[g].add(i);
          changed();
        }, count);
        return {...box, count};
      });
      groupControls.push({group, boxes});
      const choice = (word, on) => button(word, () => excludeAll(on),
                                          {"aria-label": `${word} of ${group.title}`});
      return make("fieldset", {}, make("legend", {}, group.title),
                  make("div", {class: "levels"}, ...boxes.map((box) => box.label)),
                  make("div", {class: "curves-buttons"}, choice("all", false),
                       choice("none", true)));
    }

    function buildFilters() {
      controls.query = make("input", {type: "search", maxlength: String(kMostQuery),
                                      autocomplete: "off", spellcheck: "false"});
      controls.query.addEventListener("input", () => set({query: controls.query.value}));
      const groups = model.groups.map(buildGroup);
      const all = button("Show all curves", () => set(
          {query: "", excluded: model.groups.map(() => new Set())}));
      return make("details", {class: "curves-filters"}, make("summary", {}, "Filters"),
                  make("div", {class: "curves-controls"},
                       field("Name of the arm contains", controls.query), ...groups,
                       make("div", {class: "curves-buttons"}, all)));
    }

    function buildLegend() {
      for (const arm of model.arms) {
        const sample = make("line", {x1: "1", y1: "5", x2: "43", y2: "5", stroke: "currentColor",
                                     "stroke-width": "2.5",
                                     "stroke-dasharray": dashesOf(arm.series).join(" ") || null});
        const swatch = make("svg", {class: `swatch s${arm.series % 8}`, width: "44", height: "10",
                                    viewBox: "0 0 44 10", "aria-hidden": "true"}, sample);
        const value = make("span", {class: "count"});
        const toggle = button("", () => toggleArm(arm), {"aria-pressed": "false"});
        const words = arm.name.split(/(?<=[,;/_])/).flatMap((part) => [part, make("wbr")]);
        toggle.append(swatch, make("span", {}, `${arm.index + 1}\u00a0`, ...words, " "), value);
        const hover = (target) => () => {
          hoverArm = target;
          schedule(1);
        };
        for (const event of ["pointerenter", "focus"]) toggle.addEventListener(event, hover(arm));
        for (const event of ["pointerleave", "blur"]) toggle.addEventListener(event, hover(null));
        const item = make("li", {}, toggle);
        legendItems.push({arm, item, toggle, value});
        legend.append(item);
      }
    }

    function writeControls() {
      controls.arms.checked = state.view === "arms";
      controls.cells.checked = state.view === "cells";
      controls.band.value = state.band;
      controls.band.disabled = state.view !== "arms";
      controls.metric.value = String(state.metric);
      controls.logX.checked = state.logX;
      controls.logY.checked = state.logY;
      controls.weight.value = String(state.weight);
      controls.weightText.value = state.weight === 0 ? "none" : state.weight.toFixed(2);
      if (controls.query.value !== state.query) controls.query.value = state.query;
      for (const key of ["x0", "x1", "y0", "y1"]) {
        controls[key].value = state[key] === null ? "" : String(state[key]);
        controls[key].removeAttribute("aria-invalid");
      }
    }

    /** Calls again whenever the window gets another ratio of pixels: on another screen, for one. */
    function watchRatio() {
      const query = window.matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`);
      query.addEventListener("change", () => {
        schedule(2);
        watchRatio();
      }, {once: true});
    }

    function listenToPage() {
      new ResizeObserver(() => { if (figure.clientWidth !== width) schedule(2); }).observe(figure);
      watchRatio();
      const dark = window.matchMedia("(prefers-color-scheme: dark)");
      dark.addEventListener("change", () => schedule(2));
      window.addEventListener("hashchange", () => {
        const next = stateOf(location.hash, model);
        if (next === null) return;
        Object.assign(state, next);
        setTheme(state.theme);
        theme.textContent = `Theme: ${state.theme}`;
        writeControls();
        schedule(2);
      });
      window.addEventListener("beforeprint", () => {
        cursor = null;
        colours = readLightColours(state.theme);
        layout(kPrintWidth, kPrintRatio);
        paintBase();
        paintTop();
      });
      window.addEventListener("afterprint", refresh);
    }

    const filters = buildFilters(), help = make(
        "p", {class: "note curves-help", id: "curves-help"},
        "Drag across the plot to zoom, double click to reset; click a curve or a name to keep " +
        "its arm highlighted. Keys in the plot: arrows go along and between curves, Enter keeps the " +
        "arm, + and − zoom, Escape resets. Means below are those of completed seeds at their end.");
    buildLegend();
    live.append(buildView(), filters, summary, figure, readout, help, legend);
    live.hidden = false;
    if (still !== null) still.hidden = true;
    filters.open = state.excluded.some((levels) => levels.size > 0) || state.query !== "";
    writeControls();
    refresh();
    listenToCanvas();
    listenToPage();
  }

  function start() {
    const data = document.getElementById("curves-data");
    const live = document.getElementById("curves-live");
    let model = null;
    try {
      if (data !== null && live !== null) model = readModel(data.textContent);
    } catch (error) {
      console.error("curves-data:", error);  // the static picture stays
    }
    if (model !== null && model.curves.length > 0) {
      startCurves(model, live, document.getElementById("curves-static"));
    } else {
      model = {metrics: [""], arms: [], groups: []};
      const state = stateOf(location.hash, model) || freshState([]);
      placeThemeButton(state, () => writeHash(state, model));
    }
  }

  start();
})();
