// Axes: the rules of sweeps/picture/axis.cpp.

const kEqualValues = 1e-12;

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

// Zoom --------------------------------------------------------------------------------------------

/** As few digits as distinguish the ends of a range, so that the address stays short. */
function roundedFor(value, span) {
  const digits = Math.ceil(Math.log10(Math.max(1, Math.abs(value) / span))) + 4;
  return Number(value.toPrecision(clamp(digits, 4, 17)));
}

/** The values at two pixels of an axis, the lower one first. */
function limitsAt(axis, from, to) {
  const [low, high] = [axis.value(from), axis.value(to)].sort((a, b) => a - b);
  return [roundedFor(low, high - low), roundedFor(high, high - low)];
}

/** The limits of x when a plot is zoomed around a pixel; null where they would fall together. */
function zoomedLimits({x, left, right, allX}, middle, factor) {
  const [low, high] = limitsAt(x, middle - (middle - left) * factor,
                               middle + (right - middle) * factor);
  if (!(low < high)) return null;
  return {x0: low <= allX.low ? null : low, x1: high >= allX.high ? null : high};
}
