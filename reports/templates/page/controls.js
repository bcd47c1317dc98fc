// The form: choices of a case, sliders with number fields.

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

const FIRST = new Set(["context", "batch", "bw", "decode_bw", "bits"]);

class Controls {
  /** `changed(state)` is called with the next state. */
  constructor(page, changed) {
    this.page = page;
    this.changed = changed;
    this.words = page.words;
    this.choices = document.getElementById("choices");
    this.places = [document.getElementById("sliders"), document.getElementById("more-sliders")];
    document.getElementById("reset").addEventListener("click", () => this.changed(untouched(page, this.state.index)));
    document.getElementById("controls").addEventListener("submit", (event) => event.preventDefault());
    this.selects = page.axes.map((axis) => this.choice(axis));
  }

  /** One axis of the study as a list of choices. */
  choice(axis) {
    const names = [...new Set(this.page.cases.map((one) => one.labels[axis]))];
    const select = element("select", { id: `choice-${axis}` }, ...names.map((name) => element("option", { value: name, textContent: name })));
    select.addEventListener("change", () => this.changed(untouched(this.page, this.nearestCase(axis, select.value))));
    this.choices.append(element("div", { className: "field" }, element("label", { htmlFor: select.id, textContent: this.words[axis] }), select));
    return { axis, select };
  }

  /** The case with a label on one axis that has most of its other labels as they are. */
  nearestCase(axis, label) {
    const now = this.page.cases[this.state.index].labels;
    const alike = (one) => this.page.axes.filter((a) => one.labels[a] === now[a]).length;
    const found = this.page.cases.map((one, index) => ({ one, index })).filter(({ one }) => one.labels[axis] === label);
    return found.reduce((best, next) => (alike(next.one) > alike(best.one) ? next : best)).index;
  }

  /** Show a state: new fields where another case is chosen, else their values. */
  show(state) {
    const another = !this.state || this.state.index !== state.index;
    this.state = state;
    if (another) this.build();
    this.fields.forEach((field) => field.update(state));
  }

  build() {
    const { labels, controls } = this.page.cases[this.state.index];
    for (const { axis, select } of this.selects) select.value = labels[axis];
    this.described(labels);
    this.places.forEach((place) => place.replaceChildren());
    this.fields = [];
    for (const control of controls) {
      if (control.kind === "bits") this.formatChoice();
      const more = !FIRST.has(control.id) && !control.id.startsWith("knob_");
      this.fields.push(this.slider(control, this.places[more ? 1 : 0]));
    }
  }

  /** What of the case cannot be chosen, as text. */
  described(labels) {
    this.choices.querySelector("dl")?.remove();
    const list = element("dl", { className: "case" });
    for (const name of ["model", "hardware", "engine", "used", "sets"]) {
      if (this.page.axes.includes(name) || (name === "used" && this.page.axes.includes("technique") && labels.technique === labels.used)) continue;
      if (name === "sets" && !labels.sets) continue;
      list.append(element("dt", { textContent: this.words[name] }), element("dd", { textContent: labels[name] || this.words.none }));
    }
    this.choices.append(list);
  }

  /** The compiled formats of the case as a list. */
  formatChoice() {
    const formats = formatsOf(this.page, this.state.index);
    if (formats.length < 2) return;
    const text = (one) => `${one.name} (${short(one.bits)} bit)`;
    const select = element("select", { id: "format" }, ...formats.map((one) => element("option", { value: one.place, textContent: text(one) })));
    select.addEventListener("change", () => this.changed(withFormat(this.page, this.state, Number(select.value))));
    const label = element("label", { htmlFor: "format", textContent: this.words.format });
    this.places[0].append(element("div", { className: "field" }, label, select));
    this.fields.push({ update: (state) => (select.value = state.format) });
  }

  /** A slider and a number field of one control. */
  slider(control, place) {
    const scale = scaleOf(this.page, this.state.index, control);
    const label = control.label || this.words[control.id] || fill(this.words.link, { name: control.id });
    const id = `s-${control.id}`;
    const range = element("input", { type: "range", id, min: scale.min, max: scale.max, step: scale.step });
    const number = element("input", { type: "number", id: `n-${control.id}`, min: control.min, max: control.max, step: "any", inputMode: "decimal" });
    number.setAttribute("aria-label", label);
    const hint = element("p", { className: "hint", id: `h-${control.id}` });
    for (const one of [range, number]) one.setAttribute("aria-describedby", hint.id);
    const name = element("label", { htmlFor: id, textContent: label });
    const box = element("div", { className: "field" }, name, element("div", { className: "pair" }, range, number), hint);
    const set = (value) => this.changed(withValue(this.page, this.state, control, value));
    range.addEventListener("input", () => set(scale.value(Number(range.value))));
    number.addEventListener("change", () => {
      const typed = Number(number.value);
      set(number.value === "" || !Number.isFinite(typed) ? this.state.values[control.id] : allowed(control, typed));
    });
    place.append(box);
    return { update: (state) => this.update(state, control, { scale, range, number, hint, box }) };
  }

  update(state, control, { scale, range, number, hint, box }) {
    const value = state.values[control.id];
    range.value = scale.at(value);
    const exact = control.kind === "count" || control.kind === "whole";
    number.value = exact ? value : Number(value.toPrecision(5));
    const told = exact ? grouped(value, 0) : short(value, 4);
    const start = untouched(this.page, state.index).values[control.id];
    const moved = value !== start;
    box.classList.toggle("changed", moved);
    const from = moved ? `(${fill(this.words.changed, { value: exact ? grouped(start, 0) : short(start, 4) })})` : "";
    const about = this.hintOf(state, control);
    hint.textContent = [about, from].filter(Boolean).join(" ");
    range.setAttribute("aria-valuetext", [told, control.unit].filter(Boolean).join(" "));
  }

  hintOf(state, control) {
    if (control.kind === "bits") {
      const { program, scale } = programOf(this.page, state);
      const one = this.page.cases[state.index].programs.length < 2 ? this.words.one_format : "";
      if (scale === 1) return [fill(this.words.exact, { format: program.format }), one].filter(Boolean).join(" ");
      return fill(this.words.scaled, { format: program.format, bits: short(program.bits), factor: short(scale) });
    }
    if (control.id === "context") return beyond(this.page, state);
    if (control.id === "kv_bits") return this.words.kv_hint;
    if (control.type) return fill(this.words.pk_hint, { type: control.type });
    return control.hint || "";
  }
}
