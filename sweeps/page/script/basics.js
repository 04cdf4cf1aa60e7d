"use strict";

// Learning curves on a canvas, and the button for the theme. Without this script the page shows the
// same curves as a static picture; if something is wrong with the data, that picture stays.
//
// Nothing is loaded, nothing is evaluated, and texts of the store only ever become text nodes,
// attribute values or strokes of a canvas. The state of the view stands behind "#curves?" in the
// address; any other fragment is an anchor of the page and is left alone.
//
// The files of this folder are one script, joined in the order of sweeps/CMakeLists.txt: this one
// first, start.js last, and nothing happens before that. Four objects go from hand to hand:
//
//   model  what the page brings, checked; it never changes           data.js
//   state  what the reader has chosen, as the address has it       state.js
//   scene  what a state shows, and where; made anew by each change   scene.js, layout.js
//   focus  what the pointer and the keys are at                      interaction.js
//
// View (view.js) makes a scene of model and state, lets Picture (picture.js) paint it, with the
// focus on top, and writes the texts. Controls, Legend and Interaction tell the view what to
// change.

// Texts and numbers -------------------------------------------------------------------------------

const kLargestDrawn = 1e300;

const finite = (value) => value === value;  // nothing else is kept: see readPoints()
const clamp = (value, low, high) => Math.max(low, Math.min(value, high));
/** A whole number as 12,345. toLocaleString() would load tables of languages, which takes longer than
    the text of a page. */
const groupedText = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
const plural = (n, one) => `${groupedText(n)} ${one}${n === 1 ? "" : "s"}`;
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

// Elements ----------------------------------------------------------------------------------------

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

function field(text, input) {
  return make("label", {class: "field"}, make("span", {}, text), input);
}

function checkbox(text, action, ...more) {
  const input = make("input", {type: "checkbox"});
  input.addEventListener("change", () => action(input.checked));
  return {input, label: make("label", {class: "choice"}, input, make("span", {}, text), ...more)};
}

/** Only if it differs: readers of screens may say again what is set again. */
function writeText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
