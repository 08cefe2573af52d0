// Shared by the scripted models for ACP agents: the directives in a user's text, and a server for them. Stateless: the
// answer depends only on the conversation, so a resumed agent may use another server. The last `#mock:<name> <args>` line
// of the user's last text decides; without one the model repeats the text. Once the tool of a directive has run, the
// answer is "tool said: …" with its output.
//
// | directive            | answer                                                          |
// |----------------------|-----------------------------------------------------------------|
// | #mock:text text      | this text                                                       |
// | #mock:slow n ms word | n chunks "tick0 tick1 …" or with that word, ms apart            |
// | #mock:bash command   | "Running it.", the agent's tool for commands                    |
// | #mock:tool name json | "Calling it.", any tool with these arguments                    |
// | #mock:seq a ;; b     | directive a (without "#mock:"); b once the tool of a has run     |
// | #mock:context        | "N earlier: […]": the user's texts before this one that arrived |
// | #mock:err status     | an HTTP error                                                   |
// | #mock:hang           | starts and sends nothing                                        |
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/**
 * The answer of the model. `userTexts`: all of them; `said`: those after its own last message; `outputs`: tool
 * output after it; `bash`: how a command is called.
 */
export function decide({ userTexts, said, outputs, bash }) {
  const directive = [...said.join("\n").matchAll(/#mock:(\w+)[ \t]*([^\n]*)/g)].at(-1);
  const following =
    outputs.length > 0 ? /#mock:seq .*?;;[ \t]*(\w+)[ \t]*([^\n]*)/.exec(userTexts.at(-1)) : null;
  if (directive === undefined && following !== null) return follow(following, { userTexts, bash });
  if (directive === undefined) {
    const text = outputs.length > 0 ? `tool said: ${outputs.join(" | ")}` : `You said: ${userTexts.at(-1)}`;
    return { text };
  }
  return follow(directive, { userTexts, bash });
}

function follow([, name = "", args = ""], { userTexts, bash }) {
  if (name === "seq") return follow(/^(\w+)[ \t]*(.*?)[ \t]*;;/.exec(args), { userTexts, bash });
  const [first = "", ...rest] = args.split(" ");
  if (name === "slow") {
    const count = Number(first || 100);
    return {
      text: Array.from({ length: count }, (_, n) => `${rest[1] ?? "tick"}${n} `).join(""),
      paceMs: Number(rest[0] ?? 100),
    };
  }
  if (name === "bash") return { text: "Running it.", call: bash(args) };
  if (name === "tool")
    return { text: "Calling it.", call: { name: first, input: JSON.parse(rest.join(" ")) } };
  if (name === "context") {
    const earlier = userTexts.slice(0, -1);
    return { text: `${earlier.length} earlier: ${JSON.stringify(earlier)}` };
  }
  if (name === "err") return { text: "", status: Number(first) };
  if (name === "hang") return { text: "", isStuck: true };
  return { text: args || "Hello." };
}

/** Each word with the blanks after it, as a model streams them. */
export function wordsOf(text) {
  return text.match(/\S+\s*|\s+/g) ?? [];
}

/** Writes server-sent events, at the pace of the answer, until the client disconnects. */
export async function stream(response, events, paceMs = 0) {
  if (!response.headersSent) response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
  for (const event of events) {
    if (response.destroyed) return;
    response.write(`data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`);
    if (paceMs > 0) await sleep(paceMs);
  }
}

export function sendJson(response, status, body) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

/** Starts a server on loopback; `handle` gets each request with its body. */
export function serve(handle, { port = 0, path = "" } = {}) {
  const server = createServer((request, response) => {
    readJson(request)
      .then((body) => handle(request, response, body))
      .catch((error) => response.destroy(error));
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      resolve({
        url: `http://127.0.0.1:${server.address().port}${path}`,
        close: () =>
          new Promise((done) => {
            server.close(done);
            server.closeAllConnections();
          }),
      });
    });
  });
}

/** For `node mock-….mjs [port]`. */
export async function serveFromCommandLine(url, start) {
  if (process.argv[1] !== fileURLToPath(url)) return;
  console.log((await start({ port: Number(process.argv[2] ?? 0) })).url);
}

async function readJson(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString("utf8");
  return text === "" ? {} : JSON.parse(text);
}
