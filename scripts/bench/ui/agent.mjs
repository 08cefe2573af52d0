#!/usr/bin/env node
// An agent that writes like a busy one, for the UI measures: numbered lines as deltas, a message of them, a tool call
// between two messages. `pace RATE COUNT` in a turn sets the events per second and the total.
import { setTimeout as sleep } from "node:timers/promises";

const LINES_A_MESSAGE = 40;
/** Sent in groups, as a model's server does. */
const GROUP_MS = 20;

if (process.argv.includes("--version")) {
  console.log("1.0.0 (bench-ui)");
  process.exit(0);
}
const session = argument("--session-id") ?? argument("--resume") ?? "00000000-0000-4000-8000-000000000000";
let line = 0;
let message = 0;

let rest = "";
process.stdin.setEncoding("utf8");
for await (const text of process.stdin) {
  const lines = (rest + text).split("\n");
  rest = lines.pop() ?? "";
  for (const order of lines) if (order.includes('"type":"user"')) await turn(order);
}

/** @param {string} name */
function argument(name) {
  const at = process.argv.indexOf(name);
  return at === -1 ? undefined : process.argv[at + 1];
}

/** @param {string} order */
async function turn(order) {
  say({ type: "system", subtype: "init", cwd: "/", tools: ["Bash"], model: "bench" });
  const [, rate, count] = /pace (\d+) (\d+)/.exec(order) ?? ["", "100", "1"];
  await pace(Number(rate), Number(count));
  const usage = { input_tokens: 1, output_tokens: 1 };
  say({ type: "result", subtype: "success", is_error: false, duration_ms: 1, num_turns: 1, usage });
}

/**
 * @param {number} rate
 * @param {number} count
 */
async function pace(rate, count) {
  const startedAt = performance.now();
  const events = eventsOf(count);
  for (let sent = 0; sent < count; ) {
    const due = Math.min(count, Math.ceil(((performance.now() - startedAt) / 1000) * rate));
    for (; sent < due; sent++) say(events.next().value ?? {});
    await sleep(GROUP_MS);
  }
}

/** @param {number} count */
function* eventsOf(count) {
  for (let left = count; left > 0; ) {
    const texts = [];
    for (let n = 0; n < LINES_A_MESSAGE && left > 3; n++, left--) {
      line += 1;
      const number = String(line).padStart(5, "0");
      const text = `line ${number} of \`code\` and **words** that somebody may read some day\n`;
      texts.push(text);
      yield stream({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } });
    }
    message += 1;
    const id = `toolu_${message}`;
    const input = { command: `make part-${message}` };
    yield assistant([{ type: "text", text: texts.join("") }]);
    if (left > 1) yield assistant([{ type: "tool_use", id, name: "Bash", input }]);
    if (left > 2) yield result(id, `part-${message} is made\n`.repeat(12));
    left -= Math.min(left, 3);
  }
}

/** @param {object} event */
function stream(event) {
  return { type: "stream_event", event, parent_tool_use_id: null };
}

/** @param {object[]} content */
function assistant(content) {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const said = { id: `msg_${message}`, type: "message", role: "assistant", model: "bench", content, usage };
  return { type: "assistant", message: said, parent_tool_use_id: null };
}

/**
 * @param {string} tool_use_id
 * @param {string} content
 */
function result(tool_use_id, content) {
  const said = { role: "user", content: [{ type: "tool_result", tool_use_id, content, is_error: false }] };
  return { type: "user", message: said, parent_tool_use_id: null };
}

/** @param {object} value */
function say(value) {
  process.stdout.write(`${JSON.stringify({ ...value, session_id: session })}\n`);
}
