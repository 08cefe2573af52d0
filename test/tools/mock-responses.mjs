// A scripted OpenAI Responses API on loopback, for the real codex. Stateless: the answer depends only on the
// conversation in the request, so a resumed codex may use another server. The last `#mock:<name> <args>` line in the
// user's last text decides; without one it repeats the text. Once the tools of a directive have run, the answer
// is "tool said: …" with their output.
//
// | directive             | answer                                                                     |
// |-----------------------|----------------------------------------------------------------------------|
// | #mock:text text       | this text                                                                  |
// | #mock:think text      | a reasoning summary, then this text                                        |
// | #mock:slow n ms word  | n chunks "tick0 tick1 …" or with that word, ms apart                       |
// | #mock:exec command    | "Running it.", the tool exec_command                                       |
// | #mock:escalate command | exec_command that asks to leave the sandbox, with a reason                |
// | #mock:patch file text | apply_patch that adds the file with this text                              |
// | #mock:edit file text  | apply_patch that replaces the file's first line "old" with this text       |
// | #mock:ask question    | request_user_input: one question with the options Red and Blue             |
// | #mock:agent prompt    | spawn_agent with this prompt (a directive, perhaps), then waits for its end |
// | #mock:spawn prompt    | spawn_agent, and does not wait                                             |
// | #mock:tool name json  | any function with these arguments; one of a namespace: mcp__NAME/function  |
// | #mock:seq a ;; b ;; c | these directives (without "#mock:") one after the other                    |
//                         in one of them, $REQUEST is the last request id that the tools before returned
// | #mock:both a ;; b     | the tools of these directives in one answer                                |
// | #mock:context         | "N earlier: […]": the user's texts before this one that arrived            |
// | #mock:image           | says which images arrived                                                  |
// | #mock:limit seconds   | 429 with the headers of a subscription, until then; afterwards words       |
// | #mock:err status      | an HTTP error                                                              |
// | #mock:failed code     | a response that fails, as rate_limit_exceeded or context_length_exceeded   |
// | #mock:cut text        | this text, then the connection is cut                                      |
// | #mock:hang            | starts and sends nothing                                                   |
//
//   node test/tools/mock-responses.mjs [port]      prints its address
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const ERROR_CODES = {
  400: "invalid_prompt",
  401: "invalid_api_key",
  403: "permission_denied",
  429: "rate_limit_exceeded",
  500: "server_error",
  503: "server_is_overloaded",
};
const USAGE = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 40 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 120,
};

/**
 * Starts the server; `requests` holds the body of every request for a response, in order. Answers to `#mock:limit` wait
 * for `limitsBegin`, and their seconds count from then.
 */
export function startMockResponses({ port = 0, limitsBegin } = {}) {
  const limits = new Map();
  const requests = [];
  const server = createServer((request, response) => {
    answer(request, response, { requests, limits, limitsBegin }).catch((error) => response.destroy(error));
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      resolve({
        url: `http://127.0.0.1:${server.address().port}/v1`,
        requests,
        close: () =>
          new Promise((done) => {
            server.close(done);
            server.closeAllConnections();
          }),
      });
    });
  });
}

/**
 * CODEX_HOME/config.toml for it; the key is in MOCK_KEY. No other traffic, no minutes of retries, and a
 * model from codex's own catalogue, so that apply_patch is offered. TMPDIR must not be above CODEX_HOME.
 */
export function codexConfigToml(url) {
  return `
model = "gpt-5.5"
model_provider = "mock"
check_for_update_on_startup = false

[model_providers.mock]
name = "mock"
base_url = "${url}"
wire_api = "responses"
env_key = "MOCK_KEY"
request_max_retries = 1
stream_max_retries = 1
supports_websockets = false

[features]
plugins = false
default_mode_request_user_input = true

[analytics]
enabled = false
`;
}

async function answer(request, response, { requests, limits, limitsBegin }) {
  const path = request.url.split("?")[0];
  const body = await readJson(request);
  if (request.method !== "POST" || !path.endsWith("/responses")) return sendError(response, 404);
  requests.push(body);
  const items = choose(body);
  const refusal = items.find((item) => item.type === "err");
  if (refusal !== undefined) return sendError(response, refusal.status);
  const limit = items.find((item) => item.type === "limit");
  if (limit !== undefined) {
    await limitsBegin;
    if (!limits.has(limit.words))
      limits.set(limit.words, Math.ceil(Date.now() / 1000 + limit.seconds) * 1000);
    const resetsAtMs = limits.get(limit.words);
    if (Date.now() < resetsAtMs) return sendLimit(response, resetsAtMs / 1000);
    return streamItems(response, body.model, [say("after the limit")]);
  }
  return streamItems(response, body.model, items);
}

/** The next step of the user's last directive: the one whose tools have not run yet. */
function choose(body) {
  const items = body.input ?? [];
  const at = items.findLastIndex((item) => textsOf(item).length > 0);
  const words = at === -1 ? "nothing" : textsOf(items[at]).join("\n");
  const outputs = items.slice(at + 1).flatMap((item) => (/_output$/.test(item.type) ? [item.output] : []));
  const directive = [...words.matchAll(/#mock:([^\n]*)/g)].at(-1)?.[1];
  let used = 0;
  let last = outputs;
  for (const step of stepsOf(directive ?? `text You said: ${words}`, body)) {
    const reply = step(outputs.slice(0, used));
    const calls = reply.filter((item) => item.type.endsWith("_call")).length;
    if (calls === 0 || used === outputs.length) return reply;
    last = outputs.slice(used, used + calls);
    used += calls;
  }
  return [say(`tool said: ${last.map(outputText).join(" | ")}`)];
}

/** A directive as steps: each returns the items of one response, from the output of the tools before it. */
function stepsOf(directive, body) {
  const [, name, args] = /^(\w*)[ \t]*(.*)$/.exec(directive) ?? [];
  const parts = () => args.split(/\s*;;\s*/).map((part) => stepsOf(part, body));
  if (name === "seq") return parts().flat();
  if (name === "both") return [() => parts().flatMap(([first]) => first([]).filter(isCall))];
  if (name === "agent") return [() => [spawn(args)], (outputs) => [wait(outputs.at(-1))]];
  return [(outputs) => (REPLIES[name] ?? REPLIES.text)(fill(args, outputs), body)];
}

/** "$REQUEST" is the last request that the tools before have named. A text of several lines has no arguments. */
function fill(args, outputs) {
  return args?.replaceAll(
    "$REQUEST",
    () =>
      outputs
        .map(outputText)
        .join(" ")
        .match(/req_\w+/g)
        ?.at(-1) ?? "none",
  );
}

const REPLIES = {
  text: (words) => [say(words || "Hello.")],
  think: (words) => [{ type: "reasoning", text: "One. Two. Three." }, say(words || "Thought.")],
  slow: (args) => {
    const [count = 100, pace = 100, word = "tick"] = args.split(/\s+/);
    const ticks = Array.from({ length: Number(count) }, (_, n) => `${word}${n} `).join("");
    return [{ ...say(ticks), pace: Number(pace) }];
  },
  exec: (cmd) => [say("Running it."), call("exec_command", { cmd })],
  escalate: (cmd) => [
    call("exec_command", {
      cmd,
      sandbox_permissions: "require_escalated",
      justification: "the mock wants to leave the sandbox",
    }),
  ],
  patch: (args) => {
    const [file, ...words] = args.split(" ");
    return [patch(`*** Add File: ${file}\n+${words.join(" ") || "hello"}`)];
  },
  edit: (args) => {
    const [file, ...words] = args.split(" ");
    return [patch(`*** Update File: ${file}\n@@\n-old\n+${words.join(" ") || "new"}`)];
  },
  ask: (question) => {
    const options = [
      { label: "Red", description: "warm" },
      { label: "Blue", description: "cold" },
    ];
    const asked = { id: "color", header: "Color", question: question || "Which color?", options };
    return [call("request_user_input", { questions: [asked] })];
  },
  spawn: (prompt) => [spawn(prompt)],
  tool: (args) => {
    const [tool, ...input] = args.split(" ");
    const [name, namespace] = tool.split("/").toReversed();
    return [call(name, JSON.parse(input.join(" ") || "{}"), namespace)];
  },
  context: (_args, body) => {
    const earlier = body.input.flatMap(textsOf).slice(0, -1);
    return [say(`${earlier.length} earlier: ${JSON.stringify(earlier)}`)];
  },
  image: (_args, body) => {
    const parts = body.input.flatMap((item) => (Array.isArray(item.content) ? item.content : []));
    const images = parts.flatMap((part) => (part.type === "input_image" ? [part.image_url] : []));
    const kinds = images.map((url) => `${/^data:([^;,]*)/.exec(url)?.[1] ?? url} ${url.length}`);
    return [say(`images: ${kinds.join(", ") || "none"}`)];
  },
  limit: (words) => [{ type: "limit", words, seconds: Number.parseInt(words, 10) }],
  err: (status) => [{ type: "err", status: Number(status) }],
  failed: (code) => [{ type: "failed", code }],
  cut: (words) => [{ ...say(words || "cut off he"), isCut: true }],
  hang: () => [{ type: "hang" }],
};

function say(text) {
  return { type: "message", text };
}

function call(name, input, namespace) {
  return { type: "function_call", name, input: JSON.stringify(input), namespace };
}

function patch(text) {
  const input = `*** Begin Patch\n${text}\n*** End Patch\n`;
  return { type: "custom_tool_call", name: "apply_patch", input };
}

function spawn(message) {
  return call("spawn_agent", { message }, "multi_agent_v1");
}

function wait(spawned) {
  const { agent_id } = JSON.parse(outputText(spawned));
  return call("wait_agent", { targets: [agent_id], timeout_ms: 60_000 }, "multi_agent_v1");
}

function isCall(item) {
  return item.type.endsWith("_call");
}

async function streamItems(response, model, items) {
  response.writeHead(200, { "content-type": "text/event-stream", "x-request-id": newId("req") });
  let sequence_number = 0;
  const send = (type, event) => {
    const data = { type, sequence_number: sequence_number++, ...event };
    response.write(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
  };
  const created_at = Math.floor(Date.now() / 1000);
  const head = { id: newId("resp"), object: "response", created_at, model, output: [], usage: null };
  send("response.created", { response: { ...head, status: "in_progress" } });
  const output = [];
  for (const [output_index, item] of items.entries()) {
    if (item.type === "hang") return;
    if (item.type === "failed") {
      const error = { code: item.code, message: `mock ${item.code}` };
      send("response.failed", { response: { ...head, status: "failed", error } });
      return response.end();
    }
    const { begun, ended, deltas } = STREAMS[item.type](item, output_index);
    send("response.output_item.added", { output_index, item: begun });
    for (const [type, event] of deltas) {
      if (response.destroyed) return;
      send(type, { item_id: begun.id, output_index, ...event });
      if (item.pace !== undefined) await sleep(item.pace);
    }
    if (item.isCut) return response.socket.end();
    send("response.output_item.done", { output_index, item: ended });
    output.push(ended);
  }
  send("response.completed", { response: { ...head, status: "completed", output, usage: USAGE } });
  response.end();
}

/** Each kind of item on the wire: its start, its end, and the events between. */
const STREAMS = {
  message: ({ text }) => {
    const begun = {
      id: newId("msg"),
      type: "message",
      role: "assistant",
      status: "in_progress",
      content: [],
    };
    const content = [{ type: "output_text", text, annotations: [] }];
    const deltas = pieces(text).map((delta) => ["response.output_text.delta", { content_index: 0, delta }]);
    return { begun, ended: { ...begun, status: "completed", content }, deltas };
  },
  reasoning: ({ text }) => {
    const begun = { id: newId("rs"), type: "reasoning", summary: [], encrypted_content: "bW9jaw==" };
    const part = { summary_index: 0, part: { type: "summary_text", text: "" } };
    const deltas = pieces(text).map((delta) => {
      return ["response.reasoning_summary_text.delta", { summary_index: 0, delta }];
    });
    return {
      begun,
      ended: { ...begun, summary: [{ type: "summary_text", text }] },
      deltas: [["response.reasoning_summary_part.added", part], ...deltas],
    };
  },
  function_call: ({ name, input, namespace }) => {
    const begun = { ...newCall("fc", "function_call", name), arguments: "" };
    if (namespace !== undefined) begun.namespace = namespace;
    const deltas = [["response.function_call_arguments.delta", { delta: input }]];
    return { begun, ended: { ...begun, status: "completed", arguments: input }, deltas };
  },
  custom_tool_call: ({ name, input }) => {
    const begun = { ...newCall("ctc", "custom_tool_call", name), input: "" };
    const deltas = [["response.custom_tool_call_input.delta", { delta: input }]];
    return { begun, ended: { ...begun, status: "completed", input }, deltas };
  },
};

function newCall(kind, type, name) {
  return { id: newId(kind), type, status: "in_progress", call_id: newId("call"), name };
}

function pieces(line) {
  return line.match(/\S+\s*|\s+/g) ?? [];
}

/** The user's text in this item, without codex's own notes such as <environment_context>. */
function textsOf(item) {
  if (item.type !== "message" || item.role !== "user") return [];
  const parts = typeof item.content === "string" ? [{ text: item.content }] : item.content;
  return parts.flatMap(({ text }) => (text === undefined || /^\s*(<|# AGENTS\.md)/.test(text) ? [] : [text]));
}

function outputText(output) {
  return (typeof output === "string" ? output : JSON.stringify(output)).slice(0, 400);
}

async function readJson(request) {
  let body = "";
  for await (const chunk of request) body += chunk;
  return body === "" ? {} : JSON.parse(body);
}

/** As for an account with a subscription: codex reports the window, then that its limit is reached. */
function sendLimit(response, resetsAt) {
  const error = { type: "usage_limit_reached", message: "mock limit", plan_type: "pro", resets_at: resetsAt };
  response.writeHead(429, {
    "content-type": "application/json",
    "x-request-id": newId("req"),
    "x-codex-primary-used-percent": "100",
    "x-codex-primary-window-minutes": "300",
    "x-codex-primary-reset-at": String(resetsAt),
  });
  response.end(JSON.stringify({ error }));
}

function sendError(response, status) {
  const code = ERROR_CODES[status] ?? "error";
  response.writeHead(status, { "content-type": "application/json", "x-request-id": newId("req") });
  response.end(JSON.stringify({ error: { message: `mock ${status}`, type: code, code, param: null } }));
}

function newId(kind) {
  return `${kind}_${randomUUID().replaceAll("-", "").slice(0, 24)}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url } = await startMockResponses({ port: Number(process.argv[2] ?? 0) });
  console.log(url);
}
