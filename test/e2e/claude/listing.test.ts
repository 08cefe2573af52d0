// The transcripts that claude itself keeps, and the older dialect.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ClaudeWorld, openWorld } from "./world.ts";

let world: ClaudeWorld;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

test("a closed session is still listed, from claude's own transcript", async () => {
  const talk = await world.session();
  await talk.say("please find me in the list");
  await talk.client.request({ type: "blemeesd.close", session_id: talk.session_id });
  const find = async (filter: object) => {
    const reply = await talk.client.request({ type: "blemeesd.list_sessions", ...filter });
    const rows = reply["sessions"] as Record<string, unknown>[];
    return rows.find((row) => row["session_id"] === talk.session_id);
  };
  const preview = "please find me in the list";
  const row = await find({});
  expect(row).toMatchObject({ backend: "claude", attached: false, cwd: world.cwd, preview });
  expect(row?.["model"]).toMatch(/^claude-/);
  expect(row?.["size"]).toBeGreaterThan(0);
  expect(await find({ cwd: world.cwd, live: false })).toMatchObject({ preview });
  expect(await find({ cwd: "/somewhere/else" })).toBeUndefined();
});

test("a blemees/1 client gets claude's own events, in order and with seq", async () => {
  const client = await world.daemon.connect("blemees/1");
  const session_id = randomUUID();
  const options = { cwd: world.cwd, permission_mode: "bypassPermissions", include_partial_messages: true };
  const opened = await client.request({ type: "blemeesd.open", session_id, ...options });
  expect(opened.type).toBe("blemeesd.opened");
  client.send({ type: "claude.user", session_id, message: { role: "user", content: "#mock:bash echo one" } });
  const result = await client.next("claude.result");
  expect(result).toMatchObject({ subtype: "success", is_error: false, session_id });
  const events = client.frames.filter((frame) => frame.type.startsWith("claude."));
  const types = events.map((frame) => frame.type);
  for (const type of ["claude.system", "claude.stream_event", "claude.assistant", "claude.user"]) {
    expect(types).toContain(type);
  }
  expect(types.filter((type) => type === "claude.result")).toHaveLength(1);
  const seqs = client.frames.flatMap((frame) => (frame["seq"] === undefined ? [] : [Number(frame["seq"])]));
  expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
  expect(new Set(seqs).size).toBe(seqs.length);
  const tool = events.find((frame) => frame.type === "claude.user");
  expect(JSON.stringify(tool)).toContain('"tool_use_result"');
});
