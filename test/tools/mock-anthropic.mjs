// A scripted Anthropic Messages API on loopback, for the real claude. Stateless: the answer depends only on
// the conversation in the request, so a resumed claude may use another server. The last `#mock:<name> <args>` in
// the user's text decides; without one it repeats the text.
//
// | directive            | answer                                                                |
// |----------------------|-----------------------------------------------------------------------|
// | #mock:text text      | this text                                                             |
// | #mock:think text     | a thinking block with a signature, then this text                     |
// | #mock:bash command   | "Running it.", the tool Bash; then, with its result, "tool said: …"   |
// | #mock:tool Name json | any tool with this input; then as above                               |
// | #mock:steps json     | these tools one after the other: [["Write", {…}], …] or directives: ["slow", "9 9"]; then as above. $PLAN_FILE is where a plan goes |
// | #mock:context        | lists all user and assistant texts that arrived                       |
// | #mock:image          | says which images arrived                                             |
// | #mock:slow n ms word | n chunks "tick0 tick1 …" or with that word, ms apart                  |
// | #mock:limit seconds  | 429 with the headers of a subscription, until then; afterwards words  |
// | #mock:err status     | an API error                                                          |
// | #mock:on /re/ order  | a standing order: when a later text matches and has no directive of its own, this one ("bash $1") is followed |
//
//   node test/tools/mock-anthropic.mjs [port]      prints its address
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const ERROR_TYPES = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  429: "rate_limit_error",
  500: "api_error",
  529: "overloaded_error",
};
const USAGE = {
  input_tokens: 10,
  output_tokens: 1,
  cache_creation_input_tokens: 3,
  cache_read_input_tokens: 5,
  service_tier: "standard",
};
const OUTPUT_TOKENS = 20;

/**
 * Starts the server; `requests` holds the body of every message request, in order, `payers` its credentials. Answers to
 * `#mock:limit` wait for `limitsBegin`, and their seconds count from then.
 */
export function startMockAnthropic({ port = 0, limitsBegin } = {}) {
  const requests = [];
  const payers = [];
  const limits = new Map();
  const server = createServer((request, response) => {
    answer(request, response, { requests, payers, limits, limitsBegin }).catch((error) =>
      response.destroy(error),
    );
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      resolve({
        url: `http://127.0.0.1:${server.address().port}`,
        requests,
        payers,
        close: () =>
          new Promise((done) => {
            server.close(done);
            server.closeAllConnections();
          }),
      });
    });
  });
}

/** `seconds`: a limit that the first request with these words reaches. When it is reset. */
function openWindow(limits, words) {
  if (!limits.has(words)) limits.set(words, Math.ceil(Date.now() / 1000 + Number.parseInt(words, 10)) * 1000);
  return limits.get(words);
}

/** As for an account with a subscription, seen on 2.1.325. */
function sendLimit(response, resetsAtMs) {
  const reset = String(resetsAtMs / 1000);
  const error = { type: "rate_limit_error", message: "mock limit" };
  sendJson(
    response,
    429,
    { type: "error", error },
    {
      "anthropic-ratelimit-unified-status": "rejected",
      "anthropic-ratelimit-unified-reset": reset,
      "anthropic-ratelimit-unified-representative-claim": "five_hour",
      "anthropic-ratelimit-unified-5h-utilization": "1.0",
      "anthropic-ratelimit-unified-5h-reset": reset,
      "anthropic-ratelimit-unified-5h-status": "rejected",
      "x-should-retry": "false",
    },
  );
}

async function answer(request, response, { requests, payers, limits, limitsBegin }) {
  const path = request.url.split("?")[0];
  const body = await readJson(request);
  if (path.endsWith("/count_tokens")) return sendJson(response, 200, { input_tokens: 42 });
  if (request.method !== "POST" || !path.endsWith("/v1/messages")) return sendError(response, 404);
  requests.push(body);
  payers.push(request.headers["x-api-key"] ?? request.headers["authorization"] ?? "nobody");
  const { name, args, taken } = choose(body);
  if (name === "err") return sendError(response, Number(args));
  if (name === "limit") {
    await limitsBegin;
    const resetsAtMs = openWindow(limits, args);
    if (Date.now() < resetsAtMs) return sendLimit(response, resetsAtMs);
  }
  const reply = (REPLIES[name] ?? REPLIES.text)(args, body, taken);
  const message = { id: newId("msg"), type: "message", role: "assistant", model: body.model };
  if (body.stream === true) return streamReply(response, message, reply);
  const content = reply.content.map(({ pace: _, ...block }) => block);
  const usage = { ...USAGE, output_tokens: OUTPUT_TOKENS };
  return sendJson(response, 200, {
    ...message,
    content,
    stop_reason: reply.stop,
    stop_sequence: null,
    usage,
  });
}

/** The directive to follow, from the messages after our last answer. */
function choose(body) {
  // Claude puts role "system" in between (beta mid-conversation-system): the user's text only if it arrived during a turn.
  const messages = (body.messages ?? []).flatMap((message) =>
    message.role === "system" ? readSteered(message) : [message],
  );
  const fresh = messages.slice(messages.findLastIndex((message) => message.role === "assistant") + 1);
  const blocks = fresh.flatMap((message) => blocksOf(message.content));
  const texts = blocks.filter(isUserText).map((block) => block.text);
  for (const text of texts.toReversed()) {
    const found = [...text.matchAll(/#mock:(\w+)[ \t]*([^\n]*)/g)].at(-1);
    if (found !== undefined) return { name: found[1], args: found[2].trim() };
  }
  for (const text of texts) {
    const order = standingOrder(messages, text);
    if (order !== undefined) return order;
  }
  const results = blocks.filter((block) => block.type === "tool_result").map(toolText);
  const step = results.length > 0 ? nextStep(messages) : undefined;
  if (step !== undefined) return step;
  if (results.length > 0) return { name: "text", args: `tool said: ${results.join(" | ")}` };
  return { name: "text", args: `You said: ${texts.at(-1) ?? "nothing"}` };
}

/** As the user's, so that its directive is followed. */
function readSteered({ content }) {
  const said = blocksOf(content).flatMap(
    ({ text }) =>
      /^The user sent a new message while you were working:\n(.*?)(?:\n\n|$)/s.exec(text ?? "")?.[1] ?? [],
  );
  return said.length === 0 ? [] : [{ role: "user", content: said.map(text) }];
}

/** The standing order of the conversation that matches this text. */
function standingOrder(messages, heard) {
  const said = messages.flatMap((message) => blocksOf(message.content).filter(isUserText));
  for (const { text } of said) {
    for (const [, pattern, name, args] of text.matchAll(/#mock:on \/(.+?)\/ (\w+)[ \t]*([^\n]*)/g)) {
      const match = new RegExp(pattern).exec(heard);
      if (match !== null) return { name, args: args.trim().replace("$1", match[1] ?? "") };
    }
  }
  return undefined;
}

/** The next step of the last list; the answers since then show how many are done. */
function nextStep(messages) {
  const isOrder = ({ role, content }) =>
    role === "user" &&
    blocksOf(content).some((block) => isUserText(block) && block.text.includes("#mock:steps"));
  const at = messages.findLastIndex(isOrder);
  if (at < 0) return undefined;
  const order = blocksOf(messages[at].content).find((block) => block.text?.includes("#mock:steps"));
  const [, args] = /#mock:steps[ \t]*([^\n]*)/.exec(order.text);
  const taken = messages.slice(at).filter(({ role }) => role === "assistant").length;
  return taken < JSON.parse(args).length ? { name: "steps", args, taken } : undefined;
}

const REPLIES = {
  text: (words) => say([text(words || "Hello.")]),
  think: (words) =>
    say([
      { type: "thinking", thinking: "One. Two. Three.", signature: "bW9jay1zaWduYXR1cmU=" },
      text(words || "Thought."),
    ]),
  bash: (command) => use("Bash", { command, description: "mock command" }, [text("Running it.")]),
  tool: (args) => {
    const [name, ...input] = args.split(" ");
    return use(name, JSON.parse(input.join(" ") || "{}"));
  },
  steps: (args, body, taken = 0) => {
    const [name, input] = JSON.parse(args)[taken];
    if (typeof input === "string") return REPLIES[name](input, body);
    const planFile = /\/[^"\\ ]*\/plans\/[^"\\ ]+\.md/.exec(JSON.stringify(body.messages))?.[0] ?? "";
    return use(name, JSON.parse(JSON.stringify(input).replaceAll("$PLAN_FILE", planFile)));
  },
  context: (_args, body) => {
    const heard = body.messages
      .filter((message) => message.role !== "system")
      .flatMap((message) => blocksOf(message.content).filter(isUserText))
      .map((block) => block.text);
    return say([text(`context: ${JSON.stringify(heard)}`)]);
  },
  image: (_args, body) => {
    const blocks = body.messages.flatMap((message) => blocksOf(message.content));
    const images = blocks.filter((block) => block.type === "image").map((block) => block.source.media_type);
    return say([text(`images: ${images.join(",") || "none"}`)]);
  },
  slow: (args) => {
    const [count = 100, pace = 100, word = "tick"] = args.split(/\s+/);
    const ticks = Array.from({ length: Number(count) }, (_, n) => `${word}${n} `).join("");
    return say([{ ...text(ticks), pace: Number(pace) }]);
  },
};

function say(content) {
  return { content, stop: "end_turn" };
}

function use(name, input, before = []) {
  return { content: [...before, { type: "tool_use", id: newId("toolu"), name, input }], stop: "tool_use" };
}

function text(words) {
  return { type: "text", text: words };
}

async function streamReply(response, message, { content, stop }) {
  response.writeHead(200, { "content-type": "text/event-stream", "request-id": newId("req") });
  const send = (event) => response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  send({
    type: "message_start",
    message: { ...message, content: [], stop_reason: null, stop_sequence: null, usage: USAGE },
  });
  for (const [index, block] of content.entries()) {
    send({ type: "content_block_start", index, content_block: emptied(block) });
    for (const delta of deltasOf(block)) {
      if (response.destroyed) return;
      send({ type: "content_block_delta", index, delta });
      if (block.pace !== undefined) await sleep(block.pace);
    }
    send({ type: "content_block_stop", index });
  }
  send({
    type: "message_delta",
    delta: { stop_reason: stop, stop_sequence: null },
    usage: { output_tokens: OUTPUT_TOKENS },
  });
  send({ type: "message_stop" });
  response.end();
}

function emptied({ pace: _, ...block }) {
  if (block.type === "text") return { ...block, text: "" };
  if (block.type === "thinking") return { ...block, thinking: "", signature: "" };
  return { ...block, input: {} };
}

function deltasOf(block) {
  if (block.type === "text") return words(block.text).map((part) => ({ type: "text_delta", text: part }));
  if (block.type === "thinking") {
    const thoughts = words(block.thinking).map((part) => ({ type: "thinking_delta", thinking: part }));
    return [...thoughts, { type: "signature_delta", signature: block.signature }];
  }
  return (JSON.stringify(block.input).match(/.{1,24}/gs) ?? []).map((partial_json) => {
    return { type: "input_json_delta", partial_json };
  });
}

function words(line) {
  return line.match(/\S+\s*|\s+/g) ?? [];
}

function blocksOf(content) {
  return typeof content === "string" ? [text(content)] : (content ?? []);
}

/** Since 2.1.325 a background task reports in a reminder; it still starts a turn. */
function isUserText(block) {
  if (block.type !== "text") return false;
  return !block.text.startsWith("<system-reminder>") || block.text.includes("<task-notification>");
}

function toolText({ content, is_error }) {
  const said =
    typeof content === "string"
      ? content
      : blocksOf(content)
          .map((block) => block.text)
          .join(" ");
  return `${is_error === true ? "ERROR " : ""}${said.slice(0, 300)}`;
}

async function readJson(request) {
  let body = "";
  for await (const chunk of request) body += chunk;
  return body === "" ? {} : JSON.parse(body);
}

function sendError(response, status) {
  const error = { type: ERROR_TYPES[status] ?? "api_error", message: `mock ${status}` };
  sendJson(response, status, { type: "error", error }, status === 429 ? { "retry-after": "1" } : {});
}

function sendJson(response, status, value, headers = {}) {
  response.writeHead(status, { "content-type": "application/json", "request-id": newId("req"), ...headers });
  response.end(JSON.stringify(value));
}

function newId(kind) {
  return `${kind}_${randomUUID().replaceAll("-", "").slice(0, 24)}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url } = await startMockAnthropic({ port: Number(process.argv[2] ?? 0) });
  console.log(url);
}
