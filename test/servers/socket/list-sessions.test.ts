// The six combinations of the two filters, over live sessions and transcripts on disk.
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { Frame, RawClient } from "../../support/raw-client.ts";
import { ask, isOf, newId, openDemo, say, until, useDaemon } from "./talk.ts";

const daemon = useDaemon();
const LIVE_HERE = newId();
const LIVE_THERE = newId();
const COLD_HERE = newId();
const COLD_OLDER = newId();
const COLD_THERE = newId();
const DEMO_COLD = newId();
let here = "";
let there = "";
let owner: RawClient;

type Row = Record<string, unknown> & { session_id: string };

function writeTranscript(cwd: string, session_id: string, ageMs: number, text: string): void {
  const directory = join(daemon.current.home, "claude/projects", cwd.replace(/[^a-zA-Z0-9]/g, "-"));
  mkdirSync(directory, { recursive: true });
  const path = join(directory, `${session_id}.jsonl`);
  const records = [
    { type: "queue-operation", operation: "enqueue" },
    { type: "user", cwd, message: { role: "user", content: text }, sessionId: session_id },
    { type: "assistant", cwd, message: { role: "assistant", model: "claude-y", content: [] } },
  ];
  writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  const at = new Date(Date.now() - ageMs);
  utimesSync(path, at, at);
}

async function list(filter: object): Promise<{ reply: Frame; rows: Row[]; ids: string[] }> {
  const client = await daemon.connect();
  const reply = await ask(client, "list_sessions", filter);
  const rows = reply["sessions"] as Row[];
  return { reply, rows, ids: rows.map((row) => row.session_id) };
}

beforeAll(async () => {
  here = join(daemon.current.home, "here");
  there = join(daemon.current.home, "there");
  for (const directory of [here, there]) mkdirSync(directory);
  writeTranscript(here, COLD_HERE, 60_000, "fix the bug");
  writeTranscript(here, COLD_OLDER, 120_000, "x".repeat(500));
  writeTranscript(there, COLD_THERE, 90_000, "elsewhere");
  owner = await daemon.current.connect();
  await openDemo(owner, DEMO_COLD, { options: { demo: { cwd: here, pace_ms: 0 } } });
  await owner.turn(DEMO_COLD, "a demo turn");
  await ask(owner, "close", { session_id: DEMO_COLD });
  await owner.open(LIVE_THERE, { cwd: there });
  await owner.turn(LIVE_THERE, "first   live\nwords");
  await owner.open(LIVE_HERE, { cwd: here });
  await owner.turn(LIVE_HERE, "newest");
});

describe("list_sessions", () => {
  test("no filter: everything, everywhere, the most recently active first", async () => {
    const { reply, ids } = await list({ id: "l" });
    expect(reply).toMatchObject({ type: "blemeesd.sessions", id: "l" });
    expect(reply).not.toHaveProperty("cwd");
    expect(ids).toEqual([LIVE_HERE, LIVE_THERE, DEMO_COLD, COLD_HERE, COLD_THERE, COLD_OLDER]);
  });

  test("cwd: what is on disk for it, with the live ones laid over", async () => {
    const { reply, ids, rows } = await list({ cwd: here });
    expect(reply["cwd"]).toBe(here);
    expect(ids).toEqual([LIVE_HERE, DEMO_COLD, COLD_HERE, COLD_OLDER]);
    expect(rows[0]).toMatchObject({
      attached: true,
      size: expect.any(Number),
      mtime_ms: expect.any(Number),
      turn_active: false,
    });
  });

  test("cwd and live:true: only live ones of it", async () => {
    expect((await list({ cwd: here, live: true })).ids).toEqual([LIVE_HERE]);
  });

  test("cwd and live:false: only cold ones of it, though the live one has a transcript there", async () => {
    expect((await list({ cwd: here, live: false })).ids).toEqual([DEMO_COLD, COLD_HERE, COLD_OLDER]);
  });

  test("live:true: all live ones", async () => {
    expect((await list({ live: true })).ids).toEqual([LIVE_HERE, LIVE_THERE]);
  });

  test("live:false: all cold ones", async () => {
    expect((await list({ live: false })).ids).toEqual([DEMO_COLD, COLD_HERE, COLD_THERE, COLD_OLDER]);
  });

  test("a cwd without sessions: an empty list", async () => {
    expect((await list({ cwd: "/no/such/place" })).rows).toEqual([]);
  });
});

describe("a row", () => {
  test("of a live session has its state, title, model and owner", async () => {
    const { rows } = await list({ live: true, cwd: there });
    expect(rows).toEqual([
      {
        session_id: LIVE_THERE,
        backend: "claude",
        attached: true,
        cwd: there,
        model: "claude-fake-1",
        title: "first live words",
        started_at_ms: expect.any(Number),
        last_active_at_ms: expect.any(Number),
        owner_pid: process.pid,
        last_seq: expect.any(Number),
        turn_active: false,
        activity_state: "idle",
        pending_requests: 0,
      },
    ]);
  });

  test("of a transcript in a cwd has time, size and preview; the cwd is the request's", async () => {
    const { rows } = await list({ cwd: here, live: false });
    const [, cold, older] = rows;
    expect(cold).toEqual({
      session_id: COLD_HERE,
      backend: "claude",
      attached: false,
      mtime_ms: expect.any(Number),
      size: expect.any(Number),
      preview: "fix the bug",
    });
    expect(older?.["preview"]).toBe("x".repeat(200));
  });

  test("of a transcript in the list of all says its cwd and model as well", async () => {
    const { rows } = await list({ live: false });
    expect(rows.find((row) => row.session_id === COLD_THERE)).toMatchObject({
      cwd: there,
      model: "claude-y",
    });
  });

  test("knows a running turn, and a detached session", async () => {
    say(owner, LIVE_HERE, "#slow 10 10");
    await owner.next(isOf("agent.notice", LIVE_HERE));
    const busy = (await list({ live: true, cwd: here })).rows[0];
    expect(busy).toMatchObject({ turn_active: true, activity_state: "working" });
    await owner.next(isOf("agent.result", LIVE_HERE));
    const client = await daemon.connect();
    const session_id = newId();
    await openDemo(client, session_id);
    client.close();
    const watcher = await daemon.connect();
    await ask(watcher, "watch", { session_id });
    // The daemon sees the hang-up when it gets to it.
    const row = await until(
      async () => (await list({ live: true })).rows.find((candidate) => candidate.session_id === session_id),
      (found) => found?.["attached"] === false,
    );
    expect(row).not.toHaveProperty("owner_pid");
    expect(row).not.toHaveProperty("title");
  });
});
