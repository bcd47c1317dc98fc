// One chart: axes, lines, areas and marks in SVG; its points are read by pointer or arrow keys, and stand in a table below.

const SVG = "http://www.w3.org/2000/svg";
const MARGIN = { left: 58, right: 14, top: 12, bottom: 40 };

function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** A scale from values to pixels; `log` or linear. */
function axisScale(log, low, high, from, to) {
  const f = log ? Math.log : (x) => x;
  const [a, b] = [f(low), f(high)];
  return (value) => from + ((f(value) - a) / (b - a || 1)) * (to - from);
}

/** Round values between two bounds: about `count` of them. */
function ticks(axis, count) {
  const { low, high } = axis;
  if (axis.tokens) return powers(2, low, high, count);
  if (axis.log) return powers(10, low, high, count);
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw);
  const found = [];
  for (let i = Math.ceil(low / step); i * step <= high * (1 + 1e-9); i++) found.push(i * step);
  return found;
}

function powers(base, low, high, count) {
  const [first, last] = [Math.ceil(Math.log(low) / Math.log(base) - 1e-9), Math.floor(Math.log(high) / Math.log(base) + 1e-9)];
  const every = Math.max(1, Math.ceil((last - first + 1) / count));
  const found = [];
  for (let i = first; i <= last; i += every) found.push(base ** i);
  if (base === 10 && found.length < 3) {
    const more = [];
    for (let i = first - 1; i <= last + 1; i++) more.push(...[1, 2, 5].map((m) => m * 10 ** i));
    return more.filter((v) => v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9));
  }
  return found;
}

class Chart {
  constructor(place, title, words) {
    this.words = words;
    this.title = title;
    this.cursor = null;
    this.drawing = element("div", { className: "drawing", tabIndex: 0 });
    this.drawing.setAttribute("role", "group");
    this.key = element("ul", { className: "key" });
    this.readout = element("p", { className: "readout" });
    this.readout.setAttribute("aria-live", "polite");
    this.table = element("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: title });
    this.details = element("details", {}, element("summary", { textContent: words.chart_data }), this.table);
    const caption = element("figcaption", { textContent: title });
    this.figure = element("figure", {}, caption, this.drawing, this.key, this.readout, this.details);
    place.append(this.figure);
    this.drawing.addEventListener("keydown", (event) => this.pressed(event));
    this.drawing.addEventListener("pointermove", (event) => this.pointed(event));
    this.drawing.addEventListener("pointerdown", (event) => this.pointed(event));
    this.drawing.addEventListener("pointerleave", () => this.point(null));
    this.drawing.addEventListener("blur", () => this.point(null));
    this.details.addEventListener("toggle", () => this.tabulate());
    new ResizeObserver(() => this.draw()).observe(this.drawing);
  }

  /** `data`: x and y axes, shapes, key, points ({x, y, text}), now (x), headers and rows, summary. */
  show(data) {
    this.data = data;
    if (this.cursor !== null) this.cursor = Math.min(this.cursor, data.points.length - 1);
    this.draw();
    this.key.replaceChildren(...data.key.map(([name, look]) => element("li", {}, element("i", { className: look, ariaHidden: "true" }), name)));
    this.drawing.setAttribute("aria-label", `${this.title}. ${data.summary} ${this.words.chart_hint}`);
    this.tabulate();
    this.tell();
  }

  draw() {
    if (!this.data) return;
    const width = Math.max(240, Math.round(this.drawing.clientWidth));
    const height = Math.round(Math.min(340, Math.max(220, width * 0.6)));
    const { x, y } = this.data;
    this.sx = axisScale(x.log, x.low, x.high, MARGIN.left, width - MARGIN.right);
    this.sy = axisScale(y.log, y.low, y.high, height - MARGIN.bottom, MARGIN.top);
    this.size = { width, height };
    const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true", focusable: "false" });
    root.append(...this.axes(), ...this.data.shapes.map((shape) => this.shape(shape)).filter(Boolean));
    this.pin = svg("g");
    root.append(this.pin);
    this.drawing.replaceChildren(root);
    this.tell();
  }

  axes() {
    const { x, y } = this.data;
    const { width, height } = this.size;
    const [left, right, top, bottom] = [MARGIN.left, width - MARGIN.right, MARGIN.top, height - MARGIN.bottom];
    const parts = [];
    for (const value of ticks(y, 5)) {
      const at = this.sy(value);
      parts.push(svg("line", { class: "grid", x1: left, x2: right, y1: at, y2: at }));
      parts.push(svg("text", { x: left - 6, y: at + 4, "text-anchor": "end" }, y.shown(value)));
    }
    for (const value of ticks(x, Math.max(3, Math.floor(width / 75)))) {
      const at = this.sx(value);
      parts.push(svg("line", { class: "grid", x1: at, x2: at, y1: top, y2: bottom }));
      parts.push(svg("text", { x: at, y: bottom + 16, "text-anchor": "middle" }, x.shown(value)));
    }
    parts.push(svg("path", { class: "axis", fill: "none", d: `M${left},${top}V${bottom}H${right}` }));
    parts.push(svg("text", { x: right, y: height - 6, "text-anchor": "end" }, x.name));
    parts.push(svg("text", { x: left + 6, y: top + 10 }, y.name));
    return parts;
  }

  /** A line, a band between two lines, a mark, a line across, or a line up where the state is. */
  shape({ kind, look, points, lower, x, y, text }) {
    const at = ([a, b]) => `${this.sx(a).toFixed(2)},${this.sy(this.held(b)).toFixed(2)}`;
    const { width, height } = this.size;
    if (kind === "line") return svg("path", { class: `line ${look}`, d: `M${points.map(at).join("L")}` });
    if (kind === "area") return svg("path", { class: look, d: `M${points.map(at).join("L")}L${[...lower].reverse().map(at).join("L")}Z` });
    if (kind === "mark") return svg("circle", { class: `mark ${look}`, cx: this.sx(x), cy: this.sy(this.held(y)), r: 5.5 });
    if (kind === "across") {
      const up = this.sy(y);
      const name = svg("text", { x: MARGIN.left + 6, y: up - 5 }, text);
      return svg("g", {}, svg("line", { class: `line ${look}`, x1: MARGIN.left, x2: width - MARGIN.right, y1: up, y2: up }), name);
    }
    const [here, end] = [this.sx(x), this.sx(this.data.x.high)];
    const late = here > (MARGIN.left + end) / 2;
    const name = svg("text", { x: here + (late ? -5 : 5), y: height - MARGIN.bottom - 6, "text-anchor": late ? "end" : "start" }, text);
    return svg("g", {}, svg("line", { class: "now", x1: here, x2: here, y1: MARGIN.top, y2: height - MARGIN.bottom }), name);
  }

  held(y) {
    return Math.min(this.data.y.high, Math.max(this.data.y.low, y));
  }

  pressed(event) {
    const last = this.data.points.length - 1;
    const start = this.cursor ?? this.nearest(this.data.now);
    const next = { ArrowRight: start + 1, ArrowUp: start + 1, ArrowLeft: start - 1, ArrowDown: start - 1, Home: 0, End: last }[event.key];
    if (event.key === "Escape") this.point(null);
    if (next === undefined) return;
    event.preventDefault();
    this.point(Math.min(last, Math.max(0, this.cursor === null && !["Home", "End"].includes(event.key) ? start : next)));
  }

  pointed(event) {
    const box = this.drawing.getBoundingClientRect();
    const scale = this.size.width / box.width;
    this.point(this.nearestPixel((event.clientX - box.left) * scale, (event.clientY - box.top) * scale));
  }

  nearest(x) {
    const away = this.data.points.map((p) => Math.abs(this.sx(p.x) - this.sx(x)));
    return away.indexOf(Math.min(...away));
  }

  nearestPixel(px, py) {
    const weight = this.data.free ? 1 : 0;
    const away = this.data.points.map((p) => Math.abs(this.sx(p.x) - px) + weight * Math.abs(this.sy(this.held(p.y)) - py));
    return away.indexOf(Math.min(...away));
  }

  point(index) {
    this.cursor = index;
    this.tell();
  }

  /** The point that is read, in the drawing and as text; without one, the summary. */
  tell() {
    if (!this.data || !this.pin) return;
    const point = this.cursor === null ? null : this.data.points[this.cursor];
    const text = point ? point.text : this.data.summary;
    if (this.readout.textContent !== text) this.readout.textContent = text;
    this.readout.setAttribute("aria-live", point ? "polite" : "off");
    if (!point) return this.pin.replaceChildren();
    const [x, y] = [this.sx(point.x), this.sy(this.held(point.y))];
    const line = svg("line", { class: "cursor", x1: x, x2: x, y1: MARGIN.top, y2: this.size.height - MARGIN.bottom });
    this.pin.replaceChildren(line, svg("circle", { class: "mark hollow c-decode", cx: x, cy: y, r: 6 }));
  }

  /** The chart's points as a table, while it is open. */
  tabulate() {
    if (!this.details.open || !this.data) return;
    const { headers, rows } = this.data;
    const head = element("thead", {}, element("tr", {}, ...headers.map((h) => element("th", { scope: "col", textContent: h }))));
    const body = element("tbody", {});
    for (const [first, ...rest] of rows) {
      body.append(element("tr", {}, element("th", { scope: "row", textContent: first }), ...rest.map((c) => element("td", { textContent: c }))));
    }
    const caption = element("caption", { className: "unseen", textContent: this.title });
    this.table.replaceChildren(element("table", { className: "numbers" }, caption, head, body));
  }
}
