#!/usr/bin/env node
// The agent in the screenshots: speaks like Claude Code and plays the steps that scenes.mjs has for the message it
// received. A step that takes time moves the simulated clock instead of waiting.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { pass } from "./moved.mjs";
import { TURNS } from "./scenes.mjs";

const CLOCK = process.env["STAGE_CLOCK"] ?? "";
/** Time for the daemon to read a line. */
const READ_MS = 80;
const MODEL = "claude-sonnet-4-5";

if (process.argv.includes("--version")) {
  console.log("2.1.197 (Claude Code)");
  process.exit(0);
}
const sessionId = argument("--session-id") ?? argument("--resume") ?? randomUUID();
/** @type {Map<string, (answer: any) => void>} */
const waiting = new Map();
let cost = 0;
let calls = 0;

let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (text) => {
  const lines = (rest + text).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) if (line.trim() !== "") take(JSON.parse(line));
});
process.stdin.on("end", () => process.exit(0));

/** @param {string} name */
function argument(name) {
  const at = process.argv.indexOf(name);
  return at === -1 ? undefined : process.argv[at + 1];
}

/** @param {any} frame */
function take(frame) {
  if (frame.type === "control_request") {
    const response = { commands: [], models: [], pid: process.pid };
    out({
      type: "control_response",
      response: { request_id: frame.request_id, subtype: "success", response },
    });
  } else if (frame.type === "control_response") {
    waiting.get(frame.response.request_id)?.(frame.response.response);
  } else if (frame.type === "user") {
    const { content } = frame.message;
    const text =
      typeof content === "string" ? content : content.map((/** @type {any} */ one) => one.text).join("");
    void play(text);
  }
}

/** @param {string} text */
async function play(text) {
  const turn = TURNS[text] ?? { steps: [{ say: "Done." }], tokens: [900, 40], usd: 0.004 };
  out({ type: "system", subtype: "init", cwd: process.cwd(), tools: ["Bash"], model: MODEL });
  for (const step of turn.steps) await playStep(step);
  cost += turn.usd ?? 0;
  const [input_tokens = 0, output_tokens = 0] = turn.tokens ?? [];
  out({
    type: "result",
    subtype: "success",
    is_error: false,
    num_turns: 1,
    duration_ms: turn.steps.reduce((sum, { seconds = 0 }) => sum + seconds * 1000, 0),
    result: "",
    total_cost_usd: cost,
    usage: { input_tokens, output_tokens },
  });
}

/** @param {import("./scenes.mjs").Step} step */
async function playStep({
  think,
  say,
  tool,
  input = {},
  output = "",
  isBad = false,
  asks,
  hangs,
  seconds = 0,
}) {
  if (think !== undefined) {
    delta({ type: "thinking_delta", thinking: think });
    await spend(seconds);
    assistant([{ type: "thinking", thinking: think, signature: "c2ln" }]);
  } else if (say !== undefined) {
    for (const word of say.match(/\S+\s*/g) ?? []) delta({ type: "text_delta", text: word });
    await spend(seconds);
    if (!hangs) assistant([{ type: "text", text: say }]);
  } else if (tool !== undefined) {
    calls += 1;
    const id = `toolu_${sessionId.slice(0, 8)}_${calls}`;
    assistant([{ type: "tool_use", id, name: tool, input }]);
    if (asks !== undefined) await ask(tool, id, input, asks);
    await spend(seconds);
    if (!hangs) toolResult(id, output, isBad);
  }
  if (hangs) await new Promise(() => undefined);
}

/**
 * @param {string} tool_name
 * @param {string} tool_use_id
 * @param {object} input
 * @param {{ rule?: string }} asks
 */
async function ask(tool_name, tool_use_id, input, { rule }) {
  const request_id = `ask-${calls}`;
  const rules = [{ toolName: tool_name, ruleContent: rule }];
  const suggestion = { type: "addRules", rules, behavior: "allow", destination: "localSettings" };
  const answer = new Promise((resolve) => waiting.set(request_id, resolve));
  const suggests = rule === undefined ? {} : { permission_suggestions: [suggestion] };
  const request = { subtype: "can_use_tool", tool_name, input, tool_use_id, ...suggests };
  out({ type: "control_request", request_id, request });
  await answer;
}

/**
 * Lets the daemon read the previous output at its own time first.
 * @param {number} seconds
 */
async function spend(seconds) {
  await sleep(READ_MS);
  pass(CLOCK, seconds);
}

/** @param {object} part */
function delta(part) {
  out({ type: "stream_event", event: { type: "content_block_delta", index: 0, delta: part } });
}

/** @param {object[]} content */
function assistant(content) {
  const id = `msg_${randomUUID().slice(0, 8)}`;
  out({ type: "assistant", message: { id, role: "assistant", model: MODEL, content, stop_reason: null } });
}

/**
 * @param {string} tool_use_id
 * @param {string} content
 * @param {boolean} is_error
 */
function toolResult(tool_use_id, content, is_error) {
  out({
    type: "user",
    message: { role: "user", content: [{ type: "tool_result", tool_use_id, content, is_error }] },
  });
}

/** @param {object} frame */
function out(frame) {
  const whole = { parent_tool_use_id: null, ...frame, session_id: sessionId, uuid: randomUUID() };
  process.stdout.write(`${JSON.stringify(whole)}\n`);
}
