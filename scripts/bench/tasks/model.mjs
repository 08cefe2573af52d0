// A scripted model with all three protocols: it takes the steps of the current task, one for each request that brings the
// results of the steps before.
import { randomUUID } from "node:crypto";
import { serve } from "../../../test/tools/mock-directive.mjs";
import { toCall } from "./calls.mjs";

/**
 * @typedef {Record<string, unknown>} Body
 * @typedef {{ protocol: "chat" | "anthropic" | "responses", body: Body }} Sent
 * @typedef {{ task: import("./list.mjs").Task, cwd: string }} Work
 */

/** @param {{ work: Work | undefined, sent: Sent[] }} state */
export function startModel(state) {
  return serve(
    (/** @type {import("node:http").IncomingMessage} */ request, response, /** @type {Body} */ body) => {
      const protocol = protocolOf(request.url ?? "");
      if (protocol === undefined || request.method !== "POST" || state.work === undefined) {
        response.writeHead(404, { "content-type": "application/json" });
        response.end("{}");
        return;
      }
      state.sent.push({ protocol, body });
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const event of EVENTS[protocol](answer(body, state.work), String(body["model"]))) {
        const type = typeof event["type"] === "string" ? `event: ${event["type"]}\n` : "";
        response.write(`${type}data: ${JSON.stringify(event)}\n\n`);
      }
      response.end(protocol === "chat" ? "data: [DONE]\n\n" : "");
    },
  );
}

/** @param {string} url @returns {Sent["protocol"] | undefined} */
function protocolOf(url) {
  if (url.includes("/chat/completions")) return "chat";
  if (url.includes("/responses")) return "responses";
  return /\/messages(\?|$)/.test(url) ? "anthropic" : undefined;
}

/** @param {Body} body @param {Work} work @returns {import("./calls.mjs").Call | string} */
function answer(body, { task, cwd }) {
  const tools = new Set(
    list(body["tools"]).map((tool) => String(tool["name"] ?? object(tool["function"])["name"])),
  );
  // A request without tools is not part of the task: opencode wants a title.
  if (tools.size === 0) return "A title";
  const step = task.steps[countResults(body)];
  return step === undefined ? "Done: changed and checked." : toCall(step, tools, cwd);
}

/** @param {Body} body */
function countResults(body) {
  const items = [...list(body["messages"]), ...list(body["input"])];
  const blocks = items.flatMap((item) => list(item["content"]));
  return [...items, ...blocks].filter(
    ({ role, type }) => role === "tool" || type === "tool_result" || /_output$/.test(String(type)),
  ).length;
}

/** @type {Record<Sent["protocol"], (said: import("./calls.mjs").Call | string, model: string) => Body[]>} */
const EVENTS = {
  chat(said, model) {
    const chunk = (
      /** @type {object} */ delta,
      /** @type {string | null} */ finish_reason = null,
      more = {},
    ) => ({
      ...{ id: "chatcmpl-1", object: "chat.completion.chunk", created: 0, model },
      choices: [{ index: 0, delta, finish_reason }],
      ...more,
    });
    const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
    if (typeof said === "string")
      return [chunk({ role: "assistant", content: said }), chunk({}, "stop", { usage })];
    const call = { name: said.name, arguments: argumentsOf(said) };
    const tool_calls = [{ index: 0, id: newId("call"), type: "function", function: call }];
    return [chunk({ role: "assistant", tool_calls }), chunk({}, "tool_calls", { usage })];
  },
  anthropic(said, model) {
    const usage = { input_tokens: 100, output_tokens: 20 };
    const isText = typeof said === "string";
    const block = isText
      ? { type: "text", text: "" }
      : { type: "tool_use", id: newId("toolu"), name: said.name, input: {} };
    const delta = isText
      ? { type: "text_delta", text: said }
      : { type: "input_json_delta", partial_json: argumentsOf(said) };
    const message = { id: newId("msg"), type: "message", role: "assistant", model, content: [], usage };
    return [
      { type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null } },
      { type: "content_block_start", index: 0, content_block: block },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      {
        type: "message_delta",
        delta: { stop_reason: isText ? "end_turn" : "tool_use", stop_sequence: null },
        usage,
      },
      { type: "message_stop" },
    ];
  },
  responses(said, model) {
    const item = toItem(said);
    const head = { id: newId("resp"), object: "response", created_at: 0, model, output: [], usage: null };
    const usage = { input_tokens: 100, output_tokens: 20, total_tokens: 120 };
    const details = {
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    };
    const response = { ...head, status: "completed", output: [item], usage: { ...usage, ...details } };
    return [
      { type: "response.created", response: { ...head, status: "in_progress" } },
      { type: "response.output_item.added", output_index: 0, item: toBegun(item) },
      ...(typeof said === "string"
        ? [
            {
              type: "response.output_text.delta",
              item_id: item.id,
              output_index: 0,
              content_index: 0,
              delta: said,
            },
          ]
        : []),
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response },
    ].map((event, sequence_number) => ({ ...event, sequence_number }));
  },
};

/** @param {import("./calls.mjs").Call | string} said @returns {Body & { id: string }} */
function toItem(said) {
  if (typeof said === "string") {
    const content = [{ type: "output_text", text: said, annotations: [] }];
    return { id: newId("msg"), type: "message", role: "assistant", status: "completed", content };
  }
  const call = { status: "completed", call_id: newId("call"), name: said.name };
  if ("text" in said) return { id: newId("ctc"), type: "custom_tool_call", ...call, input: said.text };
  return { id: newId("fc"), type: "function_call", ...call, arguments: argumentsOf(said) };
}

/** @param {Body} item @returns {Body} */
function toBegun(item) {
  const empty = { content: [], input: "", arguments: "" };
  const fields = Object.entries(empty).filter(([name]) => name in item);
  return { ...item, status: "in_progress", ...Object.fromEntries(fields) };
}

/** @param {import("./calls.mjs").Call} call */
const argumentsOf = (call) => ("input" in call ? JSON.stringify(call.input) : call.text);

const newId = (/** @type {string} */ kind) => `${kind}_${randomUUID().replaceAll("-", "").slice(0, 24)}`;

/** @param {unknown} value @returns {Body[]} */
const list = (value) => (Array.isArray(value) ? value : []);

/** @param {unknown} value @returns {Body} */
const object = (value) => (typeof value === "object" && value !== null ? /** @type {Body} */ (value) : {});
