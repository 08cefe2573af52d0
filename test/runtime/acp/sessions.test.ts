import { mkdirSync, readdirSync, rmdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SessionConfigOption } from "@agentclientprotocol/sdk";
import { describe, expect, test } from "vitest";
import { CodedError } from "../../../src/base/coded-error.ts";
import { gate } from "../../support/gate.ts";
import { errorOf, Harness, temporary } from "./harness.ts";

const valuesOf = (options: readonly SessionConfigOption[] | null | undefined) =>
  Object.fromEntries((options ?? []).map(({ id, currentValue }) => [id, currentValue]));

describe("initialize", () => {
  test("says what the agent can do", async () => {
    const acp = new Harness();
    expect(await acp.initialize()).toMatchObject({
      protocolVersion: 1,
      agentInfo: { name: "demian", version: "1.2.3" },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, embeddedContext: true },
        sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
      },
      authMethods: [],
    });
    acp.input.end();
    await acp.done;
  });
});

describe("session/new", () => {
  test.each([
    ["relative", /must be an absolute path/],
    ["/no/such/directory", /no such directory/],
    ["/dev/null", /not a directory/],
  ])("refuses the cwd %s and says why", async (cwd, message) => {
    const acp = await Harness.start();
    const error = await errorOf(acp.agent.request("session/new", { cwd, mcpServers: [] }));
    expect(error).toMatchObject({ code: -32602, message: expect.stringMatching(message) });
  });

  test("takes flags for all sessions, and from _meta what this one wants", async () => {
    const acp = await Harness.start({
      flags: { agent: "plan", provider: "big", model: "x", noTranscript: true },
    });
    await acp.open({ env: { BLEMEES_SESSION_ID: "s1" }, approvals: false, transcript: true });
    expect(acp.fakes.orders[0]).toMatchObject({
      agent: "plan",
      provider: "big",
      model: "x",
      env: { BLEMEES_SESSION_ID: "s1" },
      yes: true,
      transcript: true,
    });
    await acp.open();
    expect(acp.fakes.orders[1]).toMatchObject({ transcript: false });
    expect(acp.fakes.orders[1]?.yes).toBeUndefined();
  });

  test.each([
    [{ env: { A: 1 } }, "env"],
    [{ approvals: "no" }, "approvals"],
    [{ transcript: 0 }, "transcript"],
  ])("refuses %j in _meta and names the field", async (meta, field) => {
    const acp = await Harness.start();
    expect(await errorOf(acp.open(meta))).toMatchObject({
      code: -32602,
      message: expect.stringContaining(`_meta.blemees.${field}`),
    });
  });

  test("reports MCP servers with a transport that is not supported, as a notice where the client shows those", async () => {
    const plain = await Harness.start();
    const showing = await Harness.start({ capabilities: { session: { notices: {} } } });
    const mcpServers = [{ type: "sse" as const, name: "files", url: "http://127.0.0.1:1", headers: [] }];
    for (const acp of [plain, showing]) await acp.agent.request("session/new", { cwd: acp.cwd, mcpServers });
    const notice = await plain.frame(({ method }) => method === "_demian/notice");
    expect(notice.params).toMatchObject({
      severity: "warning",
      message: expect.stringMatching(/MCP.*files/),
    });
    await showing.update((update) => update.sessionUpdate === "notice" && /MCP/.test(update.title));
  });

  test("a missing key is -32000, an unknown agent -32602, and nothing is left in the list", async () => {
    const acp = await Harness.start();
    acp.fakes.openFailure = new CodedError("missing_key", "set OPENAI_API_KEY");
    expect(await errorOf(acp.open())).toMatchObject({ code: -32000, message: "set OPENAI_API_KEY" });
    acp.fakes.openFailure = new CodedError("unknown_agent", "there is no agent x");
    expect(await errorOf(acp.open())).toMatchObject({ code: -32602 });
    expect(acp.fakes.closedRuntimes).toBe(2);
    expect(readdirSync(join(acp.home, "state/demian/sessions"))).toEqual([]);
  });

  test("sessions of one workspace share a runtime until the configuration changes", async () => {
    const acp = await Harness.start();
    await acp.open();
    const link = join(temporary(), "link");
    symlinkSync(acp.cwd, link);
    await acp.agent.request("session/new", { cwd: link, mcpServers: [] });
    expect(acp.fakes.created).toBe(1);
    mkdirSync(join(acp.cwd, ".demian"));
    writeFileSync(join(acp.cwd, ".demian/config.json"), "{}");
    await acp.open();
    expect(acp.fakes.created).toBe(2);
  });
});

describe("modes and models", () => {
  test("are sent in every form that clients read", async () => {
    const acp = await Harness.start();
    const { modes, models, configOptions } = await acp.open();
    expect(modes).toMatchObject({
      currentModeId: "build",
      availableModes: [{ id: "build" }, { id: "plan" }],
    });
    expect(models.currentModelId).toBe("local/small");
    expect(models.availableModels.map(({ modelId }) => modelId)).toEqual(["local/small", "big/vendor/large"]);
    expect(valuesOf(configOptions)).toEqual({ mode: "build", model: "local/small", effort: "default" });
    expect(configOptions?.map(({ category }) => category)).toEqual(["mode", "model", "thought_level"]);
  });

  test("change between prompts by every method, and the client is notified", async () => {
    const acp = await Harness.start();
    const { sessionId } = await acp.open();
    await acp.agent.request("session/set_mode", { sessionId, modeId: "plan" });
    expect(acp.ofKind(sessionId, "current_mode_update").at(-1)).toMatchObject({ currentModeId: "plan" });
    await acp.agent.request("session/set_model", { sessionId, modelId: "big/vendor/large" });
    const told = acp.ofKind(sessionId, "config_option_update").at(-1)?.configOptions;
    expect(valuesOf(told)).toEqual({ mode: "plan", model: "big/vendor/large", effort: "default" });
    const { configOptions } = await acp.agent.request("session/set_config_option", {
      sessionId,
      configId: "model",
      value: "big/other",
    });
    expect(valuesOf(configOptions)).toEqual({ mode: "plan", model: "big/other", effort: "default" });
    const changed = await acp.agent.request("session/set_config_option", {
      sessionId,
      configId: "effort",
      value: "high",
    });
    expect(valuesOf(changed.configOptions)).toMatchObject({ effort: "high" });
    let used: unknown;
    acp.fakes.script = async (turn) => {
      used = { ...turn.session };
      return undefined;
    };
    await acp.prompt(sessionId, "go");
    expect(used).toEqual({ agent: "plan", provider: "big", model: "other", effort: "high" });
  });

  test.each([
    ["session/set_mode", { modeId: "nobody" }, -32602],
    ["session/set_model", { modelId: "nowhere/x" }, -32602],
    ["session/set_model", { modelId: "local/" }, -32602],
    ["session/set_model", {}, -32602],
    ["session/set_model", { modelId: "locked/claude" }, -32000],
    ["session/set_config_option", { configId: "effort", value: "huge" }, -32602],
    ["session/set_config_option", { configId: "mood", value: "high" }, -32602],
  ])("%s %j is refused with %i and changes nothing", async (method, params, code) => {
    const acp = await Harness.start();
    const { sessionId } = await acp.open();
    expect(await errorOf(acp.agent.request(method as string, { sessionId, ...params }))).toMatchObject({
      code,
    });
    expect(acp.ofKind(sessionId, "config_option_update")).toEqual([]);
  });

  test("do not change while a prompt runs, and the error says so", async () => {
    const acp = await Harness.start();
    const { sessionId } = await acp.open();
    const held = gate();
    acp.fakes.script = async () => {
      await held.passed;
      return undefined;
    };
    const prompted = acp.prompt(sessionId, "go");
    const error = await errorOf(acp.agent.request("session/set_mode", { sessionId, modeId: "plan" }));
    expect(error).toMatchObject({ code: -32600, message: expect.stringMatching(/a prompt is running/) });
    held.open();
    await prompted;
  });

  test("a prompt sent right after a change uses the new choice", async () => {
    const acp = await Harness.start();
    const { sessionId } = await acp.open();
    let used = "";
    acp.fakes.script = async (turn) => {
      used = turn.session.agent;
      return undefined;
    };
    const prompt = [{ type: "text", text: "go" }];
    const lines = [
      { jsonrpc: "2.0", id: "a", method: "session/set_mode", params: { sessionId, modeId: "plan" } },
      { jsonrpc: "2.0", id: "b", method: "session/prompt", params: { sessionId, prompt } },
    ];
    // Both at once, as a client does that does not wait.
    acp.input.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    expect(await acp.frame(({ id }) => id === "a")).toMatchObject({ result: {} });
    expect(await acp.frame(({ id }) => id === "b")).toMatchObject({ result: { stopReason: "end_turn" } });
    expect(used).toBe("plan");
  });
});

describe("a kept session", () => {
  async function talked(home?: string): Promise<{ acp: Harness; sessionId: string }> {
    const acp = await Harness.start(home === undefined ? {} : { home });
    const { sessionId } = await acp.open();
    acp.fakes.script = async (turn) => {
      const call = { id: "c1", name: "bash", input: { command: "ls" } };
      turn.keep({ role: "assistant", content: "I look.", toolCalls: [call] });
      turn.keep({ role: "tool", toolCallId: "c1", name: "bash", content: "a.ts", isError: true });
      turn.say("There is a.ts.");
      return undefined;
    };
    await acp.prompt(sessionId, "What is there?");
    return { acp, sessionId };
  }

  test("is loaded with everything that was said, before the answer", async () => {
    const { acp, sessionId } = await talked();
    await acp.agent.request("session/close", { sessionId });
    const next = await Harness.start({ home: acp.home, fakes: acp.fakes });
    await next.agent.request("session/load", { sessionId, cwd: acp.cwd, mcpServers: [] });
    const answered = next.frames.findIndex(({ result }) => result?.["modes"] !== undefined);
    const told = next.frames.slice(1, answered).map(({ params }) => params?.["update"]);
    expect(told).toMatchObject([
      { sessionUpdate: "user_message_chunk", content: { text: "What is there?" } },
      { sessionUpdate: "agent_message_chunk", content: { text: "I look." } },
      { sessionUpdate: "tool_call", toolCallId: "c1", kind: "execute", title: "bash: ls" },
      { sessionUpdate: "tool_call_update", toolCallId: "c1", status: "failed" },
      { sessionUpdate: "agent_message_chunk", content: { text: "There is a.ts." } },
    ]);
    expect(acp.fakes.orders.at(-1)?.history).toHaveLength(4);
  });

  test("is resumed silently, with its agent and model", async () => {
    const { acp, sessionId } = await talked();
    await acp.agent.request("session/set_mode", { sessionId, modeId: "plan" });
    await acp.agent.request("session/close", { sessionId });
    const next = await Harness.start({ home: acp.home, fakes: acp.fakes });
    const answer = await next.agent.request("session/resume", { sessionId, cwd: acp.cwd });
    expect(answer.modes?.currentModeId).toBe("plan");
    expect(next.ofKind(sessionId, "user_message_chunk")).toEqual([]);
    expect(acp.fakes.orders.at(-1)).toMatchObject({ agent: "plan", history: { length: 4 } });
  });

  test("continues with the default if its agent is gone, and says so", async () => {
    const { acp, sessionId } = await talked();
    await acp.agent.request("session/close", { sessionId });
    acp.fakes.openFailure = new CodedError("unknown_agent", "there is no agent build");
    await acp.agent.request("session/resume", { sessionId, cwd: acp.cwd });
    const notice = await acp.frame(({ method }) => method === "_demian/notice");
    expect(notice.params?.["message"]).toMatch(/there is no agent build.*default/);
    expect(acp.fakes.orders.at(-1)?.agent).toBeUndefined();
  });

  test("that is open here is loaded again, but not while a prompt runs", async () => {
    const { acp, sessionId } = await talked();
    const where = { sessionId, cwd: acp.cwd, mcpServers: [] };
    await acp.agent.request("session/load", where);
    expect(acp.ofKind(sessionId, "user_message_chunk")).toHaveLength(1);
    const held = gate();
    acp.fakes.script = async () => {
      await held.passed;
      return undefined;
    };
    const prompted = acp.prompt(sessionId, "go");
    expect(await errorOf(acp.agent.request("session/load", where))).toMatchObject({ code: -32600 });
    held.open();
    expect((await prompted).stopReason).toBe("end_turn");
  });

  test("is listed by its title, the latest first, and by cwd; deleted it is gone", async () => {
    const { acp, sessionId } = await talked();
    await acp.open();
    const other = await talked(acp.home);
    const all = await acp.agent.request("session/list", {});
    expect(all.sessions.map((one) => one.sessionId)).toEqual([other.sessionId, sessionId]);
    const here = await acp.agent.request("session/list", { cwd: acp.cwd });
    expect(here.sessions).toMatchObject([{ sessionId, cwd: acp.cwd, title: "What is there?" }]);
    await acp.agent.request("session/delete", { sessionId });
    expect((await acp.agent.request("session/list", { cwd: acp.cwd })).sessions).toEqual([]);
    expect(await errorOf(acp.prompt(sessionId, "go"))).toMatchObject({ code: -32002 });
    const where = { sessionId, cwd: acp.cwd };
    expect(await errorOf(acp.agent.request("session/resume", where))).toMatchObject({ code: -32002 });
  });

  test("that could not be written is reported, and written when the turn ends", async () => {
    const acp = await Harness.start();
    const { sessionId } = await acp.open();
    const file = join(acp.home, "state/demian/sessions", sessionId, "history.jsonl");
    mkdirSync(file);
    acp.fakes.script = async (turn) => {
      rmdirSync(file);
      turn.say("an answer");
      return undefined;
    };
    await acp.prompt(sessionId, "a question");
    const notice = await acp.frame(({ method }) => method === "_demian/notice");
    expect(notice.params?.["message"]).toMatch(/not stored/);
    await acp.agent.request("session/load", { sessionId, cwd: acp.cwd, mcpServers: [] });
    expect(acp.fakes.orders.at(-1)?.history).toEqual([
      { role: "user", content: "a question" },
      { role: "assistant", content: "an answer" },
    ]);
  });

  test("closed in the middle of a prompt answers it cancelled", async () => {
    const { acp, sessionId } = await talked();
    const begun = gate();
    acp.fakes.script = async (turn) => {
      begun.open();
      await new Promise((resolve) => turn.signal.addEventListener("abort", resolve));
      return undefined;
    };
    const prompted = acp.prompt(sessionId, "go");
    await begun.passed;
    await acp.agent.request("session/close", { sessionId });
    expect((await prompted).stopReason).toBe("cancelled");
    expect(acp.fakes.closed).toEqual([sessionId]);
    expect(acp.fakes.closedRuntimes).toBe(1);
  });
});
