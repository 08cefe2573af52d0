// What the requests of an agent weigh, and how much of each begins as an earlier one: that is what a provider's cache can
// serve. In the order in which providers read a request: tools, system prompt, messages.

/** As demian estimates it; the same for all agents. */
const CHARS_PER_TOKEN = 4;
/** How far before a mark Anthropic looks for an entry. */
const LOOK_BACK = 20;

/**
 * @typedef {import("./model.mjs").Sent} Sent
 * @typedef {{ text: string, isMarked: boolean }} Block
 * @param {readonly Sent[]} sent
 */
export function weigh(sent) {
  /** @type {string[]} */
  const earlier = [];
  /** @type {Set<string>} */
  const written = new Set();
  let [chars, cached] = [0, 0];
  for (const { protocol, body } of sent) {
    const blocks = toBlocks(body);
    const text = blocks.map((block) => block.text).join("");
    chars += text.length;
    cached += protocol === "anthropic" ? readMarked(blocks, written) : longestPrefix(text, earlier);
    earlier.push(text);
  }
  return { tokens: Math.round(chars / CHARS_PER_TOKEN), share: chars === 0 ? 0 : cached / chars };
}

/** @param {Record<string, unknown>} body @returns {Block[]} */
function toBlocks(body) {
  const { tools, system, instructions, messages, input } = body;
  return [tools, system, instructions, messages, input].flatMap((part) =>
    (Array.isArray(part) ? part : part === undefined ? [] : [part]).flatMap(splitMessage),
  );
}

/** @param {unknown} part @returns {Block[]} */
function splitMessage(part) {
  if (typeof part !== "object" || part === null) return [{ text: JSON.stringify(part), isMarked: false }];
  const { content, cache_control, ...rest } = /** @type {Record<string, unknown>} */ (part);
  if (!Array.isArray(content))
    return [{ text: JSON.stringify({ ...rest, content }), isMarked: cache_control !== undefined }];
  return content.map((block) => {
    const [inner] = splitMessage(block);
    return { text: JSON.stringify(rest) + (inner?.text ?? ""), isMarked: inner?.isMarked === true };
  });
}

/** Only what ends at a mark is cached, and found. @param {readonly Block[]} blocks @param {Set<string>} written */
function readMarked(blocks, written) {
  let whole = "";
  const ends = blocks.map(({ text }) => (whole += text));
  const marks = blocks.flatMap(({ isMarked }, at) => (isMarked ? [at] : []));
  const hits = marks.flatMap((mark) => ends.slice(Math.max(0, mark - LOOK_BACK), mark + 1));
  const cached = Math.max(0, ...hits.filter((end) => written.has(end)).map((end) => end.length));
  for (const mark of marks) written.add(ends[mark] ?? "");
  return cached;
}

/** @param {string} text @param {readonly string[]} earlier */
function longestPrefix(text, earlier) {
  let longest = 0;
  for (const before of earlier) {
    if (before.slice(0, longest) !== text.slice(0, longest)) continue;
    while (longest < text.length && before[longest] === text[longest]) longest += 1;
  }
  return longest;
}
