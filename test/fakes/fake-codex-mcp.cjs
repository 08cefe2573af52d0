#!/usr/bin/env node
// A fake `codex mcp-server` of Codex 0.125, which no longer exists: made from the facts that were written down
// when it did. Same arguments, same JSON-RPC, same events, same silence after a cancel. A real executable without
// dependencies. The prompt contains directives, which are executed in order.
//
// Environment: FAKE_CODEX_VERSION=text  the version in serverInfo (0.125.0)
//              FAKE_CODEX_METHOD=name   how its events are called (codex/event)
//              FAKE_CODEX_KNOWS=id      a thread that it can continue although another process began it
//              FAKE_CODEX_FAULT=name    a fault of the process itself (second table)
//
// | directive             | what happens                                                                   |
// |-----------------------|-------------------------------------------------------------------------------|
// | #say words            | answers with these words (default: "You said: <prompt>")                       |
// | #slow n ms            | n words, ms apart                                                              |
// | #flood n bytes        | n deltas of this many bytes, as fast as possible                               |
// | #tool cmd             | really runs `sh -c cmd`, with exec_command_* events                            |
// | #context              | lists all prompts of this thread                                               |
// | #argv / #call         | answers with its argv / with the tools/call that it got, as JSON               |
// | #env NAME             | answers with a variable of its environment                                     |
// | #received method      | answers with the messages of this method that it got, as JSON                  |
// | #approve cmd          | asks before it runs cmd; says the answer it got                                |
// | #patch file           | asks before it changes file; says the answer it got                            |
// | #ask-retract          | asks, then takes its question back                                             |
// | #ask-open / #answers  | asks and does not wait / says which answers to its questions it got            |
// | #ask-late             | as #approve, but in the name of a call that is over; says the answer it got    |
// | #request method       | sends us another request and says what came back                               |
// | #rate / #startup      | rate limits / the start of its own MCP servers                                 |
// | #unknown / #notify    | an event of an unknown type / a notification that is no event                  |
// | #deaf                 | nothing more in this turn, whatever we say                                     |
// | #stubborn             | continues as if there were no cancel: events and a reply, much too late        |
// | #cancel-reply         | a cancel gets a JSON-RPC error as reply and no turn_aborted                    |
// | #cancel-both          | a cancel gets turn_aborted and then a reply                                    |
// | #abort                | aborts the turn on its own                                                     |
// | #rpc-error code words | the call fails with this JSON-RPC error                                        |
// | #tool-error words     | the call fails inside its result (isError)                                     |
// | #result-error words   | the same as in older versions:     {"error": words}                            |
// | #auth-info            | an error event with codex_error_info, then #tool-error                         |
// | #auth-stderr          | "Not authenticated" on stderr, then death                                      |
// | #stderr n             | n lines on stderr, some with 401 in them                                       |
// | #crash [code]         | words on stderr, exit (1)                                                      |
// | #crash-silent [code]  | exit without a word                                                            |
// | #sigkill              | kills itself                                                                   |
// | #no-newline-exit      | the reply without its newline, then exit 0                                     |
// | #close-stdout         | stdout closes, the process stays                                               |
// | #close-stdin          | closes its input, the process stays                                            |
// | #garbage #half-json #array #oversize [bytes] #u2028 #drip #empty-lines | odd lines, then it continues                                                   |
// | #content-length       | one message with a Content-Length header                                       |
//
// | FAKE_CODEX_FAULT      | what happens                                                                   |
// |-----------------------|-------------------------------------------------------------------------------|
// | no-mcp-server         | as Codex 0.154: the subcommand does not exist                                  |
// | silent-exit           | exit 1 without a word                                                          |
// | no-initialize         | never answers initialize                                                       |
// | refuse-initialize     | answers it with an error                                                       |
// | no-reply-tool         | lists no tool codex-reply                                                      |
// | no-tools-list         | never answers tools/list                                                       |
// | content-length        | frames its messages with headers                                               |
// | ignore-eof / ignore-term | does not end when stdin ends / at SIGTERM                                      |
const { spawn } = require("node:child_process");
const { randomUUID } = require("node:crypto");
const { closeSync, writeSync } = require("node:fs");

const { argv, env } = process;
const fault = env.FAKE_CODEX_FAULT ?? "";
const eventMethod = env.FAKE_CODEX_METHOD ?? "codex/event";
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

if (argv[2] !== "mcp-server" || fault === "no-mcp-server") {
  die(`error: unrecognized subcommand '${argv[2] ?? ""}'`, 2);
}
if (fault === "silent-exit") process.exit(1);
if (fault === "ignore-term") process.on("SIGTERM", () => {});

const threads = new Map(); // thread id → prompts
if (env.FAKE_CODEX_KNOWS) threads.set(env.FAKE_CODEX_KNOWS, []);
const received = [];
const waiting = new Map(); // our requests
let requests = 0;
let turn; // { id, thread, turnId, onCancel } while a call runs

readInput();

function readInput() {
  let rest = "";
  process.stdin.setEncoding("utf8");
  process.stdin.on("data", (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") take(JSON.parse(line));
  });
  process.stdin.on("end", () => {
    if (fault !== "ignore-eof") process.exit(0);
    setInterval(() => {}, 1000);
  });
}

function take(message) {
  received.push(message);
  if (message.jsonrpc !== "2.0") die(`not JSON-RPC: ${JSON.stringify(message)}`, 3);
  if (message.method === undefined) {
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
  } else if (message.method === "initialize") initialize(message);
  else if (message.method === "tools/list") listTools(message);
  else if (message.method === "tools/call") void play(message);
  else if (message.method === "notifications/cancelled") cancel(message.params.requestId);
}

function initialize({ id, params }) {
  if (fault === "no-initialize") return;
  if (fault === "refuse-initialize") {
    out({ id, error: { code: -32600, message: "initialize called more than once" } });
    return;
  }
  const serverInfo = {
    name: "codex-mcp-server",
    title: "Codex",
    version: env.FAKE_CODEX_VERSION ?? "0.125.0",
  };
  const result = { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo };
  const text = JSON.stringify({ jsonrpc: "2.0", id, result });
  if (fault === "content-length") write(`Content-Length: ${text.length}\r\n\r\n${text}`);
  else write(`${text}\n`);
}

function listTools({ id }) {
  if (fault === "no-tools-list") return;
  const names = fault === "no-reply-tool" ? ["codex"] : ["codex", "codex-reply"];
  out({ id, result: { tools: names.map((name) => ({ name, inputSchema: { type: "object" } })) } });
}

async function play(call) {
  const { name, arguments: args } = call.params;
  const isNew = name === "codex";
  const thread = isNew ? randomUUID() : args.threadId;
  const own = { id: call.id, thread, turnId: randomUUID(), call, text: "", onCancel: abort };
  turn = own;
  if (isNew) configure(args);
  // 0.125 in a new process: the thread does not exist, and the call succeeds with nothing.
  if (!isNew && !threads.has(thread)) return finish(own);
  threads.set(thread, [...(threads.get(thread) ?? []), args.prompt]);
  event({ type: "task_started", turn_id: own.turnId, started_at: 1777, model_context_window: 258_400 });
  const content = [{ type: "text", text: args.prompt, text_elements: [] }];
  event({ type: "item_started", item: { type: "UserMessage", id: "u1", content } });
  event({ type: "item_completed", item: { type: "UserMessage", id: "u1", content } });
  event({ type: "user_message", message: args.prompt });
  const parts = args.prompt.split(/(?=(?:^|\s)#[a-z])/).map((part) => part.trim());
  const directives = parts.filter((part) => part.startsWith("#"));
  for (const directive of directives.length > 0 ? directives : [`#say You said: ${args.prompt}`]) {
    const [, word = "", rest = ""] = /^#([a-z0-9-]+)\s*(.*)$/s.exec(directive) ?? [];
    const perform = DIRECTIVES[word] ?? (() => say(`no such directive: ${word}`));
    if ((await perform(rest, own)) === "over" || own.isOver) return undefined;
  }
  return finish(own);
}

const DIRECTIVES = {
  say: (words) => say(words),
  slow: async (rest, own) => {
    const [count, ms] = rest.split(" ").map(Number);
    for (let n = 0; n < count && !own.isOver; n += 1) {
      delta(`tick${n} `, own);
      await sleep(ms);
    }
  },
  flood: async (rest) => {
    const [count, bytes] = rest.split(" ").map(Number);
    for (let n = 0; n < count; n += 1) delta("x".repeat(bytes));
    await say(`flooded ${count}`);
  },
  tool: (command) => runTool(command),
  context: (_rest, own) => say(JSON.stringify(threads.get(own.thread))),
  argv: () => say(JSON.stringify(argv.slice(2))),
  call: (_rest, own) => say(JSON.stringify({ id: own.call.id, ...own.call.params })),
  env: (name) => say(String(env[name])),
  received: (method) => say(JSON.stringify(received.filter((message) => message.method === method))),
  approve: async (command, own) => {
    event({ type: "exec_approval_request", call_id: "call_1", command: ["sh", "-c", command] });
    return decide(await ask("elicitation/create", execApproval(command, own)), () => runTool(command), own);
  },
  patch: async (file, own) => {
    event({ type: "apply_patch_approval_request", call_id: "call_2", changes: {} });
    const changes = {
      [file]: { type: "update", unified_diff: "@@ -1 +1 @@\n-a\n+b\n", move_path: null },
      "/p/new.txt": { add: { content: "hello\n" } },
    };
    const params = {
      ...approval("patch-approval", own, "call_2"),
      codex_reason: "tidy up",
      codex_changes: changes,
    };
    return decide(await ask("elicitation/create", params), () => say(`patched ${file}`), own);
  },
  "ask-retract": async (_rest, own) => {
    void ask("elicitation/create", execApproval("true", own));
    out({
      method: "notifications/cancelled",
      params: { requestId: requests - 1, reason: "changed my mind" },
    });
    await say("never mind");
  },
  "ask-open": (_rest, own) => void ask("elicitation/create", execApproval("true", own)),
  answers: () =>
    say(JSON.stringify(received.filter(({ method }) => method === undefined).map(({ result }) => result))),
  "ask-late": async (_rest, own) => {
    const params = { ...execApproval("true", own), codex_mcp_tool_call_id: "1" };
    await say(JSON.stringify((await ask("elicitation/create", params)).result));
  },
  request: async (method) => say(JSON.stringify(await ask(method, { of: "mine" }))),
  rate: () =>
    event({
      type: "token_count",
      info: null,
      rate_limits: {
        primary: { used_percent: 12.5, window_minutes: 300, resets_at: 1777 },
        secondary: null,
        plan_type: "plus",
        credits: null,
      },
    }),
  startup: () => {
    event({ type: "mcp_startup_update", server: "docs", status: { state: "starting" } });
    event({ type: "mcp_startup_complete", ready: ["docs"], failed: [], cancelled: [] });
  },
  unknown: () => event({ type: "web_search_begin", call_id: "w1" }),
  notify: () => out({ method: "notifications/tools/list_changed" }),
  deaf: (_rest, own) => {
    own.onCancel = () => {};
    return new Promise(() => {});
  },
  stubborn: async (_rest, own) => {
    let isAsked = false;
    own.onCancel = () => {
      isAsked = true;
    };
    delta("before ", own);
    while (!isAsked || turn === own) await sleep(5);
    // Another call has begun: now comes everything that belonged to this one.
    delta("late ", own);
    event({ type: "item_completed", item: agentMessage("late message") }, own);
    event({ type: "turn_aborted", turn_id: own.turnId, reason: "interrupted" }, own);
    out({ id: own.id, result: { content: [{ type: "text", text: "late" }] } });
    return "over";
  },
  "cancel-reply": (_rest, own) => {
    own.onCancel = () => over(own, { error: { code: -32800, message: "cancelled" } });
    return new Promise(() => {});
  },
  "cancel-both": (_rest, own) => {
    own.onCancel = () => {
      abort(own);
      out({ id: own.id, result: { content: [] } });
    };
    return new Promise(() => {});
  },
  abort: (_rest, own) => abort(own),
  "rpc-error": (rest, own) => {
    const [, code, message] = /^(-?\d+) ?(.*)$/s.exec(rest) ?? [];
    return over(own, { error: { code: Number(code), message, data: { detail: "of the fake" } } });
  },
  "tool-error": (words, own) =>
    over(own, { result: { content: [{ type: "text", text: words }], isError: true } }),
  "result-error": (words, own) => over(own, { result: { error: words } }),
  "auth-info": (_rest, own) => {
    event({ type: "error", message: "no luck", codex_error_info: "unauthorized" });
    return over(own, { result: { content: [{ type: "text", text: "no luck" }], isError: true } });
  },
  "auth-stderr": () => die("Not authenticated. Please run `codex login`", 1),
  stderr: (count) => {
    const lines = Array.from({ length: Number(count) }, (_, n) => `WARN request ${n}: got 401, retrying\n`);
    writeSync(2, lines.join(""));
  },
  crash: (code) => die("thread 'main' panicked\n  note: run with RUST_BACKTRACE", Number(code || 1)),
  "crash-silent": (code) => process.exit(Number(code || 1)),
  sigkill: () => {
    process.kill(process.pid, "SIGKILL");
    return new Promise(() => {});
  },
  "no-newline-exit": (_rest, own) => {
    write(JSON.stringify({ jsonrpc: "2.0", id: own.id, result: { content: [] } }));
    process.exit(0);
  },
  "close-stdout": () => {
    closeSync(1);
    setInterval(() => {}, 1000);
    return new Promise(() => {});
  },
  "close-stdin": () => {
    process.stdin.destroy();
    // Node itself never closes the descriptors 0 to 2.
    closeSync(0);
    setInterval(() => {}, 1000);
  },
  garbage: () => write("WARNING: this is no JSON\n"),
  "half-json": () => write('{"jsonrpc":"2.0","meth\n'),
  array: () => write("[1,2]\n"),
  oversize: (bytes) => write(`{"pad":"${"x".repeat(Number(bytes || 17 * 1024 * 1024))}"}\n`),
  "values-end": (_rest, own) => {
    own.pad = { values: Array(60_000).fill(1) };
  },
  "oversize-end": (bytes, own) => {
    own.pad = { text: "x".repeat(Number(bytes)) };
  },
  "oversize-late": (bytes, own) => {
    own.pad = { id: undefined, text: "x".repeat(Number(bytes)) };
  },
  values: () => write(`{"method":"x","params":{"values":[${"1,".repeat(60_000)}1]}}\n`),
  u2028: () => say("line\u2028separator\u2029and 🦀"),
  "empty-lines": () => write("\n \r\n\n"),
  drip: async (_rest, own) => {
    const params = { _meta: metaOf(own), msg: { type: "item_completed", item: agentMessage("dripped ☂") } };
    for (const byte of Buffer.from(`${JSON.stringify({ method: eventMethod, params })}\n`)) {
      write(Buffer.from([byte]));
      await new Promise((resolve) => setImmediate(resolve));
    }
  },
  "content-length": () => {
    write('Content-Length: 17\r\n\r\n{"jsonrpc":"2.0"}');
    return new Promise(() => {});
  },
};

function configure(args) {
  event({
    type: "session_configured",
    session_id: turn.thread,
    model: args.model ?? "gpt-fake",
    cwd: args.cwd ?? process.cwd(),
    approval_policy: args["approval-policy"] ?? "on-request",
    sandbox_policy: { type: args.sandbox ?? "read-only" },
    permission_profile: null,
    reasoning_effort: null,
    rollout_path: `/codex/sessions/rollout-${turn.thread}.jsonl`,
  });
}

function finish(own) {
  const last_token_usage = {
    input_tokens: 100,
    cached_input_tokens: 40,
    output_tokens: 20,
    reasoning_output_tokens: 7,
    total_tokens: 120,
  };
  event({ type: "token_count", info: { last_token_usage }, rate_limits: null }, own);
  event({ type: "task_complete", turn_id: own.turnId, duration_ms: 12, time_to_first_token_ms: 3 }, own);
  const structuredContent = { threadId: own.thread, content: own.text };
  return over(own, { result: { content: [{ type: "text", text: own.text }], structuredContent } });
}

function cancel(requestId) {
  if (turn !== undefined && String(turn.id) === String(requestId)) turn.onCancel(turn);
}

/** What 0.125 mostly does with a cancelled call: an event, and never a reply. */
function abort(own) {
  event({ type: "turn_aborted", turn_id: own.turnId, reason: "interrupted" }, own);
  own.isOver = true;
  if (turn === own) turn = undefined;
  return "over";
}

function over(own, reply) {
  out({ id: own.id, ...reply, ...own.pad });
  own.isOver = true;
  if (turn === own) turn = undefined;
  return "over";
}

async function say(text) {
  for (const word of text.match(/\S+\s*|\s+/g) ?? []) delta(word);
  event({ type: "agent_message", message: text });
  event({ type: "item_completed", item: { type: "Reasoning", id: "r1", summary_text: [] } });
  event({ type: "item_completed", item: agentMessage(text) });
  if (turn !== undefined) turn.text = text;
}

function agentMessage(text) {
  return { type: "AgentMessage", id: "m1", content: [{ type: "Text", text }], phase: "final_answer" };
}

async function runTool(command) {
  const call = { call_id: "call_1", command: ["sh", "-c", command], cwd: process.cwd() };
  event({ type: "exec_command_begin", ...call });
  const child = spawn("sh", ["-c", command], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
    event({ type: "exec_command_output_delta", call_id: "call_1", chunk: chunk.toString("base64") });
  });
  const exit_code = await new Promise((resolve) => child.on("close", resolve));
  event({ type: "exec_command_end", ...call, stdout: output, aggregated_output: output, exit_code });
  await say(`tool said: ${output.trim()}`);
}

function approval(kind, own, callId) {
  return {
    message: "Allow Codex to do this?",
    requestedSchema: { type: "object", properties: {} },
    threadId: own.thread,
    codex_elicitation: kind,
    codex_mcp_tool_call_id: String(own.id),
    codex_event_id: "e1",
    codex_call_id: callId,
  };
}

function execApproval(command, own) {
  const parsed = [{ type: "unknown", cmd: command }];
  const what = { codex_command: ["sh", "-c", command], codex_cwd: process.cwd(), codex_parsed_cmd: parsed };
  return { ...approval("exec-approval", own, "call_1"), ...what };
}

async function decide(answer, approved, own) {
  const decision = answer.result?.decision;
  if (own.isOver) return "over";
  if (decision === "abort") return abort(own);
  if (decision?.startsWith("approved")) await approved();
  await say(`decision: ${decision}`);
  return undefined;
}

/** Its ids begin at 0. */
function ask(method, params) {
  const id = requests;
  requests += 1;
  const answer = new Promise((resolve) => waiting.set(id, resolve));
  out({ id, method, params });
  return answer;
}

function delta(text, own = turn) {
  event({ type: "agent_message_content_delta", item_id: "m1", delta: text }, own);
  event({ type: "agent_message_delta", delta: text }, own);
}

function metaOf(own) {
  return { requestId: own.id, threadId: own.thread };
}

function event(msg, own = turn) {
  if (own !== undefined) out({ method: eventMethod, params: { _meta: metaOf(own), id: "e1", msg } });
}

function out(message) {
  write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

/** Synchronous, so that output before an exit is in the pipe. */
function write(part) {
  let bytes = Buffer.from(part);
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(1, bytes));
    } catch (error) {
      if (error.code === "EPIPE") process.exit(1);
      if (error.code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

function die(words, code) {
  writeSync(2, `${words}\n`);
  process.exit(code);
}
