#!/usr/bin/env node
// An ACP agent that executes the directives in the prompt, one after the other: `#say hello #ask make`. FAKE_ACP (JSON)
// sets its capabilities and misbehaviour; its sessions are files in FAKE_ACP_HOME, so another process can continue them.
const { spawn } = require("node:child_process");
const { appendFileSync, closeSync, existsSync, mkdirSync, readFileSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");
const { createInterface } = require("node:readline");

const setup = JSON.parse(process.env.FAKE_ACP ?? "{}");
const home = process.env.FAKE_ACP_HOME ?? process.cwd();
const { can = ["close", "resume", "load"], name = "fake-acp", ids = "number", fault, shape = "all" } = setup;
const sessionsDir = join(home, "sessions");
mkdirSync(sessionsDir, { recursive: true });
appendFileSync(join(home, "starts"), `${process.pid}\n`);

const sessions = new Map();
const waiting = new Map();
let lastId = -1;
let lastTool = 0;
let isDeaf = false;

const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const notify = (method, params) => write({ method, params });
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

class Failure extends Error {
  constructor(code, message, data) {
    super(message);
    this.code = code;
    this.data = data;
  }
}
class Cancelled extends Error {}

const fileOf = (id) => join(sessionsDir, `${id}.json`);
const save = (session) => writeFileSync(fileOf(session.id), JSON.stringify(session.messages));

function open(id, params, messages) {
  const session = {
    id,
    messages,
    meta: params._meta,
    cwd: params.cwd,
    mode: "ask",
    model: "small",
    extra: "off",
  };
  session.fast = false;
  sessions.set(id, session);
  save(session);
  return session;
}

function settingsOf({ mode, model, extra, fast }) {
  const option = (id, category, value, values) => {
    const options = values.map((each) => ({ value: each, name: each }));
    return { id, name: id, ...(category ? { category } : {}), type: "select", currentValue: value, options };
  };
  const modes = {
    currentModeId: mode,
    availableModes: [
      { id: "ask", name: "Ask" },
      { id: "auto", name: "Auto" },
    ],
  };
  const models = {
    currentModelId: model,
    availableModels: [
      { modelId: "small", name: "S" },
      { modelId: "large", name: "L" },
    ],
  };
  const configOptions = [
    option("mode", "mode", mode, ["ask", "auto"]),
    option("model", "model", model, ["small", "large"]),
    // Disappears with the large model, as opencode's effort does.
    ...(model === "large" ? [] : [option("extra", undefined, extra, ["off", "on"])]),
    { id: "fast", name: "Fast", type: "boolean", currentValue: fast },
  ];
  if (shape === "none") return {};
  if (shape === "plain") return { modes, models };
  return shape === "options" ? { configOptions } : { modes, models, configOptions };
}

const METHODS = {
  async initialize() {
    if (setup.initMs) await sleep(setup.initMs);
    if (fault === "mute") await new Promise(() => undefined);
    if (fault === "no-init") throw new Failure(-32603, "no home directory");
    const sessionCapabilities = Object.fromEntries(
      can.filter((each) => each !== "load").map((each) => [each, {}]),
    );
    return {
      protocolVersion: setup.protocolVersion ?? 1,
      agentInfo: { name, title: "Fake", version: "1.2.3" },
      authMethods: [{ id: "key", name: "an API key" }],
      agentCapabilities: {
        loadSession: can.includes("load"),
        promptCapabilities: { image: true },
        sessionCapabilities,
      },
    };
  },
  async "session/new"(params) {
    if (fault === "auth") throw new Failure(-32000, "Authentication required");
    if (fault === "mute-new") await new Promise(() => undefined);
    const id = setup.sameId ? "same" : `fake-${process.pid}-${sessions.size + 1}-${Date.now()}`;
    // Before the client can know the id.
    notify("_auth/status_update", { authStatus: { kind: "api_key" } });
    notify("session/update", {
      sessionId: id,
      update: { sessionUpdate: "available_commands_update", availableCommands: [{ name: "compact" }] },
    });
    return { sessionId: id, ...settingsOf(open(id, params, [])) };
  },
  async "session/load"(params) {
    const messages = known(params);
    const session = open(params.sessionId, params, messages);
    const replay = () => {
      for (const { text } of messages) {
        update(session, { sessionUpdate: "user_message_chunk", content: { type: "text", text } });
        update(session, { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "REPLAY" } });
        update(session, { sessionUpdate: "tool_call", toolCallId: "old", title: "old", status: "completed" });
      }
    };
    if (fault === "late-replay") setTimeout(replay, 5);
    else replay();
    update(session, { sessionUpdate: "available_commands_update", availableCommands: [{ name: "loaded" }] });
    return settingsOf(session);
  },
  async "session/resume"(params) {
    return settingsOf(open(params.sessionId, params, known(params)));
  },
  async "session/close"({ sessionId }) {
    const session = need(sessionId);
    if (fault === "deaf") await new Promise(() => undefined);
    session.abort?.(new Cancelled());
    session.kill?.();
    sessions.delete(sessionId);
    return {};
  },
  async "session/set_mode"({ sessionId, modeId }) {
    need(sessionId).mode = modeId;
    update(need(sessionId), {
      sessionUpdate: "agent_message_chunk",
      content: { type: "text", text: `[MODE_UPDATE] ${modeId}` },
    });
    return {};
  },
  async "session/set_model"({ sessionId, modelId }) {
    need(sessionId).model = modelId;
    return {};
  },
  async "session/set_config_option"({ sessionId, configId, value }) {
    const session = need(sessionId);
    if (value === "on" && fault === "refuse-extra") throw new Failure(-32602, "extra not found: on");
    session[configId] = value;
    return { configOptions: settingsOf(session).configOptions };
  },
  async "session/prompt"({ sessionId, prompt }) {
    const session = need(sessionId);
    if (session.abort !== undefined) throw new Failure(-32603, "two prompts at once");
    const text = prompt.map((block) => block.text ?? `[${block.type}]`).join("\n");
    session.messages.push({ text });
    save(session);
    const aborted = new Promise((_, reject) => {
      session.abort = (error) => reject(error);
    });
    aborted.catch(() => undefined);
    session.cancelled = aborted;
    try {
      return await Promise.race([
        perform(session, text),
        session.deaf ? new Promise(() => undefined) : aborted,
      ]);
    } catch (error) {
      if (!(error instanceof Cancelled)) throw error;
      if (session.deaf) return await new Promise(() => undefined);
      return { stopReason: setup.cancelReason ?? "cancelled" };
    } finally {
      session.abort = undefined;
    }
  },
};

function known({ sessionId }) {
  if (!existsSync(fileOf(sessionId)))
    throw new Failure(-32603, "Internal error", { details: "Session not found" });
  return JSON.parse(readFileSync(fileOf(sessionId), "utf8"));
}

function need(id) {
  const session = sessions.get(id);
  if (session === undefined) throw new Failure(-32002, `Session ${id} not found`);
  return session;
}

const update = (session, body) => notify("session/update", { sessionId: session.id, update: body });
const chunk = (session, text, kind = "agent_message_chunk", messageId) =>
  update(session, {
    sessionUpdate: kind,
    content: { type: "text", text },
    ...(messageId ? { messageId } : {}),
  });

function ask(session, method, params) {
  lastId += 1;
  const id = ids === "string" ? `uuid-${lastId}` : lastId;
  const answer = new Promise((resolve) => waiting.set(id, resolve));
  write({ id, method, params: { sessionId: session.id, ...params } });
  return { id, answer };
}

const OPTIONS = [
  { optionId: "yes-always", name: "Always", kind: "allow_always" },
  { optionId: "yes", name: "Yes", kind: "allow_once" },
  { optionId: "no", name: "No", kind: "reject_once" },
];
const optionsNow = () => OPTIONS.filter(({ kind }) => !(setup.without ?? []).includes(kind));

function newTool() {
  lastTool += 1;
  return `call-${process.pid}-${lastTool}`;
}

async function permission(session, toolCall) {
  const { answer } = ask(session, "session/request_permission", { toolCall, options: optionsNow() });
  const { result, error } = await answer;
  const outcome = error ? "error" : (result.outcome.optionId ?? result.outcome.outcome);
  chunk(session, `answer: ${outcome}. `);
  return outcome;
}

const COMMANDS = {
  async say(session, text) {
    chunk(session, text);
  },
  async think(session, text) {
    chunk(session, text, "agent_thought_chunk", "thought");
  },
  async parts(session) {
    chunk(session, "one ", undefined, "m1");
    chunk(session, "", undefined, "m1");
    chunk(session, "two", undefined, "m1");
    chunk(session, "three", undefined, "m2");
  },
  async slow(session, text) {
    const [count, ms] = text.split(" ").map(Number);
    const { cancelled } = session;
    for (let at = 0; at < count; at += 1) {
      chunk(session, `word${at} `);
      await Promise.race([cancelled, sleep(ms)]);
    }
  },
  async flood(session, text) {
    for (let at = 0; at < Number(text); at += 1) chunk(session, `${at} `);
  },
  async ask(session, command) {
    const rawInput = { command, description: `try ${lastTool}` };
    const toolCall = { toolCallId: newTool(), title: command, kind: "execute", status: "pending", rawInput };
    const outcome = await permission(session, toolCall);
    const status = outcome.startsWith("yes") ? "completed" : "failed";
    const { toolCallId } = toolCall;
    update(session, {
      sessionUpdate: "tool_call_update",
      toolCallId,
      status,
      rawOutput: `${command}: ${status}`,
    });
    if (setup.declineEnds && status === "failed") throw new Cancelled();
  },
  /** As opencode 1.18: announces the call without input, and sends the input before it asks ("early") or not. */
  async "ask-opencode"(session, text) {
    const [when, command] = [text.split(" ")[0], text.split(" ").slice(1).join(" ")];
    const call = { toolCallId: newTool(), kind: "execute" };
    const places = { locations: [{ path: session.cwd }] };
    const announced = { ...call, title: "bash", status: "pending", rawInput: { cwd: session.cwd } };
    update(session, { sessionUpdate: "tool_call", ...announced, ...places });
    if (when === "early") {
      const rawInput = { command, description: "what it is for", timeout: 5000, cwd: session.cwd };
      const running = { ...call, title: command, status: "in_progress", rawInput, ...places };
      update(session, { sessionUpdate: "tool_call_update", ...running });
    }
    await permission(session, { ...call, title: command, status: "pending", rawInput: { command } });
    update(session, { sessionUpdate: "tool_call_update", ...call, status: "completed" });
  },
  async "ask-edit"(session, path) {
    const content = [{ type: "diff", path, oldText: "a\nb\n", newText: "a\nc\n" }];
    await permission(session, { toolCallId: newTool(), title: "Edit", kind: "edit", content });
  },
  async "ask-title"(session, title) {
    await permission(session, { toolCallId: newTool(), title, kind: "execute" });
  },
  async "ask-nothing"(session) {
    await permission(session, { toolCallId: newTool() });
  },
  async "ask-revoked"(session) {
    const toolCall = {
      toolCallId: newTool(),
      title: "later",
      kind: "execute",
      rawInput: { command: "later" },
    };
    const { id } = ask(session, "session/request_permission", { toolCall, options: optionsNow() });
    notify("$/cancel_request", { requestId: id });
  },
  async form(session) {
    const { answer } = ask(session, "elicitation/create", {
      mode: "form",
      toolCallId: newTool(),
      message: "Which?",
      requestedSchema: {
        type: "object",
        properties: {
          color: {
            type: "string",
            oneOf: [
              { const: "r", title: "Red" },
              { const: "b", title: "Blue" },
            ],
          },
          count: { type: "integer" },
          sure: { type: "boolean" },
        },
        required: ["color"],
      },
    });
    chunk(session, JSON.stringify((await answer).result));
  },
  async fs(session) {
    const { answer } = ask(session, "fs/read_text_file", { path: "/etc/passwd" });
    chunk(session, `code ${(await answer).error?.code}`);
  },
  async tool(session, text) {
    const toolCallId = newTool();
    update(session, { sessionUpdate: "tool_call", toolCallId, title: "bash", kind: "execute", rawInput: {} });
    const rawInput = { command: text };
    update(session, { sessionUpdate: "tool_call_update", toolCallId, rawInput, status: "in_progress" });
    const content = [{ type: "content", content: { type: "text", text: `ran ${text}` } }];
    update(session, { sessionUpdate: "tool_call_update", toolCallId, content, status: "completed" });
  },
  async "open-tool"(session) {
    const toolCallId = newTool();
    update(session, {
      sessionUpdate: "tool_call",
      toolCallId,
      title: "t",
      kind: "read",
      status: "in_progress",
    });
  },
  /** A real command that is not ended with the turn, as in codex-acp. */
  async run(session, file) {
    const child = spawn("sh", ["-c", `echo $$ > ${file}; sleep 600`], {
      detached: true,
      stdio: "ignore",
      env: { ...process.env, ...session.meta?.blemees?.env },
    });
    session.kill = () => {
      if (setup.leaveCommand !== true) process.kill(-child.pid, "SIGKILL");
    };
    const rawInput = { command: "sleep" };
    update(session, {
      sessionUpdate: "tool_call",
      toolCallId: newTool(),
      kind: "execute",
      status: "in_progress",
      rawInput,
    });
    await new Promise(() => undefined);
  },
  async unknown(session) {
    update(session, { sessionUpdate: "brand_new_kind", value: 1 });
    notify("_vendor/hello", { sessionId: session.id, value: 2 });
    notify("_demian/event", { sessionId: session.id, event: { type: "tool.started", callId: "c" } });
    update(session, {
      sessionUpdate: "plan",
      entries: [{ content: "a", status: "pending", priority: "high" }],
    });
    update(session, {
      sessionUpdate: "usage_update",
      used: 5,
      size: 100,
      cost: { amount: 0.25, currency: "USD" },
    });
    update(session, {
      sessionUpdate: "notice",
      severity: "warning",
      title: "Careful",
      description: "really",
    });
    update(session, { sessionUpdate: "current_mode_update", currentModeId: "auto" });
  },
  async "system-error"(session, text) {
    update(session, {
      sessionUpdate: "session_info_update",
      _meta: { codex: { threadStatus: { type: "systemError" } } },
    });
    chunk(session, text);
  },
  async usage(session) {
    session.result = { usage: { inputTokens: 7, outputTokens: 3, cachedReadTokens: 2, totalTokens: 12 } };
  },
  async stop(session, reason) {
    session.result = { stopReason: reason };
  },
  async error(_session, text) {
    const [code, ...words] = text.split(" ");
    throw new Failure(Number(code), words.join(" "));
  },
  async exit(_session, code) {
    process.exit(Number(code));
  },
  async hang(session) {
    session.deaf = true;
    chunk(session, "deaf now");
    await new Promise(() => undefined);
  },
  async wait() {
    await new Promise(() => undefined);
  },
  async garbage() {
    process.stdout.write("this is not JSON\n[1,2]\n\n");
  },
  async values() {
    process.stdout.write(`{"jsonrpc":"2.0","method":"x","params":{"values":[${"1,".repeat(60_000)}1]}}\n`);
  },
  async "values-end"(session) {
    session.result = { values: Array(60_000).fill(1) };
  },
  async "oversize-end"(session, bytes) {
    session.result = { text: "x".repeat(Number(bytes)) };
  },
  async big(session, text) {
    const [megabytes, times = 1] = text.split(" ").map(Number);
    for (let at = 0; at < times; at += 1) chunk(session, "x".repeat(megabytes * 1024 * 1024));
  },
  async env(session) {
    const { BLEMEES_SESSION_ID: own = "none" } = process.env;
    chunk(session, JSON.stringify({ own, meta: session.meta?.blemees?.env?.BLEMEES_SESSION_ID ?? "none" }));
  },
  async history(session) {
    chunk(session, JSON.stringify(session.messages.map(({ text }) => text)));
  },
  async settings(session) {
    const { mode, model, extra, fast, cwd } = session;
    chunk(session, JSON.stringify({ mode, model, extra, fast, cwd }));
  },
  async stderr(_session, text) {
    process.stderr.write(`${text}\n`);
  },
  async "close-stdin"() {
    isDeaf = true;
    process.stdin.destroy();
    // Node itself never closes the descriptors 0 to 2.
    closeSync(0);
    setInterval(() => undefined, 1000);
  },
  async twice(session) {
    session.isTwice = true;
  },
  async late(session) {
    session.isLate = true;
  },
};

async function perform(session, text) {
  const { cancelled } = session;
  for (const part of text.split(/(?:^|\s)#/).slice(1)) {
    const [command, ...rest] = part.split(" ");
    await COMMANDS[command](session, rest.join(" ").trim());
    // Nothing more for a finished turn.
    await Promise.race([cancelled, sleep(0)]);
  }
  const result = { stopReason: "end_turn", ...session.result };
  session.result = undefined;
  return result;
}

async function serve({ id, method, params }) {
  try {
    const handler = METHODS[method];
    if (handler === undefined) throw new Failure(-32601, `"Method not found": ${method}`);
    const result = await handler(params);
    write({ id, result });
    const session = sessions.get(params.sessionId);
    if (session?.isTwice) write({ id, result });
    if (session?.isLate) {
      chunk(session, "too late");
      update(session, { sessionUpdate: "usage_update", used: 9, size: 100 });
      session.isLate = false;
    }
  } catch (error) {
    const { code = -32603, message, data } = error;
    write({ id, error: { code, message, ...(data === undefined ? {} : { data }) } });
  }
}

const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const message = JSON.parse(line);
  if (setup.record) appendFileSync(join(home, "heard"), `${line}\n`);
  if (message.method === "session/cancel") {
    const session = sessions.get(message.params.sessionId);
    session?.abort?.(new Cancelled());
  } else if (message.method !== undefined) {
    if (fault !== "frozen" || message.method === "initialize" || message.method === "session/new")
      void serve(message);
  } else {
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
  }
});
lines.on("close", () => {
  if (setup.ignoreEof) setInterval(() => undefined, 1000);
  else if (!isDeaf) process.exit(0);
});
if (setup.ignoreTerm) process.on("SIGTERM", () => undefined);
