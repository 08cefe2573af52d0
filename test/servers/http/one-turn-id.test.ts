// One turn has one id, the daemon's, everywhere: in its notices, its result, the pages of events, the queue, the
// ledger, the actions and the statistics. The agent's own id is `native_turn_id`. An answer names its source.
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HttpClient } from "../../../src/client/http.ts";
import type { AnswerSource } from "../../../src/protocol/requests.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { ROOT } from "../../support/root.ts";
import { claudeFound } from "../socket/talk.ts";
import { eventually } from "./world.ts";

const FAKES = join(ROOT, "test/fakes");
let daemon: TestDaemon;
let http: HttpClient;

beforeAll(async () => {
  daemon = await startDaemon({ env: { BLEMEESD_CODEX: join(FAKES, "fake-codex.cjs") } });
  http = new HttpClient({ socket: daemon.socket });
  await claudeFound(await daemon.connect());
});
afterAll(() => daemon.close());

/** A session whose turn came from the queue, asked once and is over. */
async function answered(backend: string, text: string, source?: AnswerSource) {
  const { session } = await http.spawn({ backend, cwd: daemon.home });
  const { session_id } = session;
  const { input } = await http.input(session_id, { text });
  expect((await http.wait(session_id, { until: ["blocked"] })).reason).toBe("blocked");
  const [request] = (await http.requests({ session_id })).requests;
  if (request === undefined) throw new Error("nothing is asked");
  const how = source === undefined ? {} : { source };
  const { request: row } = await http.respond(session_id, request.request_id, { decision: "accept" }, how);
  const done = await http.wait(session_id, { until: ["idle"], message_id: input.message_id });
  return { session_id, row, input: done.input };
}

test.each([
  ["claude", "#ask true"],
  ["codex", "#ask true"],
  ["demo", "approve"],
])("a turn of %s has the same id everywhere", async (backend, text) => {
  const { session_id, row, input } = await answered(backend, text);
  const { events } = await http.events(session_id, { limit: 1000 });
  const started = events.find(({ frame }) => frame["category"] === "task_started");
  const turn_id = (started?.frame["data"] as { turn_id?: string } | undefined)?.turn_id;
  expect(turn_id).toEqual(expect.any(String));
  const delivered = events.find(({ frame }) => frame["category"] === "input_delivered");
  const asked = events.find(({ frame }) => frame["category"] === "request_pending");
  // Observed by another thread.
  await eventually(async () => (await http.stats({ session_id })).turns.length).toBe(1);
  const actions = (await http.actions(session_id)).flatMap((action) => action.turn_id ?? []);
  const { turns } = await http.stats({ session_id });
  expect(actions.length).toBeGreaterThan(0);
  expect({
    result: events.find(({ type }) => type === "agent.result")?.frame["turn_id"],
    queue: input?.turn_id,
    delivered: (delivered?.frame["data"] as { turn_id?: string } | undefined)?.turn_id,
    ledger: row.turn_id,
    told: (asked?.frame["data"] as { request?: { turn_id?: string } } | undefined)?.request?.turn_id,
    session: (await http.session(session_id)).last_result?.turn_id,
    actions: [...new Set(actions)],
    stats: turns.map((turn) => turn.turn_id),
  }).toEqual({
    ...{ result: turn_id, queue: turn_id, delivered: turn_id, ledger: turn_id, told: turn_id },
    ...{ session: turn_id, actions: [turn_id], stats: [turn_id] },
  });
  const page = events.filter((event) => event.turn_id !== null).map((event) => event.turn_id);
  expect([...new Set(page)]).toEqual([turn_id]);
  // The agent's own id appears under its own name only.
  if (backend === "codex") expect(row.native_turn_id).toEqual(expect.any(String));
  expect(row.native_turn_id).not.toBe(turn_id);
});

test.each(["tui", "web", "sm", "blemeesctl", undefined] as const)(
  "an answer given by %s says so in the ledger, in the stream and in the history",
  async (source) => {
    const { session_id, row } = await answered("demo", "approve", source);
    const expected = source ?? "http";
    expect(row.resolution_source).toBe(expected);
    const { requests } = await http.requests({ session_id, include_settled: true });
    expect(requests.map((one) => one.resolution_source)).toEqual([expected]);
    const { events } = await http.events(session_id, { limit: 1000 });
    const told = events.find(({ frame }) => frame["category"] === "request_resolved");
    expect(told?.frame["data"]).toMatchObject({ request: { resolution_source: expected } });
  },
);

test("no client can answer in the name of the daemon's rules", async () => {
  const { session } = await http.spawn({ backend: "demo", cwd: daemon.home, prompt: "approve" });
  await http.wait(session.session_id, { until: ["blocked"] });
  const [request] = (await http.requests({ session_id: session.session_id })).requests;
  const answer = http.respond(session.session_id, request?.request_id ?? "", { decision: "accept" }, {
    source: "policy",
  } as never);
  await expect(answer).rejects.toMatchObject({ code: "invalid_message" });
});
