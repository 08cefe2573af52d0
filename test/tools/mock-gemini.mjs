// A scripted Gemini API on loopback, for the real gemini. The directives are in mock-directive.mjs.
//   node test/tools/mock-gemini.mjs [port]      prints its address
import { decide, sendJson, serve, serveFromCommandLine, stream, wordsOf } from "./mock-directive.mjs";

const STATUS = {
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
};
const USAGE = {
  promptTokenCount: 100,
  candidatesTokenCount: 20,
  totalTokenCount: 120,
  cachedContentTokenCount: 40,
};

/** `requests` holds the body of every request of a conversation, in order. */
export async function startMockGemini({ port = 0 } = {}) {
  const requests = [];
  const server = await serve((request, response, body) => answer(request, response, body, requests), {
    port,
  });
  return { ...server, requests };
}

function answer(request, response, body, requests) {
  const [, method = ""] = /models\/[^:/?]+:(\w+)/.exec(request.url) ?? [];
  if (method === "countTokens") return sendJson(response, 200, { totalTokens: 42 });
  if (!/^(stream)?generateContent$/i.test(method)) return fail(response, 404);
  // Side requests with a schema, such as the next-speaker check.
  const schema = body.generationConfig?.responseSchema ?? body.generationConfig?.responseJsonSchema;
  const isAside = schema !== undefined || (body.tools ?? []).length === 0;
  if (!isAside) requests.push(body);
  const reply = isAside ? { text: aside(schema) } : decide(readConversation(body.contents));
  if (reply.status !== undefined) return fail(response, reply.status);
  if (method === "generateContent") return sendJson(response, 200, piece([{ text: reply.text }], true));
  return say(response, reply);
}

function readConversation(contents) {
  const fresh = contents.slice(contents.findLastIndex(({ role }) => role === "model") + 1);
  const parts = (list) => list.flatMap(({ role, parts = [] }) => (role === "user" ? parts : []));
  const texts = (list) => parts(list).flatMap(({ text }) => (text && !isContext(text) ? [text] : []));
  return {
    userTexts: texts(contents),
    said: texts(fresh),
    outputs: parts(fresh).flatMap(({ functionResponse }) =>
      functionResponse === undefined ? [] : [JSON.stringify(functionResponse.response)],
    ),
    bash: (command) => ({
      name: "run_shell_command",
      input: { command, description: "what the mock wants" },
    }),
  };
}

/** Text about the machine that gemini adds as the user. */
function isContext(text) {
  return /^\s*(<session_context>|<system|This is the Gemini CLI)/.test(text);
}

function aside(schema) {
  const fill = (property) => {
    if (property.enum !== undefined) return property.enum.at(-1);
    if (/num|int/i.test(property.type)) return 1;
    return /bool/i.test(property.type) ? false : "mock";
  };
  const entries = Object.entries(schema?.properties ?? {}).map(([name, property]) => [name, fill(property)]);
  return JSON.stringify(Object.fromEntries(entries));
}

function piece(parts, isLast) {
  const content = { role: "model", parts };
  const candidate = { content, index: 0, ...(isLast ? { finishReason: "STOP" } : {}) };
  return { candidates: [candidate], usageMetadata: USAGE, modelVersion: "mock", responseId: "mock" };
}

async function say(response, { text, paceMs, call, isStuck }) {
  await stream(
    response,
    wordsOf(text).map((word) => piece([{ text: word }], false)),
    paceMs,
  );
  if (isStuck) return;
  const calls =
    call === undefined ? [] : [piece([{ functionCall: { name: call.name, args: call.input } }], false)];
  await stream(response, [...calls, piece([{ text: "" }], true)]);
  response.end();
}

function fail(response, code) {
  sendJson(response, code, { error: { code, message: `mock ${code}`, status: STATUS[code] ?? "INTERNAL" } });
}

await serveFromCommandLine(import.meta.url, startMockGemini);
