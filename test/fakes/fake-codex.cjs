#!/usr/bin/env node
// A fake Codex 0.166.0 (`codex app-server` on stdio), made from recorded traffic: same requests, same
// notifications, same errors, many threads at once. A real executable without dependencies. The user's text
// contains directives, which are executed in order.
//
// Environment: FAKE_CODEX_VERSION=0.1.2   the version it reports (0.166.0)
//              FAKE_CODEX_FAULT=name      a fault of the process itself (second table)
//              FAKE_CODEX_COUNT=file      one line with its pid for each start
//
// | directive             | what happens                                                                   |
// |-----------------------|--------------------------------------------------------------------------------|
// | #say words            | answers with these words (default: "You said: <text>")                         |
// | #slow n ms            | n words, ms apart                                                              |
// | #flood n bytes        | n deltas of this many bytes, as fast as possible                               |
// | #think words          | a reasoning item before the answer                                             |
// | #tool cmd             | really runs `sh -c cmd`, with the session's variables; survives an interrupt   |
// | #ask cmd              | asks for a command, then answers with the decision                             |
// | #ask-file path        | asks for a file change, then answers with the decision                         |
// | #input                | asks a question, then answers with the answer                                  |
// | #request method       | sends an odd request, then answers with our answer                             |
// | #ask-nobody           | a request of a thread without an owner, then answers with our answer           |
// | #subagent cmd         | spawns a sub-agent that asks for cmd; waits for it                             |
// | #subagent-early cmd   | the same, but the spawning call completes only after the sub-agent has asked   |
// | #background cmd       | the same as #subagent, but the turn ends at once and the sub-agent asks after it|
// | #context / #image     | lists all user texts of this thread / the images that arrived                  |
// | #argv / #env NAME     | its argv as JSON / a variable as the session's commands see it                 |
// | #process-env NAME     | a variable of its own environment                                              |
// | #params / #turn       | what thread/start or thread/resume / turn/start was given, as JSON             |
// | #pid / #interrupts    | its pid / how many interrupts this thread got                                  |
// | #own ms words         | ms later Codex begins a turn on its own and says words                         |
// | #steer-own words      | Codex begins a turn on its own that waits for an interrupt                     |
// | #crash [code]         | partial text, words on stderr, exit (1)                                        |
// | #sigkill              | kills itself                                                                   |
// | #wait                 | nothing more in this turn; an interrupt ends it                                |
// | #hang [n]             | nothing more, and the first n (all) interrupts are accepted but not obeyed     |
// | #stubborn n           | the same for what follows: the first n interrupts are not obeyed               |
// | #deaf                 | no longer answers anything                                                     |
// | #no-reply             | turn/start gets no answer and nothing else happens                             |
// | #refuse code words    | turn/start is refused with this error                                          |
// | #unload               | after this turn the thread is no longer loaded                                 |
// | #retry [n]            | n (endless) retry notices, 10 ms apart                                         |
// | #late-item            | the turn ends, then a command completes                                        |
// | #late-delta           | the turn ends, then a delta comes                                              |
// | #error status         | the turn fails with this HTTP status                                           |
// | #stderr n             | n lines on stderr                                                              |
// | #values / #values-end  | a line of 60,000 values / a turn/completed of as many                          |
// | #oversize-end n       | a turn/completed of n bytes                                                    |
// | #garbage / #oversize n | a line that is not JSON / a line of n bytes                                    |
// | #close-stdout         | stdout closes, the process stays                                               |
// | #close-stdin          | closes its input, the process stays                                            |
// | #orphan cmd           | starts cmd detached (double fork), with the session's variables                |
//
// | FAKE_CODEX_FAULT      | what happens                                                                   |
// |-----------------------|---------------------------------------------------------------------------------|
// | exit-at-start         | "Error: broken" on stderr, exit 1                                              |
// | silent-exit           | exit 1 without a word                                                          |
// | no-app-server         | knows no such subcommand, as Codex 0.100 did                                   |
// | mute                  | never answers the handshake                                                    |
// | ignore-eof            | does not end when stdin ends                                                   |
// | ignore-term           | ignores SIGTERM                                                                |
// | overloaded            | every second request is refused with -32001                                    |
// | list-fails            | thread/list is refused                                                         |
// | early-notices         | thread/started comes before the answer to thread/start                         |
const { spawn } = require("node:child_process");
const { randomBytes } = require("node:crypto");
const {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  unlinkSync,
  writeFileSync,
} = require("node:fs");
const { homedir } = require("node:os");
const { join } = require("node:path");

const { argv, env } = process;
const fault = env.FAKE_CODEX_FAULT ?? "";
const version = env.FAKE_CODEX_VERSION ?? "0.166.0";
const home = env.CODEX_HOME ?? join(env.HOME ?? homedir(), ".codex");
const store = join(home, "fake-threads");
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const threads = new Map(); // loaded ones
const waiting = new Map(); // our requests
let requests = 0;
let asked = 0;
let isReady = false;
let isDeaf = false;
let clientName = "";

if (env.FAKE_CODEX_COUNT) appendFileSync(env.FAKE_CODEX_COUNT, `${process.pid}\n`);
if (argv[2] !== "app-server" || fault === "no-app-server") {
  die(`error: unrecognized subcommand '${argv[2]}'`, 2);
}
if (fault === "exit-at-start") die("Error: broken", 1);
if (fault === "silent-exit") process.exit(1);
if (fault === "ignore-term") process.on("SIGTERM", () => {});
else process.on("SIGTERM", () => leave(0));
mkdirSync(store, { recursive: true });
readInput();

/** Added to what ends a turn. */
let endPad = {};

function readInput() {
  let rest = "";
  process.stdin.setEncoding("utf8");
  process.stdin.on("data", (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") take(line);
  });
  process.stdin.on("end", () => {
    if (fault !== "ignore-eof") leave(0);
  });
  if (fault === "ignore-eof") setInterval(() => {}, 1000);
}

function leave(code) {
  for (const thread of threads.values()) {
    unlock(thread);
    for (const child of thread.terminals) child.kill("SIGKILL");
  }
  process.exit(code);
}

function take(line) {
  let message;
  try {
    message = JSON.parse(line);
  } catch {
    process.stderr.write("ERROR Failed to deserialize JSONRPCMessage\n");
    return;
  }
  if (isDeaf) return;
  if (message.method === undefined) {
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
  } else if (message.id !== undefined) void answer(message);
}

async function answer({ id, method, params = {} }) {
  const refuse = (text, code = -32600, data) =>
    out({ error: { code, message: text, ...(data ? { data } : {}) }, id });
  if (method === "initialize") {
    if (fault === "mute") return;
    if (isReady) return refuse("Already initialized");
    isReady = true;
    clientName = params.clientInfo.name;
    const userAgent = `${clientName}/${version} (Debian 12.0.0; x86_64) unknown (${clientName}; ${params.clientInfo.version})`;
    out({ id, result: { userAgent, codexHome: home, platformFamily: "unix", platformOs: "linux" } });
    return;
  }
  if (!isReady) return refuse("Not initialized");
  asked += 1;
  if (fault === "overloaded" && asked % 2 === 1) return refuse("Server overloaded; retry later.", -32001);
  const handler = HANDLERS[method];
  if (handler === undefined) return refuse(`Invalid request: unknown variant \`${method}\``);
  await handler(params, (result) => out({ id, result }), refuse);
}

const HANDLERS = {
  "thread/start": (params, reply, refuse) => {
    if (params.approvalPolicy === "on-failure") {
      return refuse(
        "Invalid request: unknown variant `on-failure`, expected one of `untrusted`, `on-request`, `granular`, `never`",
      );
    }
    const thread = newThread(params);
    lock(thread);
    if (fault === "early-notices") note("thread/started", { thread: viewOf(thread) });
    reply(opened(thread));
    if (fault !== "early-notices") note("thread/started", { thread: viewOf(thread) });
  },
  "thread/resume": (params, reply, refuse) => {
    const { threadId } = params;
    if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(threadId)) {
      return refuse("invalid session id: invalid character: expected an optional prefix of `urn:uuid:`");
    }
    const loaded = threads.get(threadId);
    const file = join(store, `${threadId}.json`);
    if (!existsSync(file)) return refuse(`no rollout found for thread id ${threadId}`);
    if (loaded === undefined && isLocked(threadId)) {
      return refuse(`thread ${threadId} already has an active writer`);
    }
    const thread = loaded ?? { ...newThread(params), ...JSON.parse(readFileSync(file, "utf8")) };
    threads.set(threadId, thread);
    thread.params = params;
    thread.isSubscribed = true;
    lock(thread);
    note("thread/status/changed", { threadId, status: statusOf(thread) });
    reply(opened(thread));
  },
  "thread/read": (params, reply, refuse) => {
    const thread = threads.get(params.threadId) ?? stored(params.threadId);
    if (thread === undefined) return refuse(`thread not found: ${params.threadId}`);
    reply({ thread: viewOf(thread) });
  },
  "thread/list": (params, reply, refuse) => {
    if (fault === "list-fails") return refuse("the state database is locked");
    const cwds = params.cwd === undefined ? undefined : [params.cwd].flat();
    const ids = readdirSync(store).filter((name) => name.endsWith(".json"));
    const all = ids
      .map((name) => stored(name.slice(0, -5)))
      .filter((thread) => cwds === undefined || cwds.includes(thread.cwd))
      .filter((thread) => thread.parent === undefined)
      .sort((a, b) => (a.id < b.id ? 1 : -1));
    const from = Number(params.cursor ?? 0);
    const limit = Math.min(params.limit ?? 25, 100);
    const nextCursor = from + limit < all.length ? String(from + limit) : null;
    reply({ data: all.slice(from, from + limit).map(viewOf), nextCursor });
  },
  "thread/loaded/list": (_params, reply) => reply({ data: [...threads.keys()], nextCursor: null }),
  "thread/unsubscribe": (params, reply) => {
    const thread = threads.get(params.threadId);
    if (thread !== undefined) thread.isSubscribed = false;
    reply({ status: thread === undefined ? "notLoaded" : "unsubscribed" });
  },
  "thread/backgroundTerminals/clean": (params, reply, refuse) => {
    const thread = threads.get(params.threadId);
    if (thread === undefined) return refuse(`thread not found: ${params.threadId}`);
    for (const child of thread.terminals) child.kill("SIGKILL");
    reply({});
  },
  "thread/turns/list": (params, reply, refuse) => {
    const thread = threads.get(params.threadId);
    if (thread === undefined) return refuse(`thread not found: ${params.threadId}`);
    // Newest first.
    const all = thread.past.toReversed();
    const from = Number(params.cursor ?? 0);
    const end = from + (params.limit ?? 25);
    const data = all.slice(from, end).map(({ id, clientId }) => ({
      id,
      items: [{ type: "userMessage", id: `item_${id}`, clientId, content: [] }],
      itemsView: "summary",
      status: "completed",
    }));
    reply({ data, nextCursor: end < all.length ? String(end) : null });
  },
  "thread/revert": (params, reply, refuse) => {
    const thread = threads.get(params.threadId);
    if (thread === undefined) return refuse(`thread not found: ${params.threadId}`);
    const at = thread.past.findIndex(({ id }) => id === params.beforeTurnId);
    if (at === -1) return refuse(`turn not found: ${params.beforeTurnId}`);
    thread.past.splice(at);
    thread.texts.splice(at);
    save(thread);
    note("thread/status/changed", { threadId: thread.id, status: { type: "notLoaded" } });
    note("thread/status/changed", { threadId: thread.id, status: statusOf(thread) });
    reply({ thread: viewOf(thread), turnsBackwardsCursor: null, itemsBackwardsCursor: null });
    note("thread/reverted", { threadId: thread.id });
  },
  "turn/interrupt": (params, reply, refuse) => {
    const { turn } = threads.get(params.threadId) ?? {};
    if (turn === undefined || turn.id !== params.turnId) return refuse("no active turn to interrupt");
    threads.get(params.threadId).interrupts += 1;
    reply({});
    if (turn.ignores > 0) turn.ignores -= 1;
    else turn.abort();
  },
  "model/list": (_params, reply) =>
    reply({
      data: [
        {
          ...{ id: "gpt-fake", model: "gpt-fake", displayName: "Fake", description: "The usual one" },
          supportedReasoningEfforts: [
            { reasoningEffort: "low", description: "Quick" },
            { reasoningEffort: "high", description: "" },
          ],
        },
        { id: "gpt-x", model: "gpt-x", displayName: "X", description: "" },
        { id: "gpt-secret", model: "gpt-secret", hidden: true },
      ],
      nextCursor: null,
    }),
  "turn/start": (params, reply, refuse) => {
    const thread = threads.get(params.threadId);
    if (thread === undefined) return refuse(`thread not found: ${params.threadId}`);
    const text = params.input.map((part) => part.text ?? "").join("\n");
    if (text.length > 1_048_576) {
      return refuse("Input exceeds the maximum length", -32602, { input_error_code: "input_too_large" });
    }
    const [, code, words] = /#refuse (-?\d+) ([^#]*)/.exec(text) ?? [];
    if (code !== undefined) return refuse(words.trim(), Number(code));
    if (text.includes("#no-reply")) return;
    if (thread.turn !== undefined) {
      // Input sent into a running turn is added to it: "steering".
      thread.turn.steered.push(text);
      return reply({ turn: turnView(thread.turn, "inProgress") });
    }
    thread.texts.push(text);
    thread.input = params.input;
    thread.turnParams = params;
    const turn = beginTurn(thread);
    thread.past.push({ id: turn.id, clientId: params.clientUserMessageId ?? null });
    save(thread);
    reply({ turn: turnView(turn, "inProgress") });
    void play(thread, turn, text);
  },
};

function newThread(params, parent) {
  const thread = {
    id: uuid7(),
    cwd: params.cwd ?? process.cwd(),
    model: params.model ?? "gpt-5.5",
    parent,
    params,
    texts: [],
    past: [],
    input: [],
    terminals: new Set(),
    interrupts: 0,
    isSubscribed: true,
    createdAt: Math.floor(Date.now() / 1000),
  };
  threads.set(thread.id, thread);
  return thread;
}

function opened(thread) {
  const { params } = thread;
  const types = { "workspace-write": "workspaceWrite", "danger-full-access": "dangerFullAccess" };
  return {
    thread: viewOf(thread),
    model: params.model ?? thread.model,
    modelProvider: "fake",
    cwd: thread.cwd,
    approvalPolicy: params.approvalPolicy ?? "on-request",
    sandbox: { type: types[params.sandbox] ?? "readOnly" },
    reasoningEffort: null,
  };
}

function viewOf(thread) {
  return {
    id: thread.id,
    parentThreadId: thread.parent ?? null,
    preview: thread.texts[0] ?? "",
    modelProvider: "fake",
    model: thread.model,
    createdAt: thread.createdAt,
    updatedAt: thread.createdAt + 1,
    status: statusOf(thread),
    path: join(store, `${thread.id}.json`),
    cwd: thread.cwd,
    name: null,
    agentNickname: thread.parent === undefined ? null : "Wegener",
    turns: [],
  };
}

function statusOf(thread) {
  return thread.turn === undefined ? { type: "idle" } : { type: "active", activeFlags: [] };
}

function stored(id) {
  const file = join(store, `${id}.json`);
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
}

/** A thread has a file only from its first turn on. */
function save({ id, cwd, model, parent, texts, past, createdAt }) {
  const kept = { id, cwd, model, parent, texts, past, createdAt };
  writeFileSync(join(store, `${id}.json`), JSON.stringify(kept));
}

function lock(thread) {
  writeFileSync(join(store, `${thread.id}.lock`), String(process.pid));
}

function unlock(thread) {
  const file = join(store, `${thread.id}.lock`);
  if (existsSync(file) && readFileSync(file, "utf8") === String(process.pid)) unlinkSync(file);
}

function isLocked(id) {
  const file = join(store, `${id}.lock`);
  if (!existsSync(file)) return false;
  const pid = Number(readFileSync(file, "utf8"));
  try {
    process.kill(pid, 0);
    return pid !== process.pid;
  } catch {
    return false;
  }
}

function turnView(turn, status, error = null) {
  const done = status === "inProgress" ? null : Math.floor(Date.now() / 1000);
  const durationMs = done === null ? null : Date.now() - turn.startedAtMs;
  return { id: turn.id, rootTurnId: turn.id, items: [], status, error, completedAt: done, durationMs };
}

function beginTurn(thread) {
  const turn = { id: uuid7(), startedAtMs: Date.now(), ignores: 0, steered: [], isAborted: false };
  turn.aborted = new Promise((resolve) => {
    turn.abort = () => {
      turn.isAborted = true;
      resolve();
    };
  });
  thread.turn = turn;
  return turn;
}

class Aborted extends Error {}

async function play(thread, turn, text) {
  const tell = (method, params) => note(method, { threadId: thread.id, turnId: turn.id, ...params }, thread);
  tell("thread/status/changed", { status: statusOf(thread) });
  note("turn/started", { threadId: thread.id, turn: turnView(turn, "inProgress") }, thread);
  const user = { type: "userMessage", id: `user_${randomBytes(4).toString("hex")}` };
  const content = thread.input.map((part) => (part.type === "text" ? { ...part, text_elements: [] } : part));
  tell("item/started", { item: { ...user, content } });
  tell("item/completed", { item: { ...user, content } });
  const scene = {
    thread,
    turn,
    tell,
    say: (words) => say(scene, words),
    // An interrupt cuts off whatever is being waited for.
    wait: async (work) => {
      const result = await Promise.race([work, turn.aborted]);
      if (turn.isAborted) throw new Aborted();
      return result;
    },
    after: [],
  };
  let status = "completed";
  let error = null;
  try {
    const parts = text.split(/(?=#[a-z])/).filter((part) => part.trim() !== "");
    const isScript = parts.some((part) => part.startsWith("#"));
    for (const part of isScript ? parts : [`#say You said: ${text}`]) {
      const [name, ...words] = part.trim().split(" ");
      const outcome = await (DIRECTIVES[name] ?? DIRECTIVES["#say"])(scene, words.join(" "));
      if (outcome?.error !== undefined) {
        error = outcome.error;
        status = "failed";
        tell("error", { error, willRetry: false });
        break;
      }
    }
  } catch (fault) {
    if (!(fault instanceof Aborted)) throw fault;
    status = "interrupted";
  }
  const tokens = {
    totalTokens: 12,
    inputTokens: 10,
    cachedInputTokens: 0,
    outputTokens: 2,
    reasoningOutputTokens: 0,
  };
  tell("thread/tokenUsage/updated", {
    tokenUsage: { total: tokens, last: tokens, modelContextWindow: 272000 },
  });
  note("account/rateLimits/updated", { rateLimits: { limitId: "codex", primary: null } });
  thread.turn = undefined;
  tell("thread/status/changed", { status: statusOf(thread) });
  note("turn/completed", { threadId: thread.id, turn: turnView(turn, status, error), ...endPad }, thread);
  for (const [id, request] of waiting) if (request.turn === turn) resolved(thread, id);
  for (const later of scene.after) later();
}

const DIRECTIVES = {
  "#say": ({ say }, words) => say(words),
  "#slow": async ({ tell, wait, thread }, words) => {
    const [n, ms] = words.split(" ").map(Number);
    const id = `msg_${thread.id}`;
    tell("item/started", { item: { type: "agentMessage", id, text: "" } });
    let text = "";
    for (let i = 0; i < n; i += 1) {
      text += `tick${i} `;
      tell("item/agentMessage/delta", { itemId: id, delta: `tick${i} ` });
      await wait(sleep(ms));
    }
    tell("item/completed", { item: { type: "agentMessage", id, text } });
  },
  "#flood": async ({ tell }, words) => {
    const [n, bytes] = words.split(" ").map(Number);
    const id = "msg_flood";
    tell("item/started", { item: { type: "agentMessage", id, text: "" } });
    for (let i = 0; i < n; i += 1)
      tell("item/agentMessage/delta", { itemId: id, delta: String(i).padEnd(bytes, ".") });
    tell("item/completed", { item: { type: "agentMessage", id, text: "flooded" } });
  },
  "#think": ({ tell }, words) => {
    const item = { type: "reasoning", id: "rs_1", summary: [], content: [] };
    tell("item/started", { item });
    tell("item/reasoning/summaryTextDelta", { itemId: "rs_1", delta: words, summaryIndex: 0 });
    tell("item/completed", { item: { ...item, summary: [words] } });
  },
  "#tool": async (scene, command) => {
    const item = commandItem(scene, command);
    scene.tell("item/started", { item });
    const child = spawn("sh", ["-c", command], { env: shellEnv(scene.thread), stdio: "ignore" });
    scene.thread.terminals.add(child);
    const ended = new Promise((resolve) => child.once("exit", (code) => resolve(code ?? -1)));
    void ended.then((exitCode) => {
      scene.thread.terminals.delete(child);
      const status = exitCode === 0 ? "completed" : "failed";
      scene.tell("item/completed", { item: { ...item, status, exitCode, aggregatedOutput: "" } });
    });
    await scene.wait(ended);
  },
  "#orphan": async ({ thread }, command) => {
    const detached = `(setsid sh -c '${command}' &)`;
    const child = spawn("sh", ["-c", detached], { env: shellEnv(thread), stdio: "ignore" });
    await new Promise((resolve) => child.once("exit", resolve));
  },
  "#ask": async (scene, command) => {
    const decision = await askCommand(scene, command);
    await scene.say(`decision ${JSON.stringify(decision)}`);
  },
  "#ask-file": async (scene, path) => {
    const changes = [{ path: join(scene.thread.cwd, path), kind: { type: "add" }, diff: "hello\n" }];
    const item = {
      type: "fileChange",
      id: `call_${randomBytes(4).toString("hex")}`,
      changes,
      status: "inProgress",
    };
    scene.tell("item/started", { item });
    const reply = await request(scene, "item/fileChange/requestApproval", { itemId: item.id, reason: null });
    const isDone = reply.result?.decision?.startsWith("accept");
    scene.tell("item/completed", { item: { ...item, status: isDone ? "completed" : "declined" } });
    await scene.say(`decision ${JSON.stringify(reply.result?.decision)}`);
  },
  "#input": async (scene) => {
    const options = [
      { label: "Red", description: "warm" },
      { label: "Blue", description: "cold" },
    ];
    const questions = [
      { id: "color", header: "Color", question: "Which?", isOther: true, isSecret: false, options },
    ];
    const reply = await request(scene, "item/tool/requestUserInput", {
      itemId: "call_q",
      questions,
      isBlocking: true,
    });
    await scene.say(`answers ${JSON.stringify(reply.result?.answers)}`);
  },
  "#request": async (scene, method) => {
    const reply = await request(scene, method, {});
    await scene.say(`reply ${JSON.stringify(reply.error ?? reply.result)}`);
  },
  "#ask-nobody": async (scene) => {
    const params = { threadId: uuid7(), command: "true", itemId: "x" };
    const stranger = newThread({ cwd: scene.thread.cwd });
    const reply = await request(scene, "item/commandExecution/requestApproval", {
      ...params,
      threadId: stranger.id,
    });
    await scene.say(`reply ${JSON.stringify(reply.error ?? reply.result)}`);
  },
  "#subagent": (scene, command) => subAgent(scene, command, {}),
  "#subagent-early": (scene, command) => subAgent(scene, command, { isEarly: true }),
  "#background": (scene, command) => subAgent(scene, command, { isBackground: true }),
  "#context": ({ say, thread }) => say(`texts ${JSON.stringify(thread.texts)}`),
  "#image": ({ say, thread }) => {
    const images = thread.input.filter((part) => part.type !== "text");
    return say(`images ${JSON.stringify(images)}`);
  },
  "#argv": ({ say }) => say(JSON.stringify(argv.slice(2))),
  "#env": ({ say, thread }, name) => say(String(shellEnv(thread)[name])),
  "#process-env": ({ say }, name) => say(String(env[name])),
  "#params": ({ say, thread }) => say(JSON.stringify(thread.params)),
  "#turn": ({ say, thread }) => say(JSON.stringify(thread.turnParams)),
  "#pid": ({ say }) => say(String(process.pid)),
  "#interrupts": ({ say, thread }) => say(String(thread.interrupts)),
  "#own": (scene, words) => {
    const [ms, ...rest] = words.split(" ");
    scene.after.push(() => setTimeout(() => ownTurn(scene.thread, `#say ${rest.join(" ")}`), Number(ms)));
  },
  "#steer-own": (scene, words) => {
    scene.after.push(() => ownTurn(scene.thread, `#say ${words} #wait`));
  },
  "#crash": async ({ tell }, code) => {
    tell("item/started", { item: { type: "agentMessage", id: "msg_x", text: "" } });
    tell("item/agentMessage/delta", { itemId: "msg_x", delta: "partial" });
    await flushed();
    die("thread 'main' panicked: something broke", Number(code || 1));
  },
  "#sigkill": async () => {
    await flushed();
    process.kill(process.pid, "SIGKILL");
    await sleep(10_000);
  },
  "#wait": ({ wait }) => wait(new Promise(() => {})),
  "#hang": ({ turn, wait }, n) => {
    turn.ignores = n === "" ? Number.POSITIVE_INFINITY : Number(n);
    return wait(new Promise(() => {}));
  },
  "#stubborn": ({ turn }, n) => {
    turn.ignores = Number(n);
  },
  "#deaf": ({ wait }) => {
    isDeaf = true;
    return wait(new Promise(() => {}));
  },
  "#unload": ({ thread, after }) => {
    after.push(() => threads.delete(thread.id));
  },
  "#retry": async ({ tell, wait }, n) => {
    const codexErrorInfo = { responseStreamDisconnected: { httpStatusCode: null } };
    for (let i = 0; i < (Number(n) || Number.POSITIVE_INFINITY); i += 1) {
      const error = {
        message: "Reconnecting... waiting for network",
        codexErrorInfo,
        additionalDetails: "refused",
      };
      tell("error", { error, willRetry: true });
      await wait(sleep(10));
    }
  },
  "#late-item": (scene) => {
    const item = commandItem(scene, "sleep 1");
    scene.tell("item/started", { item });
    const ended = { ...item, status: "completed", exitCode: 0, aggregatedOutput: "late" };
    scene.after.push(() => scene.tell("item/completed", { item: ended }));
  },
  "#late-delta": ({ tell, after }) => {
    after.push(() => tell("item/agentMessage/delta", { itemId: "msg_late", delta: "too late" }));
  },
  "#error": (_scene, status) => {
    const codexErrorInfo = { httpConnectionFailed: { httpStatusCode: Number(status) } };
    return { error: { message: `unexpected status ${status}`, codexErrorInfo, additionalDetails: null } };
  },
  "#stderr": async (_scene, n) => {
    for (let i = 0; i < Number(n); i += 1) process.stderr.write(`\u001b[31mWARN\u001b[0m warning ${i}\n`);
    await sleep(20);
  },
  "#garbage": () => {
    process.stdout.write("this is not JSON\n");
  },
  "#values": () => {
    process.stdout.write(`{"method":"x","params":{"values":[${"1,".repeat(60_000)}1]}}\n`);
  },
  "#values-end": () => {
    endPad = { values: Array(60_000).fill(1) };
  },
  "#oversize-end": (_scene, bytes) => {
    endPad = { text: "x".repeat(Number(bytes)) };
  },
  "#oversize": (_scene, bytes) => {
    process.stdout.write(`{"method":"x","params":{"text":"${"x".repeat(Number(bytes))}"}}\n`);
  },
  "#close-stdout": async ({ wait }) => {
    await flushed();
    closeSync(1);
    await wait(new Promise(() => {}));
  },
  "#close-stdin": () => {
    process.stdin.destroy();
    // Node itself never closes the descriptors 0 to 2.
    closeSync(0);
    setInterval(() => {}, 1000);
  },
};

async function say({ tell }, words) {
  const id = `msg_${randomBytes(4).toString("hex")}`;
  tell("item/started", { item: { type: "agentMessage", id, text: "" } });
  for (const part of words.match(/\S+\s*/g) ?? [])
    tell("item/agentMessage/delta", { itemId: id, delta: part });
  tell("item/completed", { item: { type: "agentMessage", id, text: words } });
}

async function askCommand(scene, command) {
  const item = commandItem(scene, command);
  scene.tell("item/started", { item });
  const amendment = { acceptWithExecpolicyAmendment: { execpolicy_amendment: command.split(" ") } };
  const reply = await request(scene, "item/commandExecution/requestApproval", {
    kind: "command",
    itemId: item.id,
    command: item.command,
    cwd: item.cwd,
    commandActions: [],
    proposedExecpolicyAmendment: command.split(" "),
    availableDecisions: ["accept", amendment, "cancel"],
  });
  const { decision } = reply.result ?? { decision: "error" };
  const isDone = String(decision).startsWith("accept");
  scene.tell("item/completed", { item: { ...item, status: isDone ? "completed" : "declined", exitCode: 0 } });
  if (decision === "cancel") {
    scene.turn.abort();
    throw new Aborted();
  }
  return decision;
}

async function subAgent(scene, command, { isEarly = false, isBackground = false }) {
  const { thread, tell } = scene;
  const child = newThread({ ...thread.params }, thread.id);
  const call = {
    type: "collabAgentToolCall",
    id: `call_${randomBytes(4).toString("hex")}`,
    tool: "spawnAgent",
  };
  const running = {
    ...call,
    status: "inProgress",
    senderThreadId: thread.id,
    receiverThreadIds: [],
    agentsStates: {},
  };
  tell("item/started", { item: running });
  const done = () =>
    tell("item/completed", { item: { ...running, status: "completed", receiverThreadIds: [child.id] } });
  if (!isEarly) done();
  const turn = beginTurn(child);
  const played = play(child, turn, `#ask ${command}`);
  if (isBackground) return;
  await scene.wait(played);
  if (isEarly) done();
  await scene.say("the sub-agent is done");
}

function ownTurn(thread, text) {
  thread.input = [];
  void play(thread, beginTurn(thread), text);
}

function commandItem({ thread }, command) {
  return {
    type: "commandExecution",
    id: `call_${randomBytes(4).toString("hex")}`,
    command: `/bin/bash -lc '${command}'`,
    cwd: thread.cwd,
    status: "inProgress",
    commandActions: [],
    aggregatedOutput: null,
    exitCode: null,
  };
}

/** Asks the client. An interrupt takes it back. */
async function request(scene, method, params) {
  const { thread, turn } = scene;
  const id = requests;
  requests += 1;
  const reply = new Promise((resolve) => {
    const settle = (message) => {
      resolve(message);
      resolved(thread, id);
    };
    settle.turn = turn;
    waiting.set(id, settle);
  });
  out({ method, id, params: { threadId: thread.id, turnId: turn.id, ...params } });
  return scene.wait(reply);
}

function resolved(thread, requestId) {
  waiting.delete(requestId);
  note("serverRequest/resolved", { threadId: thread.id, requestId }, thread);
}

function shellEnv(thread) {
  const policy = thread.params.config?.shell_environment_policy ?? {};
  return { ...(policy.inherit === "none" ? {} : env), ...policy.set };
}

/** Clients get no events of a thread that they have left. */
function note(method, params, thread) {
  if (thread?.isSubscribed === false) return;
  out({ method, params, emittedAtMs: Date.now() });
}

function out(message) {
  if (!isDeaf) process.stdout.write(`${JSON.stringify(message)}\n`);
}

function flushed() {
  return new Promise((resolve) => process.stdout.write("", resolve));
}

function uuid7() {
  const time = Date.now().toString(16).padStart(12, "0");
  const rest = randomBytes(10).toString("hex");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${rest.slice(0, 3)}-8${rest.slice(3, 6)}-${rest.slice(6, 18)}`;
}

function die(words, code) {
  process.stderr.write(`${words}\n`, () => process.exit(code));
}
