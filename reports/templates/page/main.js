// Starts the page where there is a document.

function start() {
  const page = JSON.parse(document.getElementById("data").textContent);
  const filter = document.getElementById("filter");
  filter.closest(".filter").hidden = false;
  sortable(document.getElementById("study"), filter, document.getElementById("shown"), page.words);
  if (page.cases.length) vary(page);
}

function vary(page) {
  const at = (id) => document.getElementById(id);
  at("what-if").hidden = false;
  const w = page.words;
  const charts = [
    [new Chart(at("charts"), w.roofline, w), rooflineData],
    [new Chart(at("charts"), w.tps_context, w), tpsOverContext],
    [new Chart(at("charts"), w.tps_batch, w), tpsOverBatch],
    [new Chart(at("charts"), w.memory_context, w), memoryOverContext],
  ];
  let state = null;
  let waiting = false;
  let speaking = 0;

  const draw = () => {
    waiting = false;
    const figures = figuresOf(page, state);
    const base = figuresOf(page, untouched(page, state.index));
    showCards(at("cards"), page, state, figures, base);
    showFigures(at("figures"), page, state, figures);
    for (const [chart, data] of charts) chart.show(data(page, state, figures));
    clearTimeout(speaking);
    speaking = setTimeout(() => (at("spoken").textContent = spoken(page, state, figures)), 700);
  };
  const changed = (next) => {
    const another = state === null || state.index !== next.index;
    state = next;
    controls.show(state);
    if (another) describe();
    if (!waiting) requestAnimationFrame(draw);
    waiting = true;
  };
  const describe = () => {
    at("notes").replaceChildren(...programOf(page, state).program.notes.map((text) => element("li", { textContent: text })));
    const named = page.cases[state.index].formulas.flatMap(([key, text]) => [
      element("dt", { textContent: w[key] }),
      element("dd", {}, element("code", { textContent: text })),
    ]);
    at("formula-list").replaceChildren(...named);
  };
  const controls = new Controls(page, changed);
  changed(untouched(page, 0));
}

/** What a screen reader is told once the sliders rest. */
function spoken(page, state, figures) {
  const cards = cardsOf(page, state, figures, figures);
  return cards.map(({ what, value, flag }) => `${what} ${value}${flag ? `, ${flag}` : ""}`).join("; ");
}

if (typeof document !== "undefined") start();
