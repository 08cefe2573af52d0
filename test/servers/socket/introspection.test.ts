// ping, status and session_info. No side effects.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ask, claudeFound, info, isOf, newId, openDemo, say, until, useDaemon } from "./talk.ts";

const daemon = useDaemon();

describe("status", () => {
  test("reports the daemon, its connections, sessions and settings", async () => {
    const client = await daemon.connect();
    await claudeFound(client);
    const before = await ask(client, "status", { id: "s" });
    expect(before).toEqual({
      type: "blemeesd.status_reply",
      id: "s",
      daemon: expect.stringMatching(/^blemeesd\/\d/),
      protocol: "blemees/2",
      pid: daemon.current.pid,
      uptime_s: expect.any(Number),
      socket_path: daemon.current.socket,
      backends: { claude: "2.1.197" },
      connections: expect.any(Number),
      sessions: { total: 0, attached: 0, detached: 0, active_turns: 0, by_backend: {} },
      config: {
        ring_buffer_size: 1024,
        event_log_enabled: true,
        idle_timeout_s: 900,
        shutdown_grace_s: 1,
        max_concurrent_sessions: 64,
        max_line_bytes: 16_777_216,
        retention_total_bytes: 10_737_418_240,
        session_retention_days: 90,
        summary_retention_days: 730,
      },
    });
    expect(String(before["uptime_s"])).toMatch(/^\d+(\.\d{1,3})?$/);
  });

  test("counts attached, detached and busy sessions by backend", async () => {
    const [client, leaving] = [await daemon.connect(), await daemon.connect()];
    const [claude, idle, left] = [newId(), newId(), newId()];
    await client.open(claude);
    await openDemo(client, idle);
    await openDemo(leaving, left);
    // A disconnect is not announced: the daemon notices it eventually, including that of the test before.
    const counted = (connections: number) =>
      until(
        () => ask(client, "status"),
        (reply) => reply["connections"] === connections,
      );
    await counted(2);
    leaving.close();
    say(client, claude, "#hang");
    await client.next(isOf("agent.notice", claude));
    try {
      expect((await counted(1))["sessions"]).toEqual({
        total: 3,
        attached: 2,
        detached: 1,
        active_turns: 1,
        by_backend: { claude: 1, demo: 2 },
      });
    } finally {
      for (const session_id of [claude, idle]) await ask(client, "close", { session_id });
      await openDemo(client, left, { resume: true });
      await ask(client, "close", { session_id: left });
    }
  });
});

describe("ping", () => {
  test.each(["anything", 0, false, null, [1, { a: "☂" }], { deep: { er: [] } }])(
    "returns %j unchanged",
    async (data) => {
      const client = await daemon.connect();
      expect(await ask(client, "ping", { id: "p", data })).toEqual({ type: "blemeesd.pong", id: "p", data });
    },
  );

  test("needs neither id nor data", async () => {
    const client = await daemon.connect();
    client.send({ type: "blemeesd.ping" });
    expect(await client.next("blemeesd.pong")).toEqual({ type: "blemeesd.pong" });
  });
});

describe("session_info", () => {
  test("of a session that never had a turn: counters at zero, no last turn", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    await client.open(session_id);
    expect(await info(client, session_id)).toEqual({
      type: "blemeesd.session_info_reply",
      id: expect.any(String),
      session_id,
      backend: "claude",
      native_session_id: session_id,
      turns: 0,
      last_turn_usage: {},
      cumulative_usage: {
        input_tokens: 0,
        output_tokens: 0,
        cache_read_input_tokens: 0,
        cache_creation_input_tokens: 0,
      },
      context_tokens: 0,
      attached: true,
      subprocess_running: true,
      last_seq: 0,
    });
  });

  test("adds up the turns; the context is the input side of the last one; any client may ask", async () => {
    const [client, other] = [await daemon.connect(), await daemon.connect()];
    const session_id = newId();
    await client.open(session_id, { model: "opus" });
    await client.turn(session_id, "one");
    const result = await client.turn(session_id, "two");
    expect(await info(other, session_id)).toMatchObject({
      model: "opus",
      cwd: expect.any(String),
      turns: 2,
      last_turn_at_ms: expect.any(Number),
      last_turn_usage: { input_tokens: 10, output_tokens: 20, cache_read_input_tokens: 5 },
      cumulative_usage: { input_tokens: 20, output_tokens: 40, cache_read_input_tokens: 10 },
      context_tokens: 15,
      attached: true,
      last_seq: result["seq"],
    });
  });

  test("of a closed session comes from the store", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    await client.open(session_id);
    await client.turn(session_id, "one");
    const live = await info(client, session_id);
    await ask(client, "close", { session_id });
    expect(await info(client, session_id)).toEqual({
      ...live,
      id: expect.any(String),
      attached: false,
      subprocess_running: false,
    });
  });

  test("of a transcript that the daemon never saw comes from its head", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    const directory = join(daemon.current.home, "claude/projects/-srv-app");
    mkdirSync(directory, { recursive: true });
    const lines = [
      { type: "user", cwd: "/srv/app", message: { role: "user", content: "hi" } },
      { type: "assistant", message: { model: "claude-x", content: [] } },
    ];
    writeFileSync(
      join(directory, `${session_id}.jsonl`),
      lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
    );
    expect(await info(client, session_id)).toMatchObject({
      backend: "claude",
      native_session_id: session_id,
      cwd: "/srv/app",
      model: "claude-x",
      turns: 0,
      last_turn_at_ms: expect.any(Number),
      last_turn_usage: {},
      cumulative_usage: {},
      context_tokens: 0,
      attached: false,
      subprocess_running: false,
      last_seq: 0,
    });
  });

  test("a thousand requests in one write are all answered, each once", async () => {
    const client = await daemon.connect();
    const ids = Array.from({ length: 1000 }, (_, n) => `flood-${n}`);
    const frames = ids.map((id) =>
      JSON.stringify({ type: "blemeesd.session_info", id, session_id: "nobody" }),
    );
    client.sendRaw(`${frames.join("\n")}\n`);
    for (const _ of ids) await client.next("blemeesd.error");
    await ask(client, "ping");
    const answered = client.frames
      .map((frame) => String(frame["id"]))
      .filter((id) => id.startsWith("flood-"));
    expect(answered.sort()).toEqual(ids.sort());
  });

  test("of an unknown session is session_unknown", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    expect(await info(client, session_id)).toMatchObject({ code: "session_unknown", session_id });
  });
});
