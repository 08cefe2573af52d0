// sm's operations with curl on the Unix socket: the HTTP API with the real agents, through a crash of the daemon.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createParser } from "eventsource-parser";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RequestRow } from "../../../src/protocol/requests.ts";
import type { EventsPage, EventView, SessionView, WaitReply } from "../../../src/protocol/views.ts";
import { Machine, type Running } from "./machine.ts";

let machine: Machine;
beforeAll(async () => {
  machine = await Machine.create();
  await machine.sm("status");
});
afterAll(() => machine.close());

const has = (file: string) => existsSync(join(machine.cwd, file));

async function post<T>(path: string, body: object, status = 200): Promise<T> {
  const reply = await machine.curl<T>("POST", path, body);
  expect(reply).toMatchObject({ status });
  return reply.body;
}

async function get<T>(path: string): Promise<T> {
  const reply = await machine.curl<T>("GET", path);
  expect(reply).toMatchObject({ status: 200 });
  return reply.body;
}

async function spawn(body: object): Promise<string> {
  const reply = await post<{ session: SessionView }>("/sessions", { cwd: machine.cwd, ...body }, 201);
  return reply.session.session_id;
}

/** All events after a cursor, a page at a time. */
async function eventsBehind(id: string, cursor: number): Promise<EventView[]> {
  const all: EventView[] = [];
  for (let since_seq = cursor; ; ) {
    const page = await get<EventsPage>(`/sessions/${id}/events?since_seq=${since_seq}&limit=20`);
    expect(page).toMatchObject({ history_gap: false, gap_reason: null });
    all.push(...page.events);
    if (page.events.length === 0) return all;
    since_seq = page.next_seq;
  }
}

function idsOf(stream: Running): number[] {
  const ids: number[] = [];
  createParser({ onEvent: ({ id }) => (id === undefined ? undefined : ids.push(Number(id))) }).feed(
    stream.stdout,
  );
  return ids;
}

const countingFrom = (first: number, count: number) => Array.from({ length: count }, (_, at) => first + at);

test("spawned, listed, refused while it asks, and answered under both names of the route", async () => {
  const [codex, claude] = await Promise.all([
    spawn({ provider: "codex-app", prompt: "#mock:escalate touch by-codex" }),
    spawn({ backend: "claude", prompt: "#mock:bash mkdir by-claude" }),
  ]);
  for (const id of [codex, claude]) {
    expect(await get<WaitReply>(`/sessions/${id}/wait?until=blocked`)).toMatchObject({ reason: "blocked" });
  }
  const { sessions } = await get<{ sessions: SessionView[] }>("/sessions?state=waiting_permission");
  expect(sessions.map(({ session_id, provider }) => [session_id, provider]).sort()).toEqual(
    [
      [codex, "codex-app"],
      [claude, "claude"],
    ].sort(),
  );

  const [asked] = (await get<{ requests: RequestRow[] }>(`/sessions/${codex}/codex-pending-requests`))
    .requests;
  expect(asked).toMatchObject({
    request_type: "command",
    requested_at: expect.stringMatching(/^\d{4}-.*Z$/),
  });
  const { request_id } = asked as RequestRow;
  const refused = await post<object>(`/sessions/${codex}/input`, { text: "and then?" }, 409);
  expect(refused).toMatchObject({
    error: {
      code: "pending_structured_request",
      data: { request_id, request_type: "command", requested_at: expect.any(String) },
    },
  });
  const answer = `/sessions/${codex}/codex-requests/${request_id}/respond`;
  expect(await post(answer, { decision: "accept" })).toMatchObject({ repeated: false });
  expect(await post(answer, { decision: "decline" })).toMatchObject({
    repeated: true,
    request: { status: "resolved", answer: { decision: "accept" } },
  });
  const [other] = (await get<{ requests: RequestRow[] }>(`/sessions/${claude}/requests`)).requests;
  await post(`/sessions/${claude}/requests/${other?.request_id}/respond`, {
    decision: "decline",
    message: "not on a Sunday",
  });
  for (const id of [codex, claude]) {
    expect(await get<WaitReply>(`/sessions/${id}/wait?until=idle`)).toMatchObject({ reason: "idle" });
  }
  expect([has("by-codex"), has("by-claude")]).toEqual([true, false]);
  expect((await get<SessionView>(`/sessions/${claude}`)).last_result?.text).toContain("not on a Sunday");
});

test.each([
  ["codex", "codex"],
  ["claude", "claude"],
])(
  "a cursor and a stream of %s continue after a crash of the daemon, each event once",
  async (_, backend) => {
    const id = await spawn({ backend, prompt: "remember the red fox" });
    await get(`/sessions/${id}/wait`);
    const before = await eventsBehind(id, 0);
    expect(before.map(({ seq }) => seq)).toEqual(countingFrom(1, before.length));
    await post(`/sessions/${id}/input`, { text: "#mock:slow 600 50" }, 201);
    const first = machine.stream(`/sessions/${id}/events`, "Last-Event-ID: 2");
    await first.until("tick2");
    await machine.killDaemon();
    await first.ended();
    const seen = idsOf(first);
    expect(seen).toEqual(countingFrom(3, seen.length));
    const cursor = seen.at(-1) ?? 0;
    expect(cursor).toBeGreaterThan(before.length);

    await machine.sm("status");
    const second = machine.stream(`/sessions/${id}/events`, `Last-Event-ID: ${cursor}`);
    await second.until("backend_crashed");
    await post(`/sessions/${id}/input`, { text: "#mock:context" }, 201);
    expect(await get<WaitReply>(`/sessions/${id}/wait`)).toMatchObject({ reason: "idle" });
    const after = await eventsBehind(id, cursor);
    expect(after.map(({ seq }) => seq)).toEqual(countingFrom(cursor + 1, after.length));
    expect(after.filter(({ type }) => type === "agent.result").map(({ frame }) => frame["subtype"])).toEqual([
      "error",
      "success",
    ]);
    expect((await get<SessionView>(`/sessions/${id}`)).last_result?.text).toContain("remember the red fox");
    await second.until(`id: ${cursor + after.length}\n`);
    expect(idsOf(second)).toEqual(after.map(({ seq }) => seq));
    await second.stop("SIGTERM");
  },
);
