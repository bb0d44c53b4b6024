"use strict";
// The page around the model: keeps the data that the scripts after this one hand over, since a page
// that is opened from a folder must not fetch other files; asks the worker with the model; draws
// its answers.

const DELAY = 150; // milliseconds after the last key
const LISTED = 12; // classes shown at first
const HUES = [262, 150, 35, 305, 85, 200, 350, 120, 235, 60, 330, 175];

// What is said about a kind of answers: their heading, and what the model does.
const KINDS = {
  classes: ["Classes", "Assigns a class to a text.", "Assigns a class to a pair of texts."],
  labels: ["Classes", "Assigns any number of classes to a text."],
  number: ["Number", "Gives a text a number.", "Gives a pair of texts a number."],
  spans: ["Spans", "Marks spans in a text."],
  tags: ["Tags", "Gives each word of a text a tag."],
};

let labels, takesPairs = false, newest = 0, timer = 0, shown = null, showsAll = false;

const element = (id) => document.getElementById(id);
const parts = {}; // name → arrays of bytes, compressed with gzip

function showError(message) {
  element("loading").hidden = true;
  element("error").hidden = false;
  element("error").textContent = message;
}

function decodeBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; ++at) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

/** Keeps a part of the data `name`, and forgets its text. */
function part(name, base64) {
  (parts[name] ||= []).push(decodeBase64(base64));
  element("progress").value += 1;
  document.currentScript.remove();
}

/** The bytes of the data `name`; each can be read once. */
async function dataOf(name) {
  const compressed = new Blob(parts[name]);
  delete parts[name];
  const stream = compressed.stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const textOf = async (name) => new TextDecoder().decode(await dataOf(name));

// ---------------------------------------------------------------- the worker

const waiting = new Map(); // number of a question → what its answer is given to
let worker, asked = 0;

/** What the worker answers; `files` are handed over. */
function ask(question, files = []) {
  const number = ++asked;
  worker.postMessage({ number, ...question }, files);
  return new Promise((resolve, reject) => waiting.set(number, { resolve, reject }));
}

function startWorker(source) {
  worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  worker.onmessage = ({ data: { number, answer, error } }) => {
    const { resolve, reject } = waiting.get(number);
    waiting.delete(number);
    if (error === undefined) resolve(answer);
    else reject(new Error(error));
  };
  worker.onerror = (event) => {
    event.preventDefault();
    showError(`The model could not be started: ${event.message}`);
  };
}

/** Loads the model from the data of the page, and then answers. */
async function openModel() {
  startWorker(element("model.js").textContent);
  const files = {};
  for (const name of ["tokenizer", "settings", "labels"]) files[name] = JSON.parse(await textOf(name));
  for (const name of ["ort", "tokenizers"]) files[name] = await textOf(name);
  for (const name of ["wasm", "graph"]) files[name] = await dataOf(name);
  describe(files.labels);
  await ask({ files }, [files.wasm.buffer, files.graph.buffer]);
  element("loading").hidden = true;
  for (const id of ["text", "text-b"]) element(id).addEventListener("input", later);
  element("copy").addEventListener("click", copy);
  document.documentElement.dataset.ready = "true";
  await answer();
}

let started = false;

async function start() {
  started = true;
  try {
    new RegExp("[\\p{L}--a]", "v");
    if (!window.DecompressionStream || !window.WebAssembly) throw new SyntaxError();
  } catch {
    showError("This browser is too old for this page. It needs Chrome 112, Edge 112, Firefox 116, Safari 17 or later.");
    return;
  }
  try {
    await openModel();
  } catch (error) {
    showError(`The model could not be started: ${error?.message ?? error}`);
  }
}

window.addEventListener("load", () => {
  if (!started) showError("The end of this file is missing. Copy it or have it sent again.");
});

// ---------------------------------------------------------------- the text field

/** The prediction for a text, or for two, as `glossbench predict --json` gives it. */
async function predict(...texts) {
  return toJson(texts[0], await ask({ texts }));
}

function toJson(text, prediction) {
  if (!prediction.spans) return prediction;
  const points = new Uint32Array(text.length + 1);
  for (let at = 0, count = 0; at < text.length; ++at) {
    points[at] = count;
    if (!/[\ud800-\udbff]/.test(text[at]) || !/[\udc00-\udfff]/.test(text[at + 1] ?? "")) ++count;
    points[at + 1] = count;
  }
  return {
    ...prediction,
    spans: prediction.spans.map((span) => ({ ...span, start: points[span.start], end: points[span.end] })),
  };
}

/** Fills the page with what the labels.json of the export and the page's part of it say. */
function describe({ labels: names, kind, texts, about }) {
  labels = names;
  takesPairs = texts > 1;
  const [heading, ...purposes] = KINDS[kind];
  element("heading").textContent = heading;
  element("purpose").textContent = purposes[texts - 1];
  element("first").textContent = takesPairs ? "First text" : "Text";
  element("pair").hidden = !takesPairs;
  const facts = [about.run && `Run ${about.run}`, about.base_model && `base model ${about.base_model}`, about.model];
  element("about").textContent = facts.filter(Boolean).join(" · ");
}

function later() {
  clearTimeout(timer);
  timer = setTimeout(answer, DELAY);
}

async function answer() {
  const number = ++newest, text = element("text").value, second = element("text-b").value;
  const isEmpty = !text.trim() && !second.trim();
  element("result").hidden = isEmpty;
  if (isEmpty) return;
  try {
    const prediction = await ask({ texts: takesPairs ? [text, second] : [text] });
    if (number !== newest) return;
    shown = { text, prediction };
    draw();
    element("error").hidden = true;
  } catch (error) {
    showError(`The text could not be read: ${error?.message ?? error}`);
  }
}

async function copy() {
  const content = JSON.stringify(toJson(shown.text, shown.prediction));
  const button = element("copy");
  try {
    await navigator.clipboard.writeText(content);
    button.textContent = "Copied";
  } catch {
    button.textContent = "The browser did not allow it";
  }
  setTimeout(() => (button.textContent = "Copy as JSON"), 1500);
}

// ---------------------------------------------------------------- drawing

function make(tag, content, properties = {}) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...[content].flat().filter((child) => child != null));
  return node;
}

const hue = (label) => HUES[Math.max(0, labels.indexOf(label)) % HUES.length];

const coloured = (node, label) => (node.style.setProperty("--hue", hue(label)), node);

const percent = (score) => `${(100 * score).toFixed(score > 0.9995 || score < 0.0005 ? 0 : 1)}%`;

function draw() {
  const { text, prediction } = shown;
  const hints = prediction.cut ? ["The end of the text was not read: it is longer than the model reads."] : [];
  if (prediction.spans) {
    element("answer").replaceChildren(...spansDrawn(text, prediction.spans));
    if (!prediction.spans.length) hints.push("Nothing was found in this text.");
  } else if ("number" in prediction) {
    element("answer").replaceChildren(make("p", prediction.number.toFixed(3), { className: "number" }));
  } else {
    element("answer").replaceChildren(...bars(prediction));
    if (prediction.labels && !prediction.labels.length) hints.push("No class reaches its threshold.");
  }
  element("hint").textContent = hints.join(" ");
  element("hint").hidden = !hints.length;
}

/** The text with its spans, and how often each label occurs. */
function spansDrawn(text, spans) {
  const content = make("p", [], { className: "text", dir: "auto" }), counts = new Map();
  let at = 0;
  for (const { start, end, label, score } of spans) {
    const caption = make("small", label, { dir: "auto" });
    const mark = make("mark", [text.slice(start, end), caption], { title: `${label} · ${percent(score)}` });
    content.append(text.slice(at, start), coloured(mark, label));
    counts.set(label, (counts.get(label) ?? 0) + 1);
    at = end;
  }
  content.append(text.slice(at));
  const rows = [...counts].sort(([, a], [, b]) => b - a);
  return [content, make("ul", rows.map(([label, count]) => coloured(make("li", [make("b", label), `${count}`]), label)))];
}

/** A bar for each class, the highest first; with thresholds, a tick at each. */
function bars({ scores, label, labels, thresholds }) {
  const rows = Object.entries(scores).sort(([, a], [, b]) => b - a);
  const chosen = new Set(labels ?? [label]), listed = showsAll ? rows : rows.slice(0, LISTED);
  const table = make("table", listed.map(([name, score]) => {
    const bar = make("div", make("i", []), { className: "bar" });
    bar.firstChild.style.width = percent(score);
    if (thresholds) {
      const tick = make("u", [], { title: `Threshold ${percent(thresholds[name])}` });
      tick.style.left = percent(thresholds[name]);
      bar.append(tick);
    }
    const cells = [make("th", (chosen.has(name) ? "✓ " : "") + name, { scope: "row", dir: "auto" }), make("td", bar), make("td", percent(score))];
    return make("tr", cells, { className: chosen.has(name) ? "chosen" : "" });
  }));
  if (listed.length === rows.length) return [table];
  const more = make("button", `Show all ${rows.length} classes`, { type: "button" });
  more.addEventListener("click", () => {
    showsAll = true;
    draw();
  });
  return [table, more];
}
