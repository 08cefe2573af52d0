// A scripted OpenAI Chat Completions API on loopback, for the real opencode. The directives are in mock-directive.mjs.
//   node test/tools/mock-chat.mjs [port]      prints its address
import { randomUUID } from "node:crypto";
import { decide, sendJson, serve, serveFromCommandLine, stream, wordsOf } from "./mock-directive.mjs";

/** `requests` holds the body of every request of a conversation, in order. */
export async function startMockChat({ port = 0 } = {}) {
  const requests = [];
  const server = await serve((request, response, body) => answer(request, response, body, requests), {
    port,
    path: "/v1",
  });
  return { ...server, requests };
}

function answer(request, response, body, requests) {
  if (!request.url.endsWith("/chat/completions")) return fail(response, 404, `mock: no ${request.url}`);
  // A request without tools is not part of the conversation: opencode wants a title.
  const isAside = (body.tools ?? []).length === 0;
  if (!isAside) requests.push(body);
  const reply = isAside ? { text: "A title" } : decide(readConversation(body.messages));
  if (reply.status !== undefined) return fail(response, reply.status, `mock ${reply.status}`);
  return say(response, body.model, reply);
}

function readConversation(messages) {
  const fresh = messages.slice(messages.findLastIndex(({ role }) => role === "assistant") + 1);
  const texts = (list, wanted) =>
    list.flatMap((message) => (message.role === wanted ? partsOf(message).join("\n") : []));
  return {
    userTexts: texts(messages, "user"),
    said: texts(fresh, "user"),
    outputs: texts(fresh, "tool"),
    bash: (command) => ({ name: "bash", input: { command, description: "what the mock wants" } }),
  };
}

function partsOf({ content }) {
  if (typeof content === "string") return [content];
  return (content ?? []).flatMap((part) =>
    part.type === "text" && !part.text.startsWith("<system-reminder>") ? [part.text] : [],
  );
}

async function say(response, model, { text, paceMs, call, isStuck }) {
  const chunk = (delta, finish_reason = null) => ({
    id: "chatcmpl-mock",
    object: "chat.completion.chunk",
    created: 0,
    model,
    choices: [{ index: 0, delta, finish_reason }],
  });
  const calls = call === undefined ? [] : [toolCall(call)];
  const usage = {
    prompt_tokens: 100,
    completion_tokens: 20,
    total_tokens: 120,
    prompt_tokens_details: { cached_tokens: 40 },
  };
  await stream(
    response,
    [chunk({ role: "assistant", content: "" }), ...wordsOf(text).map((content) => chunk({ content }))],
    paceMs,
  );
  if (isStuck) return;
  await stream(response, [
    ...calls.map((tool) => chunk({ tool_calls: [{ index: 0, ...tool }] })),
    chunk({}, calls.length === 0 ? "stop" : "tool_calls"),
    { ...chunk({}), choices: [], usage },
    "[DONE]",
  ]);
  response.end();
}

function toolCall({ name, input }) {
  return {
    id: `call_${randomUUID()}`,
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  };
}

function fail(response, status, message) {
  const code = status === 401 ? "invalid_api_key" : null;
  sendJson(response, status, { error: { message, type: "invalid_request_error", param: null, code } });
}

await serveFromCommandLine(import.meta.url, startMockChat);
