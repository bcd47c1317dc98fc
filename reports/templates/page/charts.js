// The four charts of a state: what each draws, says and tabulates.

const STACK = ["weights", "kv", "state", "workspace", "draft"];

/** Bounds around values on a logarithmic axis. */
function around(values, room = 2) {
  const real = values.filter((v) => Number.isFinite(v) && v > 0);
  return { low: Math.min(...real) / room, high: Math.max(...real) * room };
}

/** Whole numbers from 1, 2, 5, 10 … up that hold a value. */
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((m) => m * power).find((v) => v >= value * (1 - 1e-9));
}

function alike(a, b) {
  return Math.abs(a - b) <= 1e-6 * Math.abs(b);
}

function rooflineData(page, state, figures) {
  const w = page.words;
  const points = [];
  const shapes = [];
  const key = [];
  for (const phase of ["prefill", "decode"]) {
    const of = (name) => figures[`${phase}.${name}`];
    const [x, y, flops] = [of("intensity"), of("attainable_flops"), of("flops")];
    if (![x, y, flops].every(Number.isFinite)) continue;
    const expected = flops / of("expected_s");
    const named = (look, words, value) => {
      const name = fill(words, { phase: w[phase] });
      return { x, y: value, phase, look, name, text: `${name}: ${short(x)} FLOP/byte, ${scaled(value, "FLOP/s")}` };
    };
    points.push({ ...named("roof", w.bound_attainable, y), peak: y * Math.max(1, of("ridge") / x), ridge: of("ridge") });
    points.push(named("expected", w.bound_expected, expected));
  }
  const roofs = points.filter((p) => p.look === "roof");
  const xs = around([...points.map((p) => p.x), ...roofs.map((p) => p.ridge)], 3);
  const ys = around([...points.map((p) => p.y), ...roofs.map((p) => p.peak)], 2.5);
  const one = roofs.length === 2 && alike(roofs[0].ridge, roofs[1].ridge) && alike(roofs[0].peak, roofs[1].peak);
  for (const { phase, peak, ridge } of one ? roofs.slice(1) : roofs) {
    if (!Number.isFinite(ridge)) continue;
    const name = one ? w.roofline : fill(w.bound_roof, { phase: w[phase] });
    const look = one ? "c-ceiling" : `c-${phase}${phase === "decode" ? " dash" : ""}`;
    const slope = peak / ridge;
    const start = Math.max(xs.low, ys.low / slope);
    shapes.push({ kind: "line", look, points: [[start, slope * start], [ridge, peak], [xs.high, peak]] });
    shapes.push({ kind: "line", look: `${look} thin dash`, points: [[ridge, ys.low], [ridge, peak]] });
    const text = `${name}: ${w.ridge} ${short(ridge)}; ${scaled(peak, "FLOP/s")}, ${scaled(slope, "B/s")}`;
    points.push({ x: ridge, y: peak, text, name: `${name}: ${w.ridge.split(",")[0]}`, look: "ridge" });
    key.push([name, `stroke ${look}`]);
  }
  for (const { x, y, phase, look } of points) {
    if (look === "roof") shapes.push({ kind: "line", look: `c-${phase} thin`, points: [[x, y], [x, points.find((p) => p.phase === phase && p.look === "expected").y]] });
  }
  for (const { x, y, phase, look } of points) {
    if (look !== "ridge") shapes.push({ kind: "mark", x, y, look: look === "roof" ? `hollow c-${phase}` : `f-${phase}` });
  }
  for (const { phase } of roofs) key.push([fill(w.bound_attainable, { phase: w[phase] }), `ring c-${phase}`], [fill(w.bound_expected, { phase: w[phase] }), `dot f-${phase}`]);
  points.sort((a, b) => a.x - b.x || b.y - a.y);
  return {
    x: { ...xs, log: true, name: w.axis_intensity, shown: (v) => short(v, 2) },
    y: { ...ys, log: true, name: w.axis_flops, shown: (v) => scaled(v, "", 1) },
    shapes,
    key,
    points,
    free: true,
    now: figures["decode.intensity"],
    summary: `${points.filter((p) => p.look === "expected").map((p) => p.text).join("; ")}.`,
    headers: [w.figure, w.axis_intensity, w.axis_flops],
    rows: points.map((p) => [p.name, short(p.x), scaled(p.y)]),
  };
}

const CURVES = new WeakMap();

/** The values of an axis and the figures along it, once for a state: from 1 up, the state's own value among them. */
function curveOver(page, state, name, most) {
  if (!CURVES.has(state)) CURVES.set(state, {});
  const known = CURVES.get(state);
  known[name] ??= curveMade(page, state, name, most);
  return known[name];
}

function curveMade(page, state, name, most) {
  const value = state.values[name];
  const high = Math.max(most, 2 * value);
  const xs = [...spread(high, high > 4096 ? 4 : 8), Math.max(1, value)];
  const sorted = [...new Set(xs)].sort((a, b) => a - b);
  return { xs: sorted, high, value: Math.max(1, value), found: curve(page, state, name, sorted) };
}

function tpsOverContext(page, state) {
  const w = page.words;
  const { xs, high, value, found } = curveOver(page, state, "context", 131072);
  const line = (name) => xs.map((x, i) => [x, found[i][name]]);
  const text = (f, x) =>
    `${w.axis_context} ${grouped(x, 0)}: ${short(f["tps.expected"])} tok/s (${short(f["tps.low"])} – ${short(f["tps.high"])}), ` +
    `${w.ceiling.toLowerCase()} ${short(f["tps.ceiling"])}`;
  return {
    x: { low: 1, high, log: true, tokens: true, name: w.axis_context, shown: tokens },
    y: { ...speedAxis(found), name: w.axis_tps },
    shapes: [
      { kind: "area", look: "c-band", points: line("tps.high"), lower: line("tps.low") },
      { kind: "line", look: "c-ceiling dash", points: line("tps.ceiling") },
      { kind: "line", look: "c-decode", points: line("tps.expected") },
      { kind: "now", x: value, text: w.here },
    ],
    key: [[w.ceiling, "stroke dash c-ceiling"], [w.expected, "stroke c-decode"], [w.span, "c-band"]],
    points: xs.map((x, i) => ({ x, y: found[i]["tps.expected"], text: text(found[i], x) })),
    now: value,
    summary: `${text(found[xs.indexOf(value)], value)}.`,
    headers: [w.axis_context, w.ceiling, w.expected, w.span],
    rows: xs.map((x, i) => [grouped(x, 0), short(found[i]["tps.ceiling"]), short(found[i]["tps.expected"]), spanOf(found[i], "tps")]),
  };
}

/** From 0, or logarithmic where the ceiling would leave the rest on the floor. */
function speedAxis(found) {
  const of = (name) => found.map((f) => f[name]);
  const top = Math.max(...of("tps.ceiling"));
  if (top < 8 * Math.max(...of("tps.expected"))) return { low: 0, high: roundUp(top), shown: (v) => short(v, 2) };
  return { ...around([...of("tps.ceiling"), ...of("tps.low")], 1.3), log: true, shown: rateShown };
}

function rateShown(value) {
  return value < 1 ? String(Number(value.toPrecision(1))) : scaled(value, "", 1);
}

/** From low to high; a line breaks after the dash alone, never between a number and its unit. */
function spanOf(figures, name, shown = short) {
  const kept = (value) => shown(value).replace(" ", "\u00a0");
  return `${kept(figures[`${name}.low`])}\u00a0– ${kept(figures[`${name}.high`])}`;
}

function tpsOverBatch(page, state) {
  const w = page.words;
  const { xs, high, value, found } = curveOver(page, state, "batch", 256);
  const line = (name) => xs.map((x, i) => [x, found[i][name]]);
  const users = found.map((f) => f["tps.expected"]);
  const all = found.map((f) => f.system_tps);
  const text = (f, x) => `${w.axis_batch} ${grouped(x, 0)}: ${w.per_user} ${short(f["tps.expected"])}, ${w.all_users} ${short(f.system_tps)} tok/s`;
  return {
    x: { low: 1, high, log: true, tokens: true, name: w.axis_batch, shown: tokens },
    y: { ...around([...users, ...all], 1.6), log: true, name: w.axis_tps, shown: rateShown },
    shapes: [
      { kind: "line", look: "c-decode", points: line("tps.expected") },
      { kind: "line", look: "c-prefill dash", points: line("system_tps") },
      { kind: "now", x: value, text: w.here },
    ],
    key: [[w.per_user, "stroke c-decode"], [w.all_users, "stroke dash c-prefill"]],
    points: xs.map((x, i) => ({ x, y: users[i], text: text(found[i], x) })),
    now: value,
    summary: `${text(found[xs.indexOf(value)], value)}.`,
    headers: [w.axis_batch, w.per_user, w.all_users],
    rows: xs.map((x, i) => [grouped(x, 0), short(users[i]), short(all[i])]),
  };
}

function memoryOverContext(page, state, figures) {
  const w = page.words;
  const { program } = programOf(page, state);
  const { xs, high, value, found } = curveOver(page, state, "context", 131072);
  if (!Number.isFinite(found[0]["memory.total_bytes"])) return memoryAtPoint(w, high, value, program, figures);
  const parts = STACK.filter((name) => found.some((f) => f[`memory.${name}_bytes`] > 0));
  const top = roundUp(Math.max(found[xs.indexOf(value)]["memory.total_bytes"], found[xs.length - 1]["memory.total_bytes"], program.usable || 0) / 1e9);
  const stacked = found.map((f) => parts.map((_, i) => parts.slice(0, i + 1).reduce((sum, n) => sum + f[`memory.${n}_bytes`], 0) / 1e9));
  const edge = (i) => xs.map((x, at) => [x, i < 0 ? 0 : stacked[at][i]]);
  const usable = program.usable === null ? null : program.usable / 1e9;
  const text = (f, x) => `${w.axis_context} ${grouped(x, 0)}: ${parts.map((n) => `${w[n]} ${scaled(f[`memory.${n}_bytes`], "B")}`).join(", ")}; ${w.total.toLowerCase()} ${scaled(f["memory.total_bytes"], "B")}`;
  return {
    x: { low: 1, high, log: true, tokens: true, name: w.axis_context, shown: tokens },
    y: { low: 0, high: top, name: w.axis_bytes, shown: (v) => short(v, 2) },
    shapes: [
      ...parts.map((name, i) => ({ kind: "area", look: `f-${name}`, points: edge(i), lower: edge(i - 1) })),
      ...(usable === null ? [] : [{ kind: "across", look: "c-limit thin dash", y: usable, text: w.usable }]),
      { kind: "now", x: value, text: w.here },
    ],
    key: [...parts.map((name) => [w[name], `f-${name}`]), ...(usable === null ? [] : [[w.usable, "stroke dash c-limit"]])],
    points: xs.map((x, i) => ({ x, y: found[i]["memory.total_bytes"] / 1e9, text: text(found[i], x) })),
    now: value,
    summary: `${text(found[xs.indexOf(value)], value)}.`,
    headers: [w.axis_context, ...parts.map((n) => w[n]), w.total],
    rows: xs.map((x, i) => [grouped(x, 0), ...[...parts, "total"].map((n) => scaled(found[i][`memory.${n}_bytes`], "B"))]),
  };
}

/** Memory that has no formula: the study's point, while nothing has been moved. */
function memoryAtPoint(w, high, value, program, figures) {
  const total = figures["memory.total_bytes"];
  const known = Number.isFinite(total);
  const limit = program.usable === null ? [] : [{ kind: "across", look: "c-limit thin dash", y: program.usable / 1e9, text: w.usable }];
  const text = `${w.axis_context} ${grouped(value, 0)}: ${w.total.toLowerCase()} ${scaled(total, "B")}`;
  return {
    x: { low: 1, high, log: true, tokens: true, name: w.axis_context, shown: tokens },
    y: { low: 0, high: roundUp(Math.max(known ? total : 1, program.usable || 0) / 1e9), name: w.axis_bytes, shown: (v) => short(v, 2) },
    shapes: [...limit, ...(known ? [{ kind: "mark", x: value, y: total / 1e9, look: "f-decode" }] : []), { kind: "now", x: value, text: w.here }],
    key: [...(known ? [[w.total, "dot f-decode"]] : []), ...limit.map(({ look }) => [w.usable, `stroke ${look}`])],
    points: known ? [{ x: value, y: total / 1e9, text }] : [],
    now: value,
    summary: known ? `${text}. ${w.no_formula}.` : `${w.no_formula}.`,
    headers: [w.axis_context, w.total],
    rows: known ? [[grouped(value, 0), scaled(total, "B")]] : [],
  };
}
