// The figures of a state: cards, and tables as `costmodel predict` prints them.

/** Rows of the table of speeds: name, floor, expected, span. */
function speedRows(w, f) {
  const row = (name, shown, bound) => [w[name.replace("_s", "")], bound, shown(f[`${name}.expected`]), spanOf(f, name, shown)];
  return [
    row("tps", short, `${short(f["tps.ceiling"])} (${w.ceiling.toLowerCase()})`),
    [w.system_tps, "", short(f.system_tps), ""],
    row("tpot_s", seconds, seconds(f["tpot_s.floor"])),
    row("ttft_s", seconds, seconds(f["ttft_s.floor"])),
  ];
}

/** Rows of what the steps are made of: name, prefill, decode. */
function termRows(w, f) {
  const both = (name, key, shown) => [name, shown(f[`prefill.${key}`]), shown(f[`decode.${key}`])];
  const size = (v) => scaled(v, "B");
  const rate = (v) => scaled(v, "FLOP/s");
  const bytes = ["weights", "kv", "state", "activations"].filter((k) => f[`decode.bytes_by.${k}`] || f[`prefill.bytes_by.${k}`]);
  const rows = [both(w.flops, "flops", (v) => scaled(v, "FLOP"))];
  for (const kind of bytes) rows.push(both(fill(w.bytes_of, { what: w[kind] }), `bytes_by.${kind}`, size));
  rows.push(both(w.bytes, "bytes", size));
  if (f["decode.link_bytes"] || f["prefill.link_bytes"]) rows.push(both(w.link_bytes, "link_bytes", size));
  rows.push(both(w.intensity, "intensity", short), both(w.ridge, "ridge", short), both(w.attainable, "attainable_flops", rate));
  for (const key of ["compute_s", "memory_s", "link_s"]) {
    if (key !== "link_s" || f["decode.link_s"] || f["prefill.link_s"]) rows.push(both(w[key], key, seconds));
  }
  rows.push(both(w.regime, "regime", (v) => regimeName(w, v)), both(w.floor_s, "floor_s", seconds), both(w.expected_s, "expected_s", seconds));
  return rows;
}

function regimeName(w, value) {
  return value === null || value === undefined ? "-" : w[`regime.${REGIMES[value]}`];
}

/** Rows of memory: name, bytes. */
function memoryRows(w, f, program) {
  const rows = STACK.filter((n) => f[`memory.${n}_bytes`]).map((n) => [w[n], bothBytes(f[`memory.${n}_bytes`])]);
  rows.push([w.total, bothBytes(f["memory.total_bytes"])]);
  if (program.usable !== null) rows.push([w.usable, bothBytes(program.usable)]);
  for (const tier of ["host", "disk"]) {
    const held = ["weights", "kv", "state", "workspace"].reduce((sum, n) => sum + (f[`memory.tiers.${tier}.${n}_bytes`] || 0), 0);
    const most = program.tiers[tier];
    if (held) rows.push([w[`${tier}_memory`], bothBytes(held)]);
    if (held && most) rows.push([fill(w.usable_of, { what: w[`${tier}_memory`] }), bothBytes(most)]);
  }
  return rows;
}

function table(caption, headers, rows, look = "") {
  const head = headers.length ? [element("thead", {}, element("tr", {}, ...headers.map((h) => element("th", { scope: "col", textContent: h }))))] : [];
  const line = ([name, ...cells]) => element("tr", {}, element("th", { scope: "row", textContent: name }), ...cells.map((c) => element("td", { textContent: c })));
  const made = element("table", { className: `numbers ${look}` }, element("caption", { textContent: caption }), ...head, element("tbody", {}, ...rows.map(line)));
  return element("div", { className: "scroll" }, made);
}

/** What a fit comes to: [text, class]. */
function fitOf(w, f, program) {
  if (program.usable === null) return [w.fits_unknown, ""];
  if (!Number.isFinite(f["memory.total_bytes"])) return [w.no_formula, ""];
  if (f["memory.total_bytes"] > program.usable) return [w.misfit, "bad"];
  return f["memory.fits"] === 0 ? [w.lower_misfit, "bad"] : [w.fits, "good"];
}

/** The cards: {id, what, value, more, look, base} of the state; `base` are the figures at the study's point. */
function cardsOf(page, state, f, base) {
  const w = page.words;
  const { program } = programOf(page, state);
  const [fit, look] = fitOf(w, f, program);
  const of = program.usable === null ? "" : fill(w.of_usable, { usable: scaled(program.usable, "B") });
  const each = program.devices > 1 ? fill(w.each_of, { devices: program.devices }) : "";
  const told = (value, floor, span) => `${w.floor.toLowerCase()} ${floor}, ${w.span} ${span}`;
  const timed = (name) => told(null, seconds(f[`${name}.floor`]), spanOf(f, name, seconds));
  return [
    { id: "tps", what: w.tps, value: short(f["tps.expected"]), more: `${w.ceiling.toLowerCase()} ${short(f["tps.ceiling"])}, ${w.span} ${spanOf(f, "tps")}`, from: short(base["tps.expected"]) },
    { id: "tpot", what: w.tpot, value: seconds(f["tpot_s.expected"]), more: timed("tpot_s"), from: seconds(base["tpot_s.expected"]) },
    { id: "ttft", what: w.ttft, value: seconds(f["ttft_s.expected"]), more: f["ttft_s.expected"] === null ? w.no_formula : timed("ttft_s"), from: seconds(base["ttft_s.expected"]) },
    { id: "memory", what: w.memory, value: scaled(f["memory.total_bytes"], "B"), more: [of, each].filter(Boolean).join(", "), flag: fit, look, from: scaled(base["memory.total_bytes"], "B") },
    {
      id: "regime",
      what: `${w.decode}: ${w.regime.toLowerCase()}`,
      value: regimeName(w, f["decode.regime"]),
      more: `${short(f["decode.intensity"])} FLOP/byte, ${w.ridge.split(",")[0].toLowerCase()} ${short(f["decode.ridge"])}`,
      from: regimeName(w, base["decode.regime"]),
    },
  ];
}

function showCards(place, page, state, figures, base) {
  const w = page.words;
  const cards = cardsOf(page, state, figures, base).map(({ id, what, value, more, flag, look, from }) => {
    const made = element("div", { className: "card", id: `card-${id}` });
    made.append(element("span", { className: "what", textContent: what }), element("span", { className: "value", textContent: value }));
    made.append(element("span", { className: "more", textContent: more }));
    if (flag) made.append(element("span", { className: `more flag ${look}`, textContent: flag }));
    made.append(element("span", { className: "from", textContent: from === value ? "" : fill(w.changed, { value: from }) }));
    return made;
  });
  place.replaceChildren(...cards);
}

function showFigures(place, page, state, f) {
  const w = page.words;
  const { program } = programOf(page, state);
  const speed = [...speedRows(w, f), [w.rule, "", short(f["tps.rule_of_thumb"]), ""]];
  if (f.tokens_out !== 1) speed.push([w.tokens_out, "", short(f.tokens_out), ""]);
  const left = element("div", {}, table(w.speed, ["", w.floor, w.expected, w.span], speed, "spans"), table(w.memory_held, [], memoryRows(w, f, program)));
  place.replaceChildren(left, table(w.terms, ["", w.prefill, w.decode], termRows(w, f)));
}
