"use strict";
// From a text to the answer of the model, as workbench.runtime computes it: subwords with offsets,
// overlapping windows, words, tags, spans. Runs in a worker, so that the page stays responsive. All
// offsets are UTF-16 units. The tokenizer is that of @huggingface/tokenizers, which gives none.

// ---------------------------------------------------------------- words: workbench.text.segment

const SPACELESS = ["Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar"]
  .map((script) => `\\p{sc=${script}}`)
  .join("");
const WORD = new RegExp(
  `[[${SPACELESS}]--[\\p{M}\\p{P}\\p{Nd}]]\\p{M}*` +
    `|[[\\p{L}\\p{N}\\p{M}_]--[${SPACELESS}]]` +
    `(?:[[\\p{L}\\p{N}\\p{M}_\\u200c\\u200d]--[[${SPACELESS}]--[\\p{M}\\p{Nd}]]])*` +
    "|\\p{Extended_Pictographic}(?:[\\ufe0f\\p{Emoji_Modifier}]|\\u200d\\p{Extended_Pictographic})*" +
    "|\\P{White_Space}",
  "gv",
);

function words(text) {
  return Array.from(text.matchAll(WORD), (match) => [match.index, match.index + match[0].length]);
}

// ---------------------------------------------------------------- subwords with offsets

const CLUSTER = /\P{M}\p{M}*|\p{M}+/gu; // what a normalizer may change as a whole
// The library takes these for two characters.
const RARE_HAN = /[\u{20000}-\u{2a6df}\u{2a700}-\u{2ceaf}\u{2f800}-\u{2fa1f}]/u;
const isBert = (tokenizer) => tokenizer.tokenizer.normalizer?.type === "BertNormalizer";
const isSpace = (char) => char === "▁" || /^\p{White_Space}$/u.test(char);

/** Subwords of a text without special tokens: {ids, offsets: [[start, end], …]}. */
function subwords(tokenizer, text) {
  const ids = [], offsets = [];
  const put = (token, start, end) => {
    const { added_tokens_map: added, model } = tokenizer;
    ids.push(added.get(token)?.id ?? model.tokens_to_ids.get(token) ?? model.unk_token_id);
    offsets.push([start, end]);
  };
  let start = 0;
  tokenizer.splitter_unnormalized.split(text).forEach((section, number, sections) => {
    const begin = start;
    start += section.length;
    const added = tokenizer.added_tokens_map.get(section);
    if (added) return put(section, begin, start);
    const before = tokenizer.added_tokens_map.get(sections[number - 1]);
    const after = tokenizer.added_tokens_map.get(sections[number + 1]);
    const left = before?.rstrip ? section.length - section.trimStart().length : 0;
    const kept = after?.lstrip ? section.slice(left).trimEnd() : section.slice(left);
    for (const part of normalizedSections(tokenizer, kept, begin + left)) {
      const token = tokenizer.added_tokens_map.get(part.text);
      if (token) put(part.text, part.characters[0].start, part.characters.at(-1).end);
      else piecesOf(tokenizer, part, number).forEach((piece) => put(...piece));
    }
  });
  return { ids, offsets };
}

/** The normalized text of a section, at added tokens split: [{text, characters}]. */
function normalizedSections(tokenizer, section, begin) {
  const { normalizer } = tokenizer;
  const alone = singly(tokenizer, section, begin), joined = alone.map((unit) => unit.char).join("");
  const whole = normalizer === null ? section : normalizer(section);
  // `tokenizers` lowers each character by itself: a Σ at the end of a word becomes σ, not ς.
  const isJoined = isBert(tokenizer) || joined === whole.replaceAll("ς", "σ");
  const text = isJoined ? joined : whole;
  const steps = tokenizer.tokenizer.normalizer, before = (steps?.normalizers ?? [steps]).find((step) => step?.type === "Prepend");
  const characters = located(text, alone, begin, before?.prepend.length ?? 0);
  let at = 0;
  return tokenizer.splitter_normalized.split(text).filter((part) => part.length).map((part) => {
    const count = [...part].length;
    at += count;
    return { text: part, characters: characters.slice(at - count, at) };
  });
}

/** The characters that a section normalizes to, cluster by cluster: [{char, start, end}]. */
function singly(tokenizer, section, begin) {
  const { normalizer } = tokenizer, apart = isBert(tokenizer) && tokenizer.tokenizer.normalizer.handle_chinese_chars;
  const change = (part) => {
    if (apart && RARE_HAN.test(part)) return ` ${part} `;
    const changed = (normalizer && normalizer(part)) ?? part;
    return changed.startsWith("▁") && changed.length > part.length ? changed.slice(1) : changed; // of Prepend
  };
  const units = (part, start) =>
    [...(change(part) || (isSpace(part) && !isBert(tokenizer) ? " " : ""))].map((char) => ({ char, start, end: start + part.length }));
  return Array.from(section.matchAll(CLUSTER)).flatMap(({ 0: cluster, index }) => {
    let start = begin + index;
    const parts = [...cluster];
    if (parts.length === 1 || parts.map(change).join("") !== change(cluster)) return units(cluster, start);
    return parts.flatMap((part) => units(part, (start += part.length) - part.length));
  });
}

/** The characters of `text` with the offsets of the equal ones of `characters`, in order. White
 * space may be left out, and characters may be inserted: certainly the first `inserted`. */
function located(text, characters, begin, inserted) {
  const result = [];
  const end = characters.at(-1)?.end ?? begin;
  let at = 0;
  const chars = [...text];
  chars.forEach((char, number) => {
    if (number < inserted) {
      result.push({ char, start: characters[0]?.start ?? begin, end: characters[0]?.end ?? begin });
      return;
    }
    let next = at;
    while (next < characters.length && !same(char, characters[next].char) && isSpace(characters[next].char)) ++next;
    if (next < characters.length && same(char, characters[next].char)) at = next;
    const here = characters[at];
    const isNew = here && !same(char, here.char) && same(chars[number + 1], here.char);
    result.push({ char, start: here?.start ?? end, end: here?.end ?? end });
    if (here && !isNew) ++at;
  });
  return result;
}

const same = (char, other) => char === other || (char === "▁" && other === " ");

/** [token, start, end] of each subword of a section. */
function piecesOf(tokenizer, { text, characters }, number) {
  const { model, pre_tokenizer: preTokenizer } = tokenizer;
  const words = preTokenizer === null ? [text] : preTokenizer(text, { section_index: number });
  const steps = tokenizer.tokenizer.pre_tokenizer;
  const has = (type) => (steps?.pretokenizers ?? [steps]).some((step) => step?.type === type);
  const split = has("WhitespaceSplit") ? characters.filter(({ char }) => !isSpace(char)) : characters;
  const units = has("ByteLevel") ? split.flatMap(byteUnits) : split;
  const pieces = [];
  let at = 0;
  for (const word of words) {
    const places = [...word].map((char, position) => {
      const isPrefix = position === 0 && (char === "▁" || char === SPACE_BYTE);
      if (isPrefix && !same(char, units[at]?.char)) {
        let ahead = at; // a space that the text has not
        while (ahead < units.length - 1 && isSpace(units[ahead].char)) ++ahead;
        return units[ahead] ?? units.at(-1);
      }
      let next = at;
      while (next < units.length && !same(char, units[next].char)) ++next;
      if (next < units.length) at = next + 1;
      return units[Math.min(next, units.length - 1)];
    });
    shared(model, word, places, pieces);
  }
  return pieces;
}

/** Add the subwords of one word, whose characters have these places. */
function shared(model, word, places, pieces) {
  const tokens = model([word]), prefix = model.config.continuing_subword_prefix ?? "";
  let bytes = 0; // of the current character, still to come
  const sizes = tokens.map((token, position) => {
    const byte = model.byte_fallback && /^<0x([0-9A-F]{2})>$/.exec(token);
    if (!byte) return size(model, token, position > 0 ? prefix : "");
    bytes = bytes > 0 ? bytes - 1 : bytesAfter(parseInt(byte[1], 16));
    return bytes > 0 ? 0 : 1;
  });
  let at = 0;
  tokens.forEach((token, position) => {
    const rest = sizes.slice(position + 1).reduce((sum, next) => sum + (next ?? 1), 0);
    const count = sizes[position] ?? Math.max(1, places.length - at - rest);
    const first = places[Math.min(at, places.length - 1)];
    const last = places[Math.min(Math.max(at, Math.ceil(at + count) - 1), places.length - 1)];
    pieces.push([token, first.start, last.end]);
    at += count;
  });
}

/** How many bytes follow the first one of a character in UTF-8. */
const bytesAfter = (first) => (first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0);

/** The number of characters of a word that a subword stands for; null for an unknown one. */
function size(model, token, prefix) {
  if (token === model.unk_token) return null;
  const suffix = model.end_of_word_suffix ?? "";
  const content = prefix && token.startsWith(prefix) ? token.slice(prefix.length) : token;
  return [...(suffix && content.endsWith(suffix) ? content.slice(0, -suffix.length) : content)].length;
}

// The letters of a byte-level vocabulary, as in the released code of GPT-2.
const BYTE_LETTERS = (() => {
  const plain = (byte) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
  let others = 0;
  return Array.from({ length: 256 }, (_, byte) =>
    String.fromCharCode(plain(byte) ? byte : 256 + others++),
  );
})();
const SPACE_BYTE = BYTE_LETTERS[32];

function byteUnits({ char, start, end }) {
  return Array.from(new TextEncoder().encode(char), (byte) => ({ char: BYTE_LETTERS[byte], start, end }));
}

// ---------------------------------------------------------------- inputs: workbench.runtime

/** Special tokens around subwords: {ids, types, text} with `text` -1 at special tokens. */
function framed(tokenizer, first, second) {
  const marks = ["\0first", second && "\0second"];
  const post = tokenizer.post_processor;
  const pair = second ? [marks[1]] : null;
  const frame = post ? post([marks[0]], pair, true) : { tokens: marks.slice(0, second ? 2 : 1) };
  const result = { ids: [], types: [], text: [] };
  frame.tokens.forEach((token, position) => {
    const number = marks.indexOf(token);
    const ids = number < 0 ? [tokenizer.token_to_id(token)] : [first, second][number];
    for (const id of ids) {
      result.ids.push(id);
      result.types.push(frame.token_type_ids?.[position] ?? 0);
      result.text.push(number);
    }
  });
  return result;
}

const addedTo = (tokenizer, pair) => framed(tokenizer, [], pair ? [] : null).ids.length;

/** The inputs of a text in windows that share a quarter, and the offsets of their subwords. */
function windowsOf(tokenizer, text, maxLength) {
  const { ids, offsets } = subwords(tokenizer, text);
  const room = maxLength - addedTo(tokenizer, false);
  const step = room - Math.max(0, Math.min(Math.floor(maxLength / 4), room - 1));
  const windows = [];
  for (let start = 0; start === 0 || start - step + room < ids.length; start += step) {
    const input = framed(tokenizer, ids.slice(start, start + room), null);
    let at = start;
    windows.push({ ...input, offsets: input.text.map((number) => (number < 0 ? [0, 0] : offsets[at++])) });
  }
  return windows;
}

/** The input of one or two texts, truncated as "longest_first". */
function wholeOf(tokenizer, texts, maxLength) {
  const parts = texts.map((text) => subwords(tokenizer, text).ids);
  const room = maxLength - addedTo(tokenizer, parts.length > 1);
  let lengths = [room];
  if (parts.length > 1) {
    const [short, long] = parts.map((part) => part.length).sort((a, b) => a - b);
    let kept = short + long <= room ? [short, long] : [short, short > room ? short : Math.max(short, room - short)];
    if (kept[0] + kept[1] > room) kept = [Math.floor(room / 2), room - Math.floor(room / 2)];
    lengths = parts[0].length > parts[1].length ? kept.reverse() : kept;
  }
  const [first, second] = parts.map((part, number) => part.slice(0, lengths[number]));
  const cut = parts.some((part, number) => part.length > lengths[number]);
  return { ...framed(tokenizer, first, second ?? null), cut };
}

/** For each word its window and its first subword there, -1 without one: runtime.decoding.align. */
function aligned(wordOffsets, windows) {
  const places = wordOffsets.map(() => ({ window: -1, first: -1, context: -1 }));
  windows.forEach(({ text, offsets }, window) => {
    const positions = text.flatMap((number, at) => (number === 0 && offsets[at][1] > offsets[at][0] ? [at] : []));
    let left = 0, right = 0;
    wordOffsets.forEach(([start, end], word) => {
      while (left < positions.length && offsets[positions[left]][1] <= start) ++left;
      right = Math.max(right, left);
      while (right < positions.length && offsets[positions[right]][0] < end) ++right;
      while (right > left && offsets[positions[right - 1]][0] >= end) --right;
      if (left >= right) return;
      const after = positions.length - right;
      let context = Math.min(left, after);
      if (left === 0 && window === 0) context = after;
      if (right === positions.length && window === windows.length - 1) context = left;
      if (context > places[word].context) places[word] = { window, first: positions[left], context };
    });
  });
  return places;
}

// ---------------------------------------------------------------- decisions: runtime.decoding

const sigmoid = (value) => 1 / (1 + Math.exp(-value));

function softmax(logits) {
  const most = Math.max(...logits), powers = Array.from(logits, (value) => Math.exp(value - most));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}

const best = (values) => values.reduce((at, value, number) => (value > values[at] ? number : at), 0);

function tempered(score, temperature) {
  if (temperature === 1) return score;
  const clipped = Math.min(Math.max(score, 1e-12), 1 - 1e-12);
  return sigmoid((Math.log(clipped) - Math.log1p(-clipped)) / temperature);
}

const split = (tag) => (/^[A-Z]-./.test(tag) ? [tag[0], tag.slice(2)] : ["O", null]);

/** Scores of starting with a tag and of one tag after another: 0 where BIO allows it. */
function bioConstraints(tags) {
  const parts = tags.map(split);
  return {
    start: parts.map(([prefix]) => (prefix === "I" ? -Infinity : 0)),
    step: parts.map(([before, left]) =>
      parts.map(([to, right]) => (to === "I" && (before === "O" || left !== right) ? -Infinity : 0)),
    ),
    end: tags.map(() => 0),
  };
}

/** The best path through rows of scores. */
function viterbi(rows, { start, step, end }) {
  let scores = rows[0].map((score, tag) => score + start[tag]);
  const back = rows.slice(1).map((row) => {
    const from = row.map((_, to) => best(scores.map((score, tag) => score + step[tag][to])));
    scores = row.map((score, to) => scores[from[to]] + step[from[to]][to] + score);
    return from;
  });
  const path = [best(scores.map((score, tag) => score + end[tag]))];
  for (const from of back.reverse()) path.unshift(from[path[0]]);
  return path;
}

const logSum = (values) => {
  const most = Math.max(...values);
  return Number.isFinite(most) ? most + Math.log(values.reduce((sum, value) => sum + Math.exp(value - most), 0)) : most;
};

/** The probability of each tag at each word under a linear-chain CRF. */
function marginals(rows, { start, step, end }) {
  const tags = end.map((_, tag) => tag);
  const forward = [], backward = [end];
  for (const row of rows) {
    const before = forward.at(-1);
    forward.push(tags.map((to) => row[to] + (before ? logSum(tags.map((from) => before[from] + step[from][to])) : start[to])));
  }
  for (const row of rows.slice(1).reverse()) {
    const after = backward[0];
    backward.unshift(tags.map((from) => logSum(tags.map((to) => step[from][to] + row[to] + after[to]))));
  }
  return forward.map((row, word) => {
    const both = row.map((score, tag) => score + backward[word][tag]), total = logSum(both);
    return both.map((value) => Math.exp(value - total));
  });
}

/** The tag of each word and its score; `rows` are logits, null for a word without a subword. */
function decided(rows, tags, decoder) {
  const allowed = bioConstraints(tags);
  const shares = rows.map((row) => (row ? softmax(row) : tags.map((_, tag) => (tag === 0 ? 1 : 0))));
  let chosen = shares.map(best), scores = shares;
  if (decoder.decoder === "crf") {
    const { start, step, end } = decoder.transitions, number = (value) => value ?? -Infinity;
    const learned = {
      start: start.map((value, tag) => number(value) + allowed.start[tag]),
      step: step.map((row, from) => row.map((value, to) => number(value) + allowed.step[from][to])),
      end: end.map(number),
    };
    const present = rows.filter((row) => row !== null);
    const path = present.length ? viterbi(present, learned) : [];
    const sums = present.length ? marginals(present, learned) : [];
    let at = 0;
    scores = shares.map((row, word) => (rows[word] ? sums[at++] : row));
    at = 0;
    chosen = rows.map((row) => (row ? path[at++] : 0));
  } else if (decoder.decoder !== "greedy" && chosen.length) {
    const steps = chosen.map((tag, word) => (word ? allowed.step[chosen[word - 1]][tag] : allowed.start[tag]));
    if (steps.some((step) => step < 0)) {
      const logs = shares.map((row) => row.map((share) => Math.log(Math.max(share, 1e-30))));
      chosen = viterbi(logs, allowed);
    }
  }
  const picked = chosen.map((tag, word) => scores[word][tag]);
  let inside = null; // an I- without a tag of its label before it begins a span
  chosen = chosen.map((tag) => {
    const [prefix, label] = split(tags[tag]);
    const begins = prefix === "I" && label !== inside;
    inside = label;
    return begins ? tags.indexOf(`B-${label}`) : tag;
  });
  return { chosen, scores: picked };
}

function spansOf(text, wordOffsets, chosen, scores, tags) {
  const spans = [];
  let open = null;
  const close = () => {
    if (!open) return;
    const content = text.slice(open.start, open.end), trimmed = content.trim();
    const start = open.start + content.indexOf(trimmed);
    const score = open.scores.reduce((a, b) => a + b, 0) / open.scores.length;
    if (trimmed) spans.push({ start, end: start + trimmed.length, label: open.label, score });
    open = null;
  };
  chosen.forEach((tag, word) => {
    const [prefix, label] = split(tags[tag]), [start, end] = wordOffsets[word];
    if (prefix === "I" && open) {
      open.end = end;
      open.scores.push(scores[word]);
      return;
    }
    close();
    if (prefix === "B") open = { start, end, label, scores: [scores[word]] };
  });
  close();
  return spans;
}

// ---------------------------------------------------------------- the model

const WORDS = ["spans", "tags"]; // kinds of answers

class Model {
  /** run: {input_ids, attention_mask, token_type_ids} (BigInt64Array of one text) → logits (T, L) or
   * (1, L) as rows. description: labels.json of the export, and the kind of answers. */
  constructor(tokenizer, run, description) {
    Object.assign(this, { tokenizer, run, description });
    this.decoder = description.decoder ?? {};
    this.temperature = this.decoder.temperature ?? 1;
  }

  /** The prediction for a text, or for two; with offsets in UTF-16 units. */
  async predict(...texts) {
    const clean = texts.map((text) => text.replace(/\p{Surrogate}/gu, "\ufffd"));
    if (WORDS.includes(this.description.kind)) return this.tagged(clean[0]);
    const input = wholeOf(this.tokenizer, clean, this.description.max_length);
    const [logits] = await this.logits(input);
    return { ...this.answer(logits), cut: input.cut };
  }

  logits({ ids, types }) {
    const filled = ids.length ? ids : [this.tokenizer.token_to_id(this.description.pad ?? "") ?? 0];
    const big = (values) => BigInt64Array.from(values, (value) => BigInt(value));
    return this.run({
      input_ids: big(filled),
      attention_mask: big(filled.map(() => 1)),
      token_type_ids: big(filled.map((_, at) => types[at] ?? 0)),
    });
  }

  answer(logits) {
    const { kind, labels } = this.description;
    if (kind === "number") {
      return { number: this.decoder.sigmoid ? sigmoid(logits[0]) : logits[0] };
    }
    const scaled = Array.from(logits, (value) => value / this.temperature);
    if (kind !== "labels") {
      const shares = softmax(scaled);
      return { label: labels[best(shares)], scores: named(labels, shares) };
    }
    const shares = scaled.map(sigmoid), thresholds = this.decoder.thresholds ?? labels.map(() => 0.5);
    const chosen = labels.filter((_, at) => shares[at] >= thresholds[at]);
    return { labels: chosen, scores: named(labels, shares), thresholds: named(labels, thresholds) };
  }

  async tagged(text) {
    const { kind, max_length: maxLength, id2label: tags } = this.description;
    const windows = windowsOf(this.tokenizer, text, maxLength), offsets = words(text);
    const logits = [];
    for (const window of windows) logits.push(await this.logits(window));
    const rows = aligned(offsets, windows).map(({ window, first }) =>
      window < 0 ? null : Array.from(logits[window][first]),
    );
    const spans = kind === "spans" ? this.spans(text, offsets, rows, tags) : this.tokenTags(offsets, rows, tags);
    return { spans: spans.map((span) => ({ ...span, score: tempered(span.score, this.temperature) })) };
  }

  spans(text, offsets, rows, tags) {
    const { chosen, scores } = decided(rows, tags, this.decoder);
    return spansOf(text, offsets, chosen, scores, tags);
  }

  tokenTags(offsets, rows, tags) {
    return offsets.flatMap(([start, end], word) => {
      if (!rows[word]) return [];
      const shares = softmax(rows[word]), tag = best(shares);
      return [{ start, end, label: tags[tag], score: shares[tag] }];
    });
  }
}

const named = (labels, values) => Object.fromEntries(labels.map((label, at) => [label, values[at]]));

// ---------------------------------------------------------------- the worker

/** The model with its libraries, as the page hands them over: {ort, tokenizers} are source code,
 * {wasm, graph} bytes, {tokenizer, settings, labels} contents of JSON files. */
async function opened({ ort: runtime, tokenizers, wasm, graph, tokenizer, settings, labels }) {
  const load = (source) => import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  const [ort, { Tokenizer }] = await Promise.all([load(runtime), load(tokenizers)]);
  ort.env.wasm.numThreads = 1; // more need headers that a file has not
  ort.env.wasm.wasmBinary = wasm.buffer;
  const session = await ort.InferenceSession.create(graph, { executionProviders: ["wasm"] });
  const run = async (inputs) => {
    const feeds = session.inputNames.map((name) => [
      name,
      new ort.Tensor("int64", inputs[name], [1, inputs[name].length]),
    ]);
    const { dims, data } = (await session.run(Object.fromEntries(feeds)))[labels.output];
    const columns = dims.at(-1);
    return Array.from({ length: data.length / columns }, (_, row) =>
      data.subarray(row * columns, (row + 1) * columns),
    );
  };
  return new Model(new Tokenizer(tokenizer, settings), run, labels);
}

let model;

/** Answers {number, files} once the model is open, and {number, texts} with a prediction. */
self.onmessage = async ({ data: { number, files, texts } }) => {
  try {
    model ??= await opened(files);
    self.postMessage({ number, answer: texts && (await model.predict(...texts)) });
  } catch (error) {
    self.postMessage({ number, error: error?.message ?? String(error) });
  }
};
