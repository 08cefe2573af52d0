#!/usr/bin/env node
// A fake Claude Code 2.1.197, made from recorded traffic: same arguments, same frames, same control
// protocol, same crashes. A real executable without dependencies. The user's text contains directives, which are
// executed in order.
//
// Environment: FAKE_CLAUDE_PLAIN=1      a stub that knows no control protocol: every stdin line is a user turn
//              FAKE_CLAUDE_VERSION=text what --version prints
//              FAKE_CLAUDE_FAULT=name   a fault of the process itself (second table)
//              FAKE_CLAUDE_LACKS=--a,--b flags that --help does not list
//
// | directive             | what happens                                                                   |
// |-----------------------|-------------------------------------------------------------------------------|
// | #say words            | answers with these words (default: "You said: <text>")                         |
// | #slow n ms            | n words, ms apart                                                              |
// | #think words          | a thinking block before the answer                                             |
// | #tool cmd             | Bash tool: really runs `setsid sh -c cmd`; an interrupt kills only that shell  |
// | #two-tools words      | two tools whose results come in one frame, followed by the words               |
// | #bg ms                | a background task; ms later claude starts a turn on its own                    |
// | #bgtool ms cmd        | the same, and that turn runs a tool, so that a message is folded into it       |
// | #async                | a sub-agent that outlives the turn;       `#async-done` in a later message ends it|
// | #sub words            | a sub-agent says words (frames with parent_tool_use_id)                        |
// | #context              | lists all user texts of this session, also those before --resume               |
// | #image                | says which images arrived                                                      |
// | #argv / #env NAME     | answers with its argv as JSON / with a variable of its environment             |
// | #system               | answers with what `initialize` added to its system prompt                      |
// | #clear or /clear      | a new session id, empty context                                                |
// | #rate                 | a rate_limit_event                                                             |
// | #unknown              | a frame of an unknown type                                                     |
// | #ask [command]        | asks can_use_tool for Bash, with suggestions; answers with the answer it got   |
// | #ask-tool name json   | the same for any tool, without suggestions                                     |
// | #ask-sub command      | the same from a sub-agent of a sub-agent                                       |
// | #ask-two command      | asks twice at once; answers with both                                          |
// | #ask-background       | a sub-agent asks and is not waited for: the turn ends first                    |
// | #ask-raw json         | asks with this as the body of the control_request                              |
// | #ask-take-back        | asks and takes it back at once                                                 |
// | #ask-mute             | asks; an interrupt ends the turn without taking it back                        |
// | #question             | AskUserQuestion with two questions, the second for several answers             |
// | #plan words           | ExitPlanMode with this plan                                                    |
// | #control subtype      | sends us an odd control_request and answers with our answer                    |
// | #flood n bytes        | n deltas of this many bytes, as fast as possible                               |
// | #stderr n             | n lines on stderr                                                              |
// | #crash [code]         | partial text, words on stderr, exit (1)                                        |
// | #crash-silent [code]  | exit without a word                                                            |
// | #sigkill / #abort     | kills itself with SIGKILL / SIGABRT                                            |
// | #orphan cmd           | starts cmd detached (double fork), then continues                              |
// | #crash-tool cmd       | starts the tool, then dies and leaves it running                               |
// | #hang                 | nothing more in this turn; an interrupt still works                            |
// | #deaf                 | nothing more, and no answer to control requests                                |
// | #ack-only             | acknowledges an interrupt but never ends the turn                              |
// | #ignore-term          | ignores SIGTERM from now on                                                    |
// | #garbage              | a line that is not JSON                                                        |
// | #half-json            | half a frame, then a good one on the next line                                 |
// | #array                | a JSON line that is not an object                                              |
// | #half-utf8            | a line cut inside a character                                                  |
// | #nul                  | a line of NUL bytes                                                            |
// | #crlf                 | frames that end in \r\n, and empty lines                                       |
// | #oversize [bytes]     | one line of this many bytes (17 MiB)                                           |
// | #values [n]           | a frame of n values (60,000)                                                   |
// | #values-result        | a result of 60,000 values                                                      |
// | #oversize-result n    | a result of n bytes; `#oversize-late n`: with its type at the end              |
// | #nan-result           | a result that is not JSON                                                      |
// | #deep                 | a frame nested 20,000 levels deep                                              |
// | #u2028                | text with U+2028, U+2029 and an emoji                                          |
// | #drip                 | frames written byte by byte                                                    |
// | #double-result        | two results                                                                    |
// | #late-result ms       | the result comes ms later, the message at once                                 |
// | #no-result-exit0      | exit 0 without a result                                                        |
// | #no-newline-exit      | the result without its newline, then exit 0                                    |
// | #exit-after-result c  | the result, then exit c in the same breath                                     |
// | #linger-after-result  | the result, then stdout closes but the process stays                           |
// | #close-stdout         | stdout closes in the middle of a turn, the process stays                       |
// | #close-stdin          | closes its input, the process stays                                            |
// | #auth                 | 401: api_retry, then an error result                                           |
// | #auth-stderr          | "OAuth token expired" on stderr, then death                                    |
// | #no-login             | "Not logged in" as a result                                                    |
// | #error status         | an API error with this status                                                  |
// | #max-turns / #max-budget | results of these kinds                                                         |
// | #junk-result          | a result whose fields have the wrong types                                     |
// | #late-delta           | the result, then a delta that comes too late                                   |
//
// | FAKE_CLAUDE_FAULT     | what happens                                                                   |
// |-----------------------|-------------------------------------------------------------------------------|
// | exit-at-start         | "Error: broken" on stderr, exit 1                                              |
// | silent-exit           | exit 1 without a word                                                          |
// | slow-start            | answers initialize after 300 ms                                                |
// | ask-at-start          | asks can_use_tool before it answers initialize                                 |
// | ask-and-die           | the same, then exit 1                                                          |
// | init-at-start         | prints system/init as it starts, as wrappers and stubs do                      |
// | version-hangs         | --version never answers                                                        |
// | version-fails         | --version exits 1                                                              |
// | ignore-eof            | does not end when stdin ends                                                   |
// | ignore-term           | ignores SIGTERM from the start                                                 |
const { spawn } = require("node:child_process");
const { randomUUID } = require("node:crypto");
const {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
  writeSync,
} = require("node:fs");
const { homedir } = require("node:os");
const { join } = require("node:path");

const { argv, env } = process;
const isPlain = env.FAKE_CLAUDE_PLAIN === "1";
const fault = env.FAKE_CLAUDE_FAULT ?? "";
const has = (flag) => argv.includes(flag);
const argOf = (flag) => (has(flag) ? argv[argv.indexOf(flag) + 1] : undefined);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const cwd = realpathSync(process.cwd());
const isPartial = has("--include-partial-messages");
let model = argOf("--model") ?? "claude-fake-1";
let permissionMode = argOf("--permission-mode") ?? "default";
const COMMANDS = [
  { name: "compact", description: "Summarize the conversation\nin fewer words", argumentHint: "[how]" },
  { name: "init" },
];
const MODELS = [
  { value: "default", displayName: "Default", description: "The usual one" },
  { value: "sonnet", displayName: "Sonnet" },
];
let sessionId = argOf("--session-id") ?? argOf("--resume") ?? randomUUID();
let totalCost = 0;
let turn; // { abort, isHung, child, task } while a turn runs
let isIdle = true;
let isDeaf = false;
let isAsync = false; // a sub-agent works after the turn
let isClosed = false; // stdin has ended
let requests = 0;
let initialized = {}; // what `initialize` brought
const queue = [];
const waiting = new Map(); // our control requests

if (has("--version")) void printVersion();
else start();

function start() {
  if (has("--help")) printHelp();
  if (fault === "exit-at-start") die("Error: broken", 1);
  if (fault === "silent-exit") process.exit(1);
  if (fault === "ignore-term") process.on("SIGTERM", () => {});
  checkStart();
  if (fault === "init-at-start") init();
  readInput();
}

async function printVersion() {
  if (fault === "version-hangs") await sleep(60_000);
  if (fault === "version-fails") die("broken", 1);
  console.log(env.FAKE_CLAUDE_VERSION ?? (isPlain ? "9.9.9 (stub)" : "2.1.197 (Claude Code)"));
  process.exit(0);
}

/** The names that matter to somebody, as 2.1.197 prints them. */
function printHelp() {
  const lacks = (env.FAKE_CLAUDE_LACKS ?? "").split(",");
  const rows = [
    ["--bare", "Minimal mode: skip hooks, see also --settings"],
    ["--disallowedTools, --disallowed-tools <tools...>", ""],
    ["--include-partial-messages", "Include partial message chunks"],
    ["--input-format <format>", "Input format"],
    ["--max-budget-usd <amount>", "Maximum dollar amount to spend on API calls"],
    ["--model <model>", "Model for the current session"],
    ["--output-format <format>", "Output format"],
    ["--permission-mode <mode>", "Permission mode"],
    ["-p, --print", "Print response and exit"],
    ["-r, --resume [value]", "Resume a conversation by session ID"],
    ["--setting-sources <sources>", "Comma-separated list of setting sources"],
    ["--settings <file-or-json>", "Path to a settings JSON file or a JSON string"],
    ["--strict-mcp-config", "Only use MCP servers from --mcp-config"],
    ["--tools <tools...>", "Specify the list of available tools"],
    ["--verbose", "Override verbose mode setting from config"],
  ];
  const kept = rows.filter(([flag]) => !lacks.some((name) => name !== "" && flag.includes(name)));
  console.log(`Usage: claude [options]\n\nOptions:\n${lines(kept.length, (n) => `  ${kept[n].join("  ")}`)}`);
  process.exit(0);
}

function checkStart() {
  const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(sessionId);
  if (isPlain) return;
  if (!isUuid) die("Error: Invalid session ID. Must be a valid UUID.", 1);
  if (has("--session-id") && existsSync(transcript())) {
    die(`Error: Session ID ${sessionId} is already in use.`, 1);
  }
  if (has("--resume") && !existsSync(transcript())) {
    const words = `No conversation found with session ID: ${sessionId}`;
    process.stderr.write(`${words}\n`);
    out({ type: "result", subtype: "error_during_execution", is_error: true, num_turns: 0, errors: [words] });
    process.exit(1);
  }
}

function readInput() {
  let rest = "";
  process.stdin.setEncoding("utf8");
  process.stdin.on("data", (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") take(line);
  });
  process.stdin.on("end", () => {
    isClosed = true;
    for (const told of waiting.values())
      told({ error: "Tool permission stream closed before response received" });
    if (isIdle && fault !== "ignore-eof") process.exit(0);
  });
  if (fault === "ignore-eof") setInterval(() => {}, 1000);
}

function take(line) {
  let frame;
  try {
    frame = JSON.parse(line);
  } catch {
    die(`Error parsing streaming input line: ${line}`, 1);
  }
  if (frame.type === "control_request" && !isPlain) return control(frame);
  if (frame.type === "control_response" && !isPlain) {
    waiting.get(frame.response.request_id)?.(frame.response);
    return;
  }
  if (!isPlain && frame.type !== "user") return;
  if (!isPlain && frame.message?.role !== "user") {
    die(`Error: Expected message role 'user', got '${frame.message?.role}'`, 1);
  }
  // A plain stub takes anything for a turn, also a control frame that should never have come.
  const message = frame.type === "user" ? frame.message : { role: "user", content: line };
  queue.push({ message, uuid: frame.uuid });
  if (has("--replay-user-messages")) out({ type: "user", message, isReplay: true });
  void work();
}

async function control(frame) {
  const { request_id, request } = frame;
  const answer = (response) => out({ type: "control_response", response: { request_id, ...response } });
  if (isDeaf) return;
  if (request.subtype === "initialize") {
    initialized = request;
    if (fault === "slow-start") await sleep(300);
    if (fault.startsWith("ask-")) void ask("can_use_tool", bashRequest("true"));
    if (fault === "ask-and-die") die("Error: broken", 1);
    answer({ subtype: "success", response: { commands: COMMANDS, models: MODELS, pid: process.pid } });
  } else if (request.subtype === "interrupt") {
    if (turn !== undefined && !turn.isMute) takeBack();
    if (isAsync) endAsync("stopped");
    answer({ subtype: "success" });
    if (isIdle) state("idle");
    if (turn !== undefined && !turn.isStuck) turn.abort();
  } else if (request.subtype === "rewind_conversation") {
    answer({ subtype: "success", response: rewind(request.target_message_uuid) });
  } else if (request.subtype === "set_model") {
    model = request.model;
    answer({ subtype: "success" });
  } else if (request.subtype === "set_permission_mode") {
    if (request.mode === "bypassPermissions" && permissionMode !== request.mode) {
      answer({ subtype: "error", error: "the session was not launched with bypassPermissions" });
      return;
    }
    permissionMode = request.mode;
    answer({ subtype: "success", response: { mode: request.mode } });
  } else {
    answer({ subtype: "error", error: `Unsupported control request subtype: ${request.subtype}` });
  }
}

/** One turn after another, until the queue is empty. */
async function work() {
  if (!isIdle) return;
  isIdle = false;
  state("running");
  while (queue.length > 0) await playTurn(queue.shift());
  isIdle = true;
  state("idle");
  if (isClosed && fault !== "ignore-eof") process.exit(0);
}

async function playTurn({ message, uuid, origin }) {
  const texts = typeof message.content === "string" ? [message.content] : textsOf(message.content);
  const text = texts.join("\n");
  if (text.trim() === "/clear" || text.includes("#clear")) sessionId = randomUUID();
  remember(text, uuid);
  init();
  const aborted = new Promise((resolve) => {
    turn = { abort: () => resolve("aborted"), texts: [], usage: 20, message, origin };
  });
  const played = play(text.length === 0 ? "" : text).catch((error) => die(String(error?.stack), 70));
  const end = await Promise.race([aborted, played]);
  const over = turn;
  turn = undefined;
  if (end === "aborted") finishAborted(over);
  else if (end !== "no result") result({ origin, result: over.texts.join(" ") });
}

async function play(text) {
  const directives = [...text.matchAll(/(?<=^|\s)#([a-z0-9-]+)((?:(?!\s#[a-z]).)*)/gs)];
  if (directives.length === 0) return say(`You said: ${text}`);
  for (const [, name, rest] of directives) {
    const end = await (DIRECTIVES[name] ?? ((words) => say(`unknown directive ${name} ${words}`)))(
      rest.trim(),
    );
    if (end === "no result") return end;
  }
}

const QUESTIONS = {
  questions: [
    {
      question: "Which color?",
      header: "Color",
      options: [{ label: "Red", description: "warm" }, { label: "Blue" }],
      multiSelect: false,
    },
    {
      question: "Which sizes?",
      header: "Size",
      options: [{ label: "S" }, { label: "M" }, { label: "L" }],
      multiSelect: true,
    },
  ],
};

const DIRECTIVES = {
  say: (words) => say(words),
  slow: (args) => slow(...args.split(" ").map(Number)),
  think: (words) => think(words),
  tool: (command) => tool(command),
  "two-tools": (words) => twoTools(words),
  bg: (ms) => background(Number(ms), "#say background task noticed"),
  async: () => {
    isAsync = true;
    const task = { task_id: "async-1", task_type: "local_agent", is_backgrounded: true };
    out({ type: "system", subtype: "task_started", ...task });
    return say("launched");
  },
  "async-done": () => {
    endAsync("completed");
    return say("it is done");
  },
  bgtool: (args) => background(Number.parseInt(args, 10), `#tool ${args.replace(/^\d+ /, "")}`),
  sub: (words) => subAgent(words),
  context: () => say(JSON.stringify(rememberedTexts())),
  image: () => say(`images: ${imagesOf(turn.message).join(",") || "none"}`),
  argv: () => say(JSON.stringify(argv.slice(2))),
  env: (name) => say(String(env[name])),
  system: () => say(String(initialized.appendSystemPrompt)),
  clear: () => say("cleared"),
  rate: () => out({ type: "rate_limit_event", rate_limit_info: { status: "allowed", resetsAt: 1800000000 } }),
  unknown: () => out({ type: "frobnicate", value: 1 }),
  ask: (command) => ask("can_use_tool", bashRequest(command || "true")),
  "ask-tool": (args) => {
    const [, tool_name, json] = /^(\S+)\s+(.*)$/s.exec(args);
    return ask("can_use_tool", { tool_name, input: JSON.parse(json), tool_use_id: "toolu_ask" });
  },
  "ask-sub": (command) => askBelow(command),
  "ask-two": async (command) => {
    const both = [1, 2].map((n) => request("can_use_tool", bashRequest(`${command} ${n}`)));
    await say(JSON.stringify((await Promise.all(both)).map(toldBy)));
  },
  "ask-background": () => {
    void request("can_use_tool", { ...bashRequest("true"), agent_id: "agent-background" });
    return say("asked in the background");
  },
  "ask-raw": async (json) => say(JSON.stringify(toldBy(await request("can_use_tool", JSON.parse(json))))),
  "ask-take-back": () => {
    void request("can_use_tool", bashRequest("true"));
    takeBack();
    return say("decided by myself");
  },
  "ask-mute": () => {
    turn.isMute = true;
    return ask("can_use_tool", bashRequest("true"));
  },
  question: () =>
    ask("can_use_tool", { tool_name: "AskUserQuestion", input: QUESTIONS, tool_use_id: "toolu_q" }),
  plan: (plan) =>
    ask("can_use_tool", { tool_name: "ExitPlanMode", input: { plan }, tool_use_id: "toolu_plan" }),
  control: (subtype) => ask(subtype, {}),
  flood: (args) => flood(...args.split(" ").map(Number)),
  stderr: (count) =>
    void writeSync(
      2,
      lines(Number(count), (n) => `warning ${n}`),
    ),
  crash: async (code) => {
    await delta("partial ");
    die("Error: something broke\n    at fake (fake.js:1:1)", Number(code || 1));
  },
  "crash-silent": (code) => process.exit(Number(code || 1)),
  sigkill: () => kill("SIGKILL"),
  abort: () => kill("SIGABRT"),
  orphan: (command) => void detach(`${command} &`).unref(),
  "crash-tool": async (command) => {
    announceTool(command);
    detach(command);
    await sleep(30);
    process.exit(1);
  },
  hang: () => new Promise(() => {}),
  deaf: () => {
    isDeaf = true;
    return new Promise(() => {});
  },
  "ack-only": () => {
    turn.isStuck = true;
    return new Promise(() => {});
  },
  "ignore-term": () => void process.on("SIGTERM", () => {}),
  garbage: () => write("this is not JSON\n"),
  "half-json": () => write('{"type":"assistant","mess\n'),
  array: () => write("[1,2,3]\n"),
  "half-utf8": () => write(Buffer.concat([Buffer.from('{"type":"x","t":"'), Buffer.from([0xe2, 0x82]), NL])),
  nul: () => write(Buffer.alloc(64, 0), NL),
  crlf: () => write(`\r\n\n${JSON.stringify({ type: "system", subtype: "crlf" })}\r\n`),
  oversize: (bytes) => write(`{"type":"x","pad":"${"x".repeat(Number(bytes || 17 * 1024 * 1024))}"}\n`),
  deep: () => write(`{"type":"deep","a":${"[".repeat(20_000)}${"]".repeat(20_000)}}\n`),
  values: (n) => write(`{"type":"x","values":[${"1,".repeat(Number(n || 60_000))}1]}\n`),
  "values-result": () => {
    out({ ...resultFrame({ result: "lost" }), values: Array(60_000).fill(1) });
    return "no result";
  },
  "oversize-result": (bytes) => {
    out(resultFrame({ result: "x".repeat(Number(bytes)) }));
    return "no result";
  },
  "oversize-late": (bytes) => {
    const { type, ...rest } = resultFrame({ result: "x".repeat(Number(bytes)) });
    out({ ...rest, type });
    return "no result";
  },
  "nan-result": () => {
    write(`${JSON.stringify(resultFrame({ result: "lost" })).slice(0, -1)},"cost":NaN}\n`);
    return "no result";
  },
  u2028: () => say("line\u2028separator\u2029and 🦀"),
  drip: async () => {
    const bytes = Buffer.from(`${JSON.stringify(assistant([{ type: "text", text: "dripped ☂" }]))}\n`);
    for (const byte of bytes) {
      write(Buffer.from([byte]));
      await new Promise((resolve) => setImmediate(resolve));
    }
  },
  "double-result": () => {
    result({ result: "first" });
  },
  "late-result": async (ms) => {
    say("early");
    await sleep(Number(ms));
  },
  "no-result-exit0": () => process.exit(0),
  "no-newline-exit": () => {
    write(JSON.stringify(resultFrame({ result: "no newline" })));
    process.exit(0);
  },
  "exit-after-result": (code) => {
    result({ result: "last words" });
    process.exit(Number(code || 0));
  },
  "linger-after-result": () => {
    result({ result: "lingering" });
    return closeStdout();
  },
  "close-stdout": () => closeStdout(),
  "close-stdin": () => closeStdin(),
  auth: async () => {
    retry({ attempt: 1, error_status: 401, error: "authentication_failed" });
    retry({ attempt: 2, error_status: 401, error: "authentication_failed" });
    const words = "Failed to authenticate. API Error: 401 mock 401";
    out({ ...assistant([{ type: "text", text: words }]), error: "authentication_failed" });
    result({ is_error: true, api_error_status: 401, result: words });
    return "no result";
  },
  "auth-stderr": () => die("OAuth token expired", 1),
  "no-login": () => fail({ result: "Not logged in · Please run /login" }),
  error: (status) => fail({ api_error_status: Number(status), result: `API Error: ${status} mock` }),
  "max-turns": () => fail({ subtype: "error_max_turns", terminal_reason: "max_turns" }),
  "max-budget": () => fail({ subtype: "error_max_budget_usd" }),
  "junk-result": () => {
    out({ type: "result", subtype: 7, duration_ms: "x", usage: [1], total_cost_usd: "1e400", errors: 5 });
    return "no result";
  },
  "late-delta": async () => {
    result({ result: "done" });
    out(streamEvent({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "late" } }));
    return "no result";
  },
};

async function say(text) {
  const id = `msg_${randomUUID().slice(0, 8)}`;
  if (isPartial) {
    out(streamEvent({ type: "message_start", message: { id, role: "assistant", content: [] } }));
    out(streamEvent({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }));
    for (const word of text.match(/\S+\s*|\s+/g) ?? []) await delta(word);
  }
  out(assistant([{ type: "text", text }], id));
  if (isPartial) out(streamEvent({ type: "message_stop" }));
  turn?.texts.push(text);
}

async function slow(count = 100, ms = 50) {
  turn.partial = "";
  for (let n = 0; n < count; n += 1) {
    if (turn === undefined) return;
    turn.partial += `tick${n} `;
    await delta(`tick${n} `);
    await sleep(ms);
  }
  if (turn === undefined) return;
  out(assistant([{ type: "text", text: turn.partial }]));
  turn.texts.push(turn.partial);
}

async function think(words) {
  if (isPartial) {
    out(
      streamEvent({
        type: "content_block_delta",
        index: 0,
        delta: { type: "thinking_delta", thinking: words },
      }),
    );
    out(
      streamEvent({
        type: "content_block_delta",
        index: 0,
        delta: { type: "signature_delta", signature: "c2ln" },
      }),
    );
  }
  out(assistant([{ type: "thinking", thinking: words, signature: "c2ln" }]));
  await say("Thought about it.");
}

/** As Claude's Bash tool: its own session, and an interrupt ends the shell but not what left it. */
async function tool(command) {
  const id = announceTool(command);
  const own = turn;
  const refusal = await refusalOf(id, command);
  if (turn !== own) return;
  if (refusal !== undefined) {
    const block = { type: "tool_result", tool_use_id: id, content: refusal, is_error: true };
    out({ type: "user", message: { role: "user", content: [block] } });
    return say(`tool said: ${refusal}`);
  }
  const child = detach(command);
  own.child = child;
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  const code = await new Promise((resolve) => child.on("exit", resolve));
  if (turn !== own) return;
  const block = {
    type: "tool_result",
    tool_use_id: id,
    content: output || "(no output)",
    is_error: code !== 0,
  };
  out({ type: "user", message: { role: "user", content: [block] }, tool_use_result: { stdout: output } });
  // Messages that came meanwhile are folded into this turn.
  const folded = queue.splice(0).map(({ message }) => message);
  for (const message of folded) remember(String(message.content));
  await say(
    `tool said: ${output.trim()}${folded.map((message) => ` | folded: ${message.content}`).join("")}`,
  );
}

/** As parallel calls: one frame has both results. */
async function twoTools(words) {
  const ids = [announceTool("true"), announceTool("false")];
  const results = ids.map((id) => ({ type: "tool_result", tool_use_id: id, content: id, is_error: false }));
  out({ type: "user", message: { role: "user", content: [...results, { type: "text", text: words }] } });
  await say("both are done");
}

/** By itself it runs everything; a hook that says "ask" makes it ask first. Undefined: it may. */
async function refusalOf(tool_use_id, command) {
  const [hook] = initialized.hooks?.PreToolUse ?? [];
  if (hook === undefined) return undefined;
  const input = { command };
  const called = await request("hook_callback", {
    callback_id: hook.hookCallbackIds[0],
    input: { hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: input, tool_use_id },
    tool_use_id,
  });
  if (called.response?.hookSpecificOutput?.permissionDecision !== "ask") return undefined;
  const about = { tool_name: "Bash", display_name: "Bash", input, decision_reason_type: "hook", tool_use_id };
  const told = await request("can_use_tool", about);
  if (told.response?.interrupt === true) {
    turn.isRefused = true;
    turn.abort();
    return new Promise(() => {});
  }
  return told.response?.behavior === "allow" ? undefined : (told.response?.message ?? told.error);
}

function announceTool(command) {
  const id = `toolu_${randomUUID().slice(0, 8)}`;
  const block = { type: "tool_use", id, name: "Bash", input: { command } };
  if (isPartial) {
    out(streamEvent({ type: "content_block_start", index: 1, content_block: { ...block, input: {} } }));
    const partial_json = JSON.stringify(block.input);
    out(
      streamEvent({
        type: "content_block_delta",
        index: 1,
        delta: { type: "input_json_delta", partial_json },
      }),
    );
  }
  out(assistant([block]));
  return id;
}

function endAsync(status) {
  isAsync = false;
  out({ type: "system", subtype: "task_notification", task_id: "async-1", status });
}

function background(ms, text) {
  const task_id = randomUUID().slice(0, 8);
  out({ type: "system", subtype: "task_started", task_id, task_type: "local_bash" });
  setTimeout(() => {
    out({ type: "system", subtype: "task_updated", task_id, patch: { status: "completed" } });
    const content = `<task-notification> ${text}`;
    queue.push({ message: { role: "user", content }, origin: { kind: "task-notification" } });
    void work();
  }, ms);
  return say(`started ${task_id}`);
}

async function subAgent(words) {
  const id = `toolu_${randomUUID().slice(0, 8)}`;
  out(assistant([{ type: "tool_use", id, name: "Agent", input: { prompt: words } }]));
  out({ ...assistant([{ type: "text", text: words }]), parent_tool_use_id: id });
  const block = { type: "tool_result", tool_use_id: id, content: [{ type: "text", text: words }] };
  out({ type: "user", message: { role: "user", content: [block] } });
  await say("sub-agent done");
}

/** As in recorded requests of 2.1.197. */
function bashRequest(command) {
  return {
    tool_name: "Bash",
    display_name: "Bash",
    input: { command, description: "fake command" },
    description: "fake command",
    permission_suggestions: [
      {
        type: "addRules",
        rules: [{ toolName: "Bash", ruleContent: command }],
        behavior: "allow",
        destination: "localSettings",
      },
      { type: "addDirectories", directories: [cwd], destination: "session" },
      { type: "setMode", mode: "acceptEdits", destination: "session" },
    ],
    blocked_path: join(cwd, "blocked"),
    tool_use_id: "toolu_ask",
  };
}

/** Asks, and answers with the answer it got. A refusal with `interrupt` ends the turn. */
async function ask(subtype, body) {
  const own = turn;
  const response = await request(subtype, body);
  if (response.response?.interrupt === true) {
    own.isRefused = true;
    own.abort();
    return new Promise(() => {});
  }
  if (turn !== own) return;
  await say(JSON.stringify(toldBy(response)));
}

async function request(subtype, body) {
  requests += 1;
  const request_id = `fake-${requests}`;
  const answer = new Promise((resolve) => waiting.set(request_id, resolve));
  if (subtype === "can_use_tool") state("requires_action");
  out({ type: "control_request", request_id, request: { subtype, ...body } });
  const response = await answer;
  waiting.delete(request_id);
  if (subtype === "can_use_tool") state("running");
  return response;
}

function toldBy(response) {
  return response.response ?? { error: response.error };
}

function takeBack() {
  for (const request_id of waiting.keys()) out({ type: "control_cancel_request", request_id });
  waiting.clear();
}

async function askBelow(command) {
  const calls = ["outer", "inner"].map((name) => ({ name, id: `toolu_${name}` }));
  for (const [depth, { name, id }] of calls.entries()) {
    const input = { description: `${name} one`, prompt: command, subagent_type: "general-purpose" };
    const parent_tool_use_id = depth === 0 ? null : calls[depth - 1].id;
    out({ ...assistant([{ type: "tool_use", id, name: "Agent", input }]), parent_tool_use_id });
    const about = { tool_use_id: id, subagent_type: "general-purpose", description: input.description };
    out({
      type: "system",
      subtype: "task_started",
      task_id: `agent-${name}`,
      task_type: "local_agent",
      ...about,
    });
  }
  await ask("can_use_tool", { ...bashRequest(command), agent_id: "agent-inner" });
}

async function flood(count = 1000, bytes = 20) {
  const frame = streamEvent({
    type: "content_block_delta",
    index: 0,
    delta: { type: "text_delta", text: "x".repeat(bytes) },
  });
  for (let n = 0; n < count && turn !== undefined; n += 1) {
    out(frame);
    // Now and then a look at stdin, for an interrupt.
    if (n % 50 === 49) await new Promise((resolve) => setImmediate(resolve));
  }
  await say(`flooded ${count}`);
}

function finishAborted(over) {
  if (over.partial) out(assistant([{ type: "text", text: over.partial }]));
  over.child?.kill("SIGKILL");
  const isTool = over.child !== undefined || over.isRefused === true;
  const text = `[Request interrupted by user${isTool ? " for tool use" : ""}]`;
  out({ type: "user", message: { role: "user", content: [{ type: "text", text }] } });
  const terminal_reason = isTool ? "aborted_tools" : "aborted_streaming";
  result({
    subtype: "error_during_execution",
    is_error: true,
    terminal_reason,
    origin: over.origin,
    errors: ["x"],
  });
}

function fail(fields) {
  result({ is_error: true, ...fields });
  return "no result";
}

function result(fields) {
  out(resultFrame(fields));
}

function resultFrame(fields) {
  totalCost += 0.001;
  return {
    type: "result",
    subtype: "success",
    is_error: false,
    duration_ms: 5,
    num_turns: 1,
    total_cost_usd: totalCost,
    usage: { input_tokens: 10, output_tokens: 20, cache_read_input_tokens: 5, service_tier: "standard" },
    terminal_reason: "completed",
    ...fields,
  };
}

function init() {
  const tools = ["Bash", "Read", "Write"];
  out({ type: "system", subtype: "init", cwd, tools, model, permissionMode, claude_code_version: "2.1.197" });
}

function state(name) {
  if (env.CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS !== "1" || isPlain) return;
  out({ type: "system", subtype: "session_state_changed", state: name });
}

function retry(fields) {
  out({ type: "system", subtype: "api_retry", max_retries: 10, retry_delay_ms: 1, ...fields });
}

function assistant(content, id = `msg_${randomUUID().slice(0, 8)}`) {
  return { type: "assistant", message: { id, role: "assistant", model, content, stop_reason: null } };
}

function streamEvent(event) {
  return { type: "stream_event", event };
}

async function delta(text) {
  if (!isPartial) return;
  out(streamEvent({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }));
}

const NL = Buffer.from("\n");

function out(frame) {
  write(
    `${JSON.stringify({ parent_tool_use_id: null, ...frame, session_id: sessionId, uuid: randomUUID() })}\n`,
  );
}

/** Synchronous, so that what was said before an exit is in the pipe. */
function write(...parts) {
  for (const part of parts) {
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
}

function closeStdin() {
  process.stdin.destroy();
  // Node itself never closes the descriptors 0 to 2.
  closeSync(0);
  setInterval(() => {}, 1000);
}

async function closeStdout() {
  closeSync(1);
  setInterval(() => {}, 1000);
  return new Promise(() => {});
}

function detach(command) {
  const child = spawn("setsid", ["sh", "-c", command], { stdio: ["ignore", "pipe", "ignore"] });
  // The pipe stays open as long as a process that left the shell holds it.
  child.on("exit", () => child.stdout.destroy());
  return child;
}

function kill(signal) {
  process.kill(process.pid, signal);
  return new Promise(() => {});
}

function die(words, code) {
  writeSync(2, `${words}\n`);
  process.exit(code);
}

function lines(count, make) {
  return Array.from({ length: count }, (_, n) => `${make(n)}\n`).join("");
}

function textsOf(blocks) {
  return blocks.filter((block) => block.type === "text").map((block) => block.text);
}

function imagesOf(message) {
  const blocks = Array.isArray(message.content) ? message.content : [];
  return blocks.filter((block) => block.type === "image").map((block) => block.source?.media_type);
}

function transcript() {
  const dir = env.CLAUDE_CONFIG_DIR ?? join(env.HOME ?? homedir(), ".claude");
  return join(dir, "projects", cwd.replace(/[^a-zA-Z0-9]/g, "-"), `${sessionId}.jsonl`);
}

function remember(text, uuid = randomUUID()) {
  if (has("--no-session-persistence")) return;
  mkdirSync(join(transcript(), ".."), { recursive: true });
  const record = {
    type: "user",
    message: { role: "user", content: text },
    cwd,
    sessionId,
    uuid,
    version: "2.1.197",
  };
  appendFileSync(transcript(), `${JSON.stringify(record)}\n`);
}

function rememberedTexts() {
  return remembered().map((record) => record.message.content);
}

function remembered() {
  if (!existsSync(transcript())) return [];
  const text = readFileSync(transcript(), "utf8").trim();
  return text === "" ? [] : text.split("\n").map((line) => JSON.parse(line));
}

/** Its newest message only, as 2.1.197 and 2.1.327 do; the first one only the latter removes. */
function rewind(target) {
  const records = remembered();
  const at = records.findIndex(({ uuid }) => uuid === target);
  const no = (error) => ({ rewound: false, prefillText: null, precedingAssistantUuid: null, error });
  if (!isIdle) return no("turn running");
  if (at === -1) return no("target not found");
  if (at < records.length - 1) return no("stale target");
  if (at === 0 && fault === "keeps-first") return no("no preceding assistant");
  writeFileSync(
    transcript(),
    lines(at, (n) => JSON.stringify(records[n])),
  );
  return { rewound: true, targetMessageUuid: target, prefillText: records[at].message.content };
}
