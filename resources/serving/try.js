const main = document.querySelector("main"), form = make("form"), out = make("output");
out.setAttribute("aria-live", "polite");
for (const field of page.fields) {
  const area = make("textarea");
  Object.assign(area, {name: field.name, rows: 3, required: field.needed});
  if (field.list) area.dataset.list = 1;
  if (field.json) area.dataset.json = 1;
  form.append(make("label", field.title, area));
}
form.append(make("button", page.predict));
main.append(form, out, make("p", "", link("docs", page.reference)));
const percent = score => score == null ? "" : (100 * score).toFixed(1) + " %";
function marked(text, spans) {
  const points = [...text], row = make("p"), at = [];
  for (const span of [...spans].sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = at.length ? at[at.length - 1].end : 0;
    if (span.start >= last && span.end > span.start) at.push(span);
  }
  let place = 0;
  for (const span of at) {
    row.append(points.slice(place, span.start).join(""));
    const small = make("small", span.label + " " + percent(span.score));
    row.append(make("mark", points.slice(span.start, span.end).join(""), small));
    place = span.end;
  }
  row.append(points.slice(place).join(""));
  return row;
}
function table(rows) {
  return make("table", "", ...rows.map(cells => make("tr", "", ...cells.map(c => make("td", c)))));
}
function shown(answer) {
  const parts = [];
  if (answer.spans.length || answer.tokens.length) {
    const words = answer.tokens.filter(word => word.label);
    parts.push(marked(answer.text, answer.spans.length ? answer.spans : words));
  }
  if (answer.scores) {
    const chosen = answer.labels || [answer.label];
    const rows = Object.entries(answer.scores).sort((a, b) => b[1] - a[1]);
    parts.push(table(rows.map(([label, score]) =>
      [(chosen.includes(label) ? "● " : "") + label, percent(score)])));
  }
  if (answer.relations) {
    const points = [...answer.text], quote = span => points.slice(span.start, span.end).join("");
    parts.push(table(answer.relations.map(relation => [quote(relation.from), relation.label,
      quote(relation.to), percent(relation.score)])));
  }
  if (answer.number != null) parts.push(make("p", String(answer.number)));
  if (answer.answers) parts.push(table(answer.answers.map(item =>
    [item.question, item.answer == null ? "–" : item.answer, percent(item.score)])));
  return parts;
}
form.addEventListener("submit", async event => {
  event.preventDefault();
  const body = {};
  let raw;
  try {
    for (const field of form.querySelectorAll("textarea")) {
      const lines = field.value.split("\n").map(line => line.trim()).filter(line => line);
      if (field.dataset.list) body[field.name] = lines;
      else if (field.dataset.json) body[field.name] = JSON.parse(field.value);
      else if (field.value || field.required) body[field.name] = field.value;
    }
    const headers = {"Content-Type": "application/json"};
    const answer = await fetch("predict", {method: "POST", headers, body: JSON.stringify(body)});
    raw = await answer.json();
  } catch (error) { raw = {error: {message: String(error)}}; }
  const alert = make("p", raw.error && [raw.error.message, raw.error.hint || ""].join(" "));
  alert.setAttribute("role", "alert");
  out.replaceChildren(...(raw.error ? [alert] : shown(raw)),
    make("h2", "JSON"), make("pre", JSON.stringify(raw, null, 1)));
});
