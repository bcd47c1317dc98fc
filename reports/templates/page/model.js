// What is chosen and what follows from it: no document here, so that it runs in node as well.

/** The state of a case at the study's point: every control by its id. */
function untouched(page, index) {
  const chosen = page.cases[index];
  const values = {};
  for (const control of chosen.controls) {
    values[control.id] = control.kind === "bits" ? page.programs[chosen.programs[0]].bits : control.value;
  }
  return { index, values, format: 0 };
}

/** Formats of a case by their bits, the lowest first: {bits, program, name, place} where place counts the case's programs. */
function formatsOf(page, index) {
  const all = page.cases[index].programs.map((number, place) => {
    const program = page.programs[number];
    return { bits: program.bits, program: number, name: program.format, place };
  });
  return all.sort((a, b) => a.bits - b.bits || a.place - b.place);
}

/** The program that a state uses, and by how much its bytes of weights are scaled. */
function programOf(page, state) {
  const number = page.cases[state.index].programs[state.format];
  const program = page.programs[number];
  return { program, scale: state.values.bits === program.bits ? 1 : state.values.bits / program.bits };
}

/** The place of the compiled format that is nearest to so many bits. */
function nearest(page, index, bits) {
  const far = (one) => Math.abs(Math.log(one.bits / bits));
  return formatsOf(page, index).reduce((best, one) => (far(one) < far(best) ? one : best)).place;
}

/** The inputs of the formulas in a state. */
function inputsOf(page, state) {
  const { program, scale } = programOf(page, state);
  const inputs = { ...program.inputs };
  for (const name of ["w_scale", "decode_w_scale"]) if (name in inputs) inputs[name] = scale;
  for (const control of page.cases[state.index].controls) {
    if (control.kind === "bits") continue;
    const value = state.values[control.id];
    for (const [name, base] of control.inputs) {
      if (!(name in inputs)) continue;
      inputs[name] = base === null ? value : value === control.value ? base : (base * value) / control.value;
    }
  }
  return inputs;
}

/** What `predict` warns of: more tokens than the model was made for; empty where they are not. */
function beyond(page, { index, format, values }) {
  const { trained } = page.programs[page.cases[index].programs[format]];
  const used = values.context + values.output;
  return trained && used > trained ? fill(page.words.beyond, { used: grouped(used, 0), trained: grouped(trained, 0) }) : "";
}

/** The function of a state's program, from inputs to figures. */
function formulaOf(page, state) {
  const { program } = programOf(page, state);
  return FORMULAS[program.function](program.k);
}

/** Whether a state is that of the study. */
function isUntouched(page, state) {
  const start = untouched(page, state.index);
  return state.format === 0 && Object.keys(start.values).every((id) => state.values[id] === start.values[id]);
}

/** Every figure of a state. What has no formula is known at the study's point, else null. */
function figuresOf(page, state) {
  const { program } = programOf(page, state);
  const found = formulaOf(page, state)(inputsOf(page, state));
  const still = isUntouched(page, state);
  for (const [name, value] of Object.entries(program.fixed)) found[name] = still ? value : null;
  return found;
}

/** Figures where one input takes several values, the rest as the state has it. */
function curve(page, state, name, values) {
  const formula = formulaOf(page, state);
  const inputs = inputsOf(page, state);
  return values.map((value) => formula({ ...inputs, [name]: value }));
}

/** Whole numbers from 1 to `high`, so many in every octave: powers of two are among them. */
function spread(high, octave) {
  const found = [];
  for (let i = 0; i <= octave * Math.log2(high); i++) found.push(Math.round(2 ** (i / octave)));
  return [...new Set([...found, high])];
}

const REGIMES = ["memory", "compute", "link"];

// Sliders: positions on the control, values in the control's unit.

/** The knots of the slider of bits: formats, and the ends of its range. */
function knotsOf(page, index, control) {
  const bits = formatsOf(page, index).map((one) => one.bits);
  return [...new Set([control.min, ...bits.filter((b) => b > control.min && b < control.max), control.max])];
}

/** {min, max, step, at(value), value(position)} of a control's slider. */
function scaleOf(page, index, control) {
  if (control.kind === "bits") return knotted(knotsOf(page, index, control));
  if (control.kind === "count") {
    const least = Math.max(1, control.min);
    const steps = Math.ceil(4 * Math.log2(control.max / least));
    const values = Array.from({ length: steps + 1 }, (_, i) => Math.min(control.max, Math.round(least * 2 ** (i / 4))));
    return { ...knotted([...new Set(values)]), step: 1 };
  }
  if (control.kind === "ratio") {
    const octaves = Math.log2(control.max / control.value);
    return {
      min: -8 * octaves,
      max: 8 * octaves,
      step: 1,
      at: (value) => 8 * Math.log2(value / control.value),
      value: (position) => (position === 0 ? control.value : Number((control.value * 2 ** (position / 8)).toPrecision(4))),
    };
  }
  const step = control.kind === "whole" ? 1 : 0.01;
  const rounded = (position) => Number(Number(position).toFixed(6));
  return { min: control.min, max: control.max, step, at: (value) => value, value: rounded };
}

function knotted(knots) {
  const last = knots.length - 1;
  return {
    min: 0,
    max: last,
    step: 0.25,
    at: (value) => {
      if (value <= knots[0]) return 0;
      let i = 0;
      while (i < last - 1 && value > knots[i + 1]) i++;
      return i + Math.log(value / knots[i]) / Math.log(knots[i + 1] / knots[i]);
    },
    value: (position) => {
      if (Number.isInteger(position)) return knots[position];
      const i = Math.min(last - 1, Math.floor(position));
      return Number((knots[i] * (knots[i + 1] / knots[i]) ** (position - i)).toPrecision(4));
    },
  };
}

/** A typed number as the control takes it: within its range, whole where it counts. */
function allowed(control, value) {
  const held = Math.min(control.max, Math.max(control.min, value));
  return control.kind === "count" || control.kind === "whole" ? Math.round(held) : held;
}

/** A state with another value of a control. Bits choose the nearest compiled format. */
function withValue(page, state, control, value) {
  const values = { ...state.values, [control.id]: value };
  const format = control.kind === "bits" ? nearest(page, state.index, value) : state.format;
  return { ...state, values, format };
}

/** A state with one of the case's formats, at its own bits. */
function withFormat(page, state, place) {
  const program = page.programs[page.cases[state.index].programs[place]];
  return { ...state, format: place, values: { ...state.values, bits: program.bits } };
}
