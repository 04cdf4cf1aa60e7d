// What the reader has chosen: the state, and its form in the address.

const kPrefix = "#curves?", kMostHash = 50000, kMostQuery = 200;
const kThemes = ["auto", "light", "dark"];
const kLimits = ["x0", "x1", "y0", "y1"];
const kWholeRange = {x0: null, x1: null, y0: null, y1: null};

const freshState = (groups) => ({
  view: "arms", band: "minmax", metric: 0, logX: false, logY: false, weight: 0, query: "",
  ...kWholeRange, arm: null, theme: "auto",
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
  for (const key of kLimits) add(key, state[key], null);
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

/** The levels of a group that a fragment takes out. */
function excludedOf(given, group) {
  const out = new Set();
  const only = new Set(given.getAll("only." + group.key));
  const not = new Set(given.getAll("not." + group.key));
  const known = group.texts.some((text) => only.has(text));  // else of another report
  group.texts.forEach((text, i) => {
    if (given.has("none." + group.key) || not.has(text) || (known && !only.has(text))) out.add(i);
  });
  return out;
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
  for (const key of kLimits) out[key] = typedNumber(given.get(key));
  out.arm = model.arms.find((arm) => arm.name === given.get("arm")) || null;
  out.excluded = model.groups.map((group) => excludedOf(given, group));
  return out;
}

/** The address of the page; written a while after the last change, for browsers refuse what comes
    too often. */
class Address {
  constructor(model) {
    this.model = model;
    this.timer = 0;
  }

  read() {
    return stateOf(location.hash, this.model);
  }

  write(state) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const words = hashOf(state, this.model), page = location.href.split("#")[0];
      if (words === "" && !location.hash.startsWith(kPrefix)) return;
      try {
        history.replaceState(null, "", words === "" ? page : page + kPrefix + words);
      } catch (error) {
        if (error.name !== "SecurityError") throw error;
      }
    }, 200);
  }
}
