// Numbers as the command line prints them (costmodel/sizes.py).

const STEPS = [[1e18, "E"], [1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];

function grouped(value, decimals) {
  return value.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

/** A number with so many significant digits. */
function short(value, digits = 3) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "-";
  if (value === 0) return "0";
  let size = Math.abs(value);
  if (size >= 10 ** digits) return grouped(value, 0);
  size = Number(size.toExponential(digits - 1));
  const decimals = Math.max(0, digits - 1 - Number(size.toExponential().split("e")[1]));
  return decimals < 9 ? value.toFixed(decimals) : value.toExponential(digits - 1).replace(/e([+-])(\d)$/, "e$10$2");
}

/** `1.23 GB`: three significant digits and a decimal prefix. */
function scaled(value, unit = "", digits = 3) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "-";
  for (const [step, prefix] of STEPS) {
    if (Math.abs(value) >= step * 0.9995) return `${short(value / step, digits)} ${prefix}${unit}`;
  }
  return `${short(value, digits)} ${unit}`.trimEnd();
}

/** `12.1 s`, `50.6 ms`, `820 us`. */
function seconds(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "-";
  for (const [step, unit] of [[1, "s"], [1e-3, "ms"], [1e-6, "us"]]) {
    if (value >= step * 0.9995) return `${short(value / step)} ${unit}`;
  }
  return value ? `${short(value / 1e-9)} ns` : "0 s";
}

/** Decimal and binary: `141 GB = 131.3 GiB`. */
function bothBytes(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "-";
  if (Math.abs(value) < 1e6) return `${grouped(value, 0)} B`;
  const small = Math.abs(value) < 1e9;
  const binary = value / 2 ** (small ? 20 : 30);
  return `${short(value / (small ? 1e6 : 1e9))} ${small ? "MB" : "GB"} = ${short(binary)} ${small ? "MiB" : "GiB"}`;
}

/** Counts of tokens: `8k` for 8192. */
function tokens(value) {
  for (const [step, name] of [[2 ** 20, "M"], [1024, "k"]]) {
    if (value >= step && value % step === 0) return `${value / step}${name}`;
  }
  return grouped(value, 0);
}

/** A text with `{name}` replaced. */
function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (all, name) => (name in values ? String(values[name]) : all));
}
