// The older protocol, blemees/1: the same sessions, shown as Claude Code's own events.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { RawClient } from "../../support/raw-client.ts";
import { ask, barrier, claudeFound, newId, openDemo, say, seen, useDaemon } from "./talk.ts";

const daemon = useDaemon();
const connect = () => daemon.current.connect("blemees/1");

function tell(client: RawClient, session_id: string, content: unknown): void {
  client.send({ type: "claude.user", session_id, message: { role: "user", content } });
}

async function turn(client: RawClient, session_id: string, content: unknown) {
  tell(client, session_id, content);
  return client.next((frame) => frame.type === "claude.result" && frame["session_id"] === session_id);
}

const open = (client: RawClient, session_id: string, fields: object = {}) =>
  ask(client, "open", { session_id, ...fields });

const streamOf = (client: RawClient, session_id: string) =>
  client.frames.filter((frame) => frame["session_id"] === session_id && "seq" in frame);

describe("hello and open", () => {
  test("hello_ack carries claude_version and nothing of blemees/2", async () => {
    await claudeFound(await daemon.connect());
    const client = await RawClient.connect(daemon.current.socket);
    client.send({ type: "blemeesd.hello", client: "old/1", protocol: "blemees/1" });
    expect(await client.next("blemeesd.hello_ack")).toEqual({
      type: "blemeesd.hello_ack",
      daemon: expect.stringMatching(/^blemeesd\//),
      protocol: "blemees/1",
      pid: daemon.current.pid,
      claude_version: "2.1.197",
    });
    client.close();
  });

  test("the documented open, with its nulls and empty lists, opens", async () => {
    const client = await connect();
    const session_id = newId();
    const opened = await open(client, session_id, {
      id: "req_001",
      model: "sonnet",
      system_prompt: "...",
      append_system_prompt: "...",
      tools: "default",
      disallowed_tools: [],
      permission_mode: "default",
      cwd: daemon.current.home,
      add_dir: ["/tmp"],
      effort: "medium",
      agent: null,
      agents: null,
      mcp_config: [],
      strict_mcp_config: false,
      settings: null,
      setting_sources: null,
      plugin_dir: [],
      betas: [],
      exclude_dynamic_system_prompt_sections: false,
      max_budget_usd: null,
      json_schema: null,
      fallback_model: null,
      session_name: null,
      session_persistence: true,
      include_partial_messages: true,
      replay_user_messages: false,
      resume: false,
    });
    expect(opened).toEqual({
      type: "blemeesd.opened",
      id: "req_001",
      session_id,
      subprocess_pid: expect.any(Number),
      last_seq: 0,
    });
    await turn(client, session_id, "#argv");
    const text = JSON.stringify(
      streamOf(client, session_id).find((frame) => frame.type === "claude.assistant"),
    );
    for (const flag of ["--model", "--tools", "--effort", "--add-dir", "--include-partial-messages"]) {
      expect(text).toContain(flag);
    }
    for (const flag of ["--agent", "--mcp-config", "--replay-user-messages", "--betas"])
      expect(text).not.toContain(flag);
  });

  test.each([
    [{ dangerously_skip_permissions: true }, "unsafe_flag"],
    [{ bare: true }, "unsafe_flag"],
    [{ input_format: "text" }, "invalid_message"],
    [{ output_format: "text" }, "invalid_message"],
    [{ modle: "x" }, "invalid_message"],
    [{ resume: "no" }, "invalid_message"],
    [{ model: 5 }, "invalid_message"],
    [{ session_id: "../x" }, "invalid_message"],
    [{ session_id: "no-uuid" }, "spawn_failed"],
    [{ cwd: "/no/such/dir" }, "spawn_failed"],
  ])("open with %j is %s", async (fields, code) => {
    const client = await connect();
    const refused = await open(client, newId(), fields);
    expect(refused).toMatchObject({ type: "blemeesd.error", code });
    expect(refused).not.toHaveProperty("backend");
    await barrier(client);
  });
});

describe("events", () => {
  test("are Claude's own, prefixed, with session_id and a seq that only grows; each exactly once", async () => {
    const client = await connect();
    const session_id = newId();
    await open(client, session_id, { include_partial_messages: true });
    await turn(client, session_id, "#say one two");
    await barrier(client);
    const frames = streamOf(client, session_id);
    const content = frames.filter(
      (frame) => !(frame.type === "claude.system" && frame["subtype"] !== "init"),
    );
    expect(content.map((frame) => frame.type)).toEqual([
      "claude.system",
      "claude.stream_event",
      "claude.stream_event",
      "claude.stream_event",
      "claude.stream_event",
      "claude.assistant",
      "claude.stream_event",
      "claude.result",
    ]);
    const inner = content.filter((frame) => frame.type === "claude.stream_event");
    expect(inner.map((frame) => (frame["event"] as { type: string }).type)).toEqual([
      "message_start",
      "content_block_start",
      "content_block_delta",
      "content_block_delta",
      "message_stop",
    ]);
    expect(inner[2]?.["event"]).toMatchObject({ delta: { type: "text_delta", text: "one " } });
    expect(frames.at(-1)).toMatchObject({
      subtype: "success",
      is_error: false,
      duration_ms: 5,
      result: "one two",
    });
    const seqs = frames.map((frame) => Number(frame["seq"]));
    expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
    const uuids = frames.map((frame) => frame["uuid"]).filter((uuid) => uuid !== undefined);
    expect(new Set(uuids).size).toBe(uuids.length);
    for (const frame of frames) expect(frame.type).toMatch(/^claude\.[a-z_]+$/);
    expect(client.frames.some((frame) => frame.type.startsWith("agent."))).toBe(false);
  });

  test("tool results, echoes and events that blemees/2 does not know are passed unchanged", async () => {
    const client = await connect();
    const session_id = newId();
    await open(client, session_id, { replay_user_messages: true });
    await turn(client, session_id, "#unknown #rate #tool echo hi");
    const frames = streamOf(client, session_id);
    expect(frames.filter((frame) => frame.type === "claude.frobnicate")).toMatchObject([{ value: 1 }]);
    expect(frames.filter((frame) => frame.type === "claude.rate_limit_event")).toHaveLength(1);
    const users = frames.filter((frame) => frame.type === "claude.user");
    expect(users).toHaveLength(2);
    expect(users[0]).toMatchObject({ message: { content: "#unknown #rate #tool echo hi" }, isReplay: true });
    expect(users[1]).toMatchObject({ message: { content: [{ type: "tool_result", content: "hi\n" }] } });
  });

  test("results of parallel tools that Claude gives in one event come once, also to a replay that begins there", async () => {
    const client = await connect();
    const session_id = newId();
    await open(client, session_id, { replay_user_messages: true });
    await turn(client, session_id, "#two-tools and a word");
    const results = (of: RawClient) =>
      streamOf(of, session_id).filter((frame) => JSON.stringify(frame).includes("tool_result"));
    const [shown, ...others] = results(client);
    expect(others).toEqual([]);
    expect(shown).toMatchObject({ message: { content: [{}, {}, { type: "text" }] } });
    const reader = await connect();
    await ask(reader, "watch", { session_id, last_seen_seq: Number(shown?.["seq"]) });
    await reader.next("claude.result");
    expect(results(reader)).toEqual([]);
  });

  test("an interrupt works as in blemees/2", async () => {
    const client = await connect();
    const session_id = newId();
    await open(client, session_id);
    tell(client, session_id, "#hang");
    await client.next((frame) => frame.type === "claude.system" && frame["subtype"] === "init");
    client.send({ type: "blemeesd.interrupt", session_id });
    expect(await client.next("blemeesd.interrupted")).toMatchObject({ was_idle: false });
    await client.next("claude.result");
    expect((await turn(client, session_id, "#say after"))["subtype"]).toBe("success");
    await barrier(client);
    expect(client.frames.filter((frame) => frame.type === "claude.result")).toHaveLength(2);
  });

  test("replay gives the same frames with the same seq", async () => {
    const client = await connect();
    const session_id = newId();
    await open(client, session_id);
    const last = (await turn(client, session_id, "#say again"))["seq"];
    const before = streamOf(client, session_id);
    await ask(client, "close", { session_id });
    const reader = await connect();
    expect(await open(reader, session_id, { resume: true, last_seen_seq: 0 })).toMatchObject({
      last_seq: last,
    });
    await reader.next((frame) => frame["seq"] === last);
    expect(streamOf(reader, session_id)).toEqual(before);
  });
});

describe("errors", () => {
  test("a crash is claude_crashed, then a result; the next turn works", async () => {
    const client = await connect();
    const session_id = newId();
    await open(client, session_id);
    const result = await turn(client, session_id, "#crash 2");
    expect(result).toMatchObject({ is_error: true });
    const error = await seen(client, (frame) => frame.type === "blemeesd.error");
    expect(error).toMatchObject({ code: "claude_crashed", session_id, seq: expect.any(Number) });
    expect(error["message"]).toMatch(/^stderr tail: /);
    expect(error).not.toHaveProperty("backend");
    expect((await turn(client, session_id, "#say back"))["subtype"]).toBe("success");
  });

  test("an expired login is oauth_expired", async () => {
    const client = await connect();
    const session_id = newId();
    await open(client, session_id);
    await turn(client, session_id, "#auth");
    expect(await seen(client, (frame) => frame.type === "blemeesd.error")).toMatchObject({
      code: "oauth_expired",
      message: "Run `claude auth` to re-authenticate.",
    });
  });

  test.each([
    [{ type: "agent.user", session_id: "s", message: { role: "user", content: "x" } }, "unknown_message"],
    [{ type: "blemeesd.frobnicate" }, "unknown_message"],
    [{ type: "claude.user", session_id: "s", message: { role: "user", content: "x" } }, "session_unknown"],
    [{ type: "claude.user", session_id: "s", message: { role: "system", content: "x" } }, "invalid_message"],
    [{ type: "blemeesd.watch", session_id: "nobody" }, "session_unknown"],
    [{ type: "blemeesd.hello", protocol: "blemees/1" }, "invalid_message"],
    [{ session_id: "s" }, "invalid_message"],
  ])("%j is %s", async (frame, code) => {
    const client = await connect();
    client.send(frame);
    expect(await client.next("blemeesd.error")).toMatchObject({ code });
    await barrier(client);
  });

  test("a second message in a turn is session_busy, a live id session_exists", async () => {
    const client = await connect();
    const session_id = newId();
    await open(client, session_id);
    expect(await open(client, session_id)).toMatchObject({ code: "session_exists" });
    tell(client, session_id, "#slow 5 10");
    tell(client, session_id, "too early");
    expect(await client.next("blemeesd.error")).toMatchObject({ code: "session_busy" });
    await client.next("claude.result");
  });
});

describe("introspection", () => {
  test("status and session_info have the shapes of blemees/1", async () => {
    const client = await connect();
    const session_id = newId();
    await open(client, session_id);
    await turn(client, session_id, "#say hi");
    const status = await ask(client, "status");
    expect(Object.keys(status).sort()).toEqual(
      "type id daemon protocol pid claude_version uptime_s socket_path connections sessions config"
        .split(" ")
        .sort(),
    );
    expect(status["protocol"]).toBe("blemees/1");
    expect(Object.keys(status["sessions"] as object)).toEqual([
      "total",
      "attached",
      "detached",
      "active_turns",
    ]);
    const row = await ask(client, "session_info", { session_id });
    expect(row).toMatchObject({ turns: 1, context_tokens: 15, attached: true, subprocess_running: true });
    expect(row).not.toHaveProperty("backend");
    expect(row).not.toHaveProperty("native_session_id");
  });

  test("list_sessions finds the session by its cwd", async () => {
    const client = await connect();
    const session_id = newId();
    await open(client, session_id, { cwd: daemon.current.home });
    await turn(client, session_id, "#say hi");
    const { sessions } = (await ask(client, "list_sessions", { cwd: daemon.current.home })) as unknown as {
      sessions: { session_id: string; attached: boolean }[];
    };
    expect(sessions.find((row) => row.session_id === session_id)).toMatchObject({ attached: true });
  });
});

test("close with delete removes Claude's transcript too, without delete it stays", async () => {
  const client = await connect();
  const [kept, removed] = [newId(), newId()];
  for (const id of [kept, removed]) {
    await open(client, id);
    await turn(client, id, "#say hi");
  }
  await ask(client, "close", { session_id: kept });
  await ask(client, "close", { session_id: removed, delete: true });
  const projects = join(daemon.current.home, "claude/projects");
  const files = readdirSync(projects).flatMap((name) => readdirSync(join(projects, name)));
  expect(files).toContain(`${kept}.jsonl`);
  expect(files).not.toContain(`${removed}.jsonl`);
  expect(existsSync(projects)).toBe(true);
});

describe("both dialects on one session", () => {
  test("a blemees/1 watcher sees a blemees/2 session as claude.*", async () => {
    const owner = await daemon.connect();
    const watcher = await connect();
    const session_id = newId();
    await owner.open(session_id, { include_partial_messages: true });
    await ask(watcher, "watch", { session_id });
    const result = await owner.turn(session_id, "#say seen by both");
    await watcher.next("claude.result");
    const types = streamOf(watcher, session_id).map((frame) => frame.type);
    expect(types).toEqual([
      "claude.system",
      "claude.stream_event",
      "claude.stream_event",
      "claude.stream_event",
      "claude.assistant",
      "claude.result",
    ]);
    expect(streamOf(watcher, session_id).at(-1)).toMatchObject({ seq: result["seq"], subtype: "success" });
    await ask(owner, "close", { session_id });
    await barrier(watcher);
    expect(watcher.frames.some((frame) => frame.type === "blemeesd.session_closed")).toBe(false);
  });

  test("a blemees/1 watcher gets each native event of a session with raw events once", async () => {
    const owner = await daemon.connect();
    const watcher = await connect();
    const session_id = newId();
    await owner.open(session_id, { include_raw_events: true, user_echo: true });
    await ask(watcher, "watch", { session_id });
    await owner.turn(session_id, "#two-tools and a word");
    await watcher.next("claude.result");
    const uuids = streamOf(watcher, session_id).flatMap((frame) => frame["uuid"] ?? []);
    expect(uuids.length).toBeGreaterThan(4);
    expect(uuids).toEqual([...new Set(uuids)]);
  });

  test("a blemees/2 watcher sees a blemees/1 session as agent.*", async () => {
    const owner = await connect();
    const watcher = await daemon.connect();
    const session_id = newId();
    await open(owner, session_id);
    await ask(watcher, "watch", { session_id });
    const result = await turn(owner, session_id, "#say seen by both");
    await watcher.next((frame) => frame.type === "agent.result" && frame["seq"] === result["seq"]);
    expect(watcher.frames.some((frame) => frame.type === "agent.message")).toBe(true);
    expect(watcher.frames.some((frame) => frame.type.startsWith("claude."))).toBe(false);
  });

  test("a session can be handed from one dialect to the other", async () => {
    const [old, young] = [await connect(), await daemon.connect()];
    const session_id = newId();
    await open(old, session_id);
    await turn(old, session_id, "#say one");
    await young.open(session_id, {}, { resume: true, last_seen_seq: 100 });
    expect(await old.next("blemeesd.session_taken")).toMatchObject({ session_id });
    say(young, session_id, "#say two");
    await young.next("agent.result");
    await open(old, session_id, { resume: true, last_seen_seq: 1000 });
    expect((await turn(old, session_id, "#say three"))["subtype"]).toBe("success");
  });

  test("a blemees/1 client may watch a session of another backend without errors", async () => {
    const owner = await daemon.connect();
    const watcher = await connect();
    const session_id = newId();
    await openDemo(owner, session_id);
    await ask(watcher, "watch", { session_id });
    await owner.turn(session_id, "use a tool");
    expect((await watcher.next("claude.result"))["subtype"]).toBe("success");
  });
});
