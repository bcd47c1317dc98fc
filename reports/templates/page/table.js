// The study's table: sorted by its headings, filtered by a text.

function sortable(table, filter, shown, words) {
  const bodies = [...table.tBodies];
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    if (!heading.textContent) return;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = heading.textContent;
    heading.replaceChildren(button);
    button.addEventListener("click", () => {
      const turn = { ascending: "descending", descending: null }[heading.getAttribute("aria-sort")];
      const next = turn === undefined ? "ascending" : turn;
      headings.forEach((one) => one.removeAttribute("aria-sort"));
      if (next) heading.setAttribute("aria-sort", next);
      table.append(...(next ? sorted(bodies, column, next === "descending" ? -1 : 1) : bodies));
    });
  });
  const apply = () => {
    const count = filtered(bodies, filter.value);
    shown.textContent = fill(words.rows_shown, { shown: count, all: bodies.reduce((n, b) => n + b.rows.length, 0) });
  };
  filter.addEventListener("input", apply);
  apply();
}

/** Groups of rows in the order of a column of their first rows; what is empty comes last. */
function sorted(bodies, column, sign) {
  const compare = new Intl.Collator(document.documentElement.lang, { numeric: true }).compare;
  const cells = new Map(bodies.map((body) => [body, body.rows[0].cells[column]]));
  return [...bodies].sort((a, b) => {
    const [x, y] = [cells.get(a), cells.get(b)];
    const [empty, other] = [x.textContent === "", y.textContent === ""];
    if (empty || other) return empty - other;
    const byNumber = x.dataset.key !== undefined && y.dataset.key !== undefined;
    return sign * (byNumber ? x.dataset.key - y.dataset.key : compare(x.textContent, y.textContent));
  });
}

/** Hide groups of which no row holds every word; returns how many rows are shown. */
function filtered(bodies, text) {
  const wanted = text.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const body of bodies) {
    const rows = [...body.rows].map((row) => [...row.cells].map((c) => c.textContent).join("\n").toLocaleLowerCase());
    body.hidden = !rows.some((row) => wanted.every((word) => row.includes(word)));
    if (!body.hidden) count += rows.length;
  }
  return count;
}
