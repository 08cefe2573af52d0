// From inside agents: every way to more budget, and to end the waiting of others for a limit. Each is refused, and nothing
// changes. boss ─ agent ─ child; only the child is below the agent, which may answer requests.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { HttpClient, type RequestRow, type SpawnBody } from "../../src/client/index.ts";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import { PATIENCE_MS, PATIENT } from "../support/patience.ts";
import { ROOT } from "../support/root.ts";

const ATTACKER = join(ROOT, "test/fakes/attacker.mjs");
const REFUSED = "not_allowed";

let daemon: TestDaemon;
let http: HttpClient;
let outputs = 0;
beforeAll(async () => {
  daemon = await startDaemon({ env: { BLEMEESD_HTTP: "0" } });
  http = new HttpClient({ socket: daemon.socket });
});
afterAll(() => daemon.close());

async function spawned(text: string, body: Partial<SpawnBody> = {}): Promise<string> {
  const spawn = { backend: "claude", prompt: text, approvals: false, ...body };
  const { session, message_id = "" } = await http.spawn(spawn);
  if (body.on_limit !== undefined) await untilWaiting(session.session_id);
  else await http.wait(session.session_id, { message_id, timeoutMs: PATIENCE_MS });
  return session.session_id;
}

function untilWaiting(id: string): Promise<void> {
  return vi.waitFor(
    async () => expect(await http.session(id)).toMatchObject({ activity_state: "waiting_quota" }),
    PATIENT,
  );
}

function pendingOf(session_id: string, type: string): Promise<RequestRow> {
  return vi.waitFor(async () => {
    const row = (await http.allRequests({ session_id })).find(({ request_type }) => request_type === type);
    if (row === undefined) throw new Error("no request yet");
    return row;
  }, PATIENT);
}

/** A session whose budget is used up, with a message that waits for it. */
async function exhausted(body: Partial<SpawnBody>): Promise<RequestRow> {
  const id = await spawned("#say done", { ...body, budget: { max_turns: 1 } });
  await http.input(id, { text: "more" });
  return pendingOf(id, "budget");
}

/** Runs a command inside the agent; its output. */
async function runIn(session_id: string, command: string): Promise<string> {
  outputs += 1;
  const file = join(daemon.home, `output-${outputs}`);
  const { input } = await http.input(session_id, { text: `#tool { ${command}; } > ${file} 2>&1` });
  await http.wait(session_id, { message_id: input.message_id, timeoutMs: PATIENCE_MS });
  return readFileSync(file, "utf8");
}

async function attack(session_id: string, plan: object): Promise<Record<string, string>> {
  const all = JSON.stringify({ socket: daemon.socket, ...plan });
  return JSON.parse(await runIn(session_id, `"${process.execPath}" "${ATTACKER}" '${all}'`));
}

const toTarget = ({ session_id, request_id }: RequestRow) => ({ session_id, request_id, isShort: true });
const patch = (id: string, body: object) => ({ method: "PATCH", path: `/sessions/${id}`, body });
const statusOf = async ({ session_id, request_id }: RequestRow): Promise<string> =>
  (await http.request(session_id, request_id)).status;

test("an agent gets no more budget than a person gave it, also if it may answer requests", async () => {
  const boss = await spawned("#say ready", { budget: { max_turns: 90 } });
  const agent = await spawned("#say ready", { parent: boss, may_answer: true, budget: { max_turns: 80 } });
  const [below, stranger] = [await exhausted({ parent: agent }), await exhausted({})];
  const family = [boss, agent, below.session_id];
  const readLimits = async () => Promise.all(family.map(async (id) => (await http.session(id)).budget));
  const before = await readLimits();

  const answers = await attack(agent, { answers: [below, stranger].map(toTarget), isShort: true });
  expect(new Set(Object.values(answers))).toEqual(new Set([REFUSED]));
  expect(Object.keys(answers)).toHaveLength(4);

  for (const body of [{ budget: { max_turns: 5 } }, { budget: { max_turns: null } }]) {
    const changes = await attack(agent, { calls: family.map((id) => patch(id, body)) });
    expect(Object.values(changes)).toEqual([REFUSED, REFUSED, REFUSED]);
  }

  const spawn = { backend: "claude", approvals: false, prompt: "#say hi" };
  const outcomes = await attack(agent, {
    spawns: [
      { ...spawn, budget: { max_turns: 500 } },
      { ...spawn, budget: { max_turns: 500 }, ask: true },
      { ...spawn, budget: { max_turns: 2 }, parent: boss },
      { ...spawn, parent: below.session_id },
    ],
  });
  expect(Object.values(outcomes)).toEqual([
    "budget_exhausted",
    "budget_exhausted",
    REFUSED,
    "budget_exhausted",
  ]);

  const sm = '"$BLEMEES_SM"';
  const lines = [
    ...family.map((id) => `${sm} budget ${id} --turns 30`),
    `${sm} budget ${agent} --turns none`,
    `${sm} approve ${below.request_id} --yes`,
    `env -u BLEMEES_SESSION_ID ${sm} approve ${stranger.request_id} --yes`,
    `${sm} spawn claude --no-approvals --max-turns 500 hi`,
  ].map((line) => `${line} --socket ${daemon.socket} 2>&1; echo "exit $?"`);
  const said = await runIn(agent, lines.join("; "));
  expect(said.match(/exit [12]$/gm), said).toHaveLength(lines.length);
  expect(said.match(/may not change the budget of session/g)).toHaveLength(4);

  expect(await readLimits()).toEqual(before);
  expect(await Promise.all([below, stranger].map(statusOf))).toEqual(["pending", "pending"]);
  // A child that it deletes keeps what it used.
  const used = async () => (await http.session(agent)).budgets?.[0]?.used ?? 0;
  const soFar = await used();
  const gone = await attack(agent, { calls: [{ method: "DELETE", path: `/sessions/${below.session_id}` }] });
  expect(Object.values(gone)).toEqual(["done"]);
  expect(await used()).toBeGreaterThan(soFar);
});

test("an agent starts no turns beyond a used-up budget, whatever it resumes or opens", async () => {
  const agent = await spawned("#say ready");
  const child = await exhausted({ parent: agent });
  const id = child.session_id;
  const { turns } = await http.session(id);
  const calls = ["resume", "interrupt", "stop", "resume"].map((verb) => ({
    method: "POST",
    path: `/sessions/${id}/${verb}`,
    body: {},
  }));
  await attack(agent, { calls });
  await attack(agent, { answers: [toTarget(child)] });
  await http.input(id, { text: "once more" });
  await pendingOf(id, "budget");
  expect((await http.session(id)).turns).toBe(turns);
});

test("an agent ends or changes the waiting for a limit only below it", async () => {
  const boss = await spawned("#error 429", { on_limit: "wait" });
  const agent = await spawned("#say ready", { parent: boss, may_answer: true });
  const stranger = await spawned("#error 429", { on_limit: "ask" });
  const below = await spawned("#error 429", { parent: agent, on_limit: "wait" });
  const asked = await pendingOf(stranger, "quota");
  const orders = (id: string) => [
    { method: "POST", path: `/sessions/${id}/quota`, body: { order: "resume" } },
    patch(id, { on_limit: "fail" }),
  ];
  const outcomes = await attack(agent, {
    calls: [...[boss, stranger, agent].flatMap(orders), { method: "POST", path: "/quota/refresh", body: {} }],
    answers: [toTarget(asked)],
  });
  const taken = Object.entries(outcomes).filter(([, code]) => code !== REFUSED);
  expect(taken).toEqual([]);
  const own = `"$BLEMEES_SM" quota ${boss} --cancel --socket ${daemon.socket}`;
  expect(await runIn(agent, own)).toContain("may not end or change the waiting for limits of");
  expect(await statusOf(asked)).toBe("pending");
  for (const id of [boss, stranger]) await untilWaiting(id);
  expect((await http.session(agent)).on_limit).toBeUndefined();
  const cancel = { method: "POST", path: `/sessions/${below}/quota`, body: { order: "cancel" } };
  expect(Object.values(await attack(agent, { calls: [cancel] }))).toEqual(["done"]);
  expect((await http.session(below)).quota_wait).toBeUndefined();
});

test("no rule answers for a budget, and none says that it would", async () => {
  const rule = (id: string, then: string, when: object) => ({ id, when, then });
  await expect(http.addRule(rule("typed", "allow", { request_type: "budget" }))).rejects.toMatchObject({
    code: "policy_invalid",
  });
  await http.addRule(rule("wide-deny", "deny", { backend: "claude" }));
  await http.addRule(rule("wide-allow", "allow", { backend: "claude", tool: ["budget"] }));
  const row = await exhausted({});
  expect(await statusOf(row)).toBe("pending");
  const verdict = await http.explainRequest(row.session_id, row.request_id);
  expect(verdict).toMatchObject({ decision: "ask" });
  expect(verdict.rules.map(({ matches }) => matches)).toEqual([false, false]);
  for (const id of ["wide-deny", "wide-allow"]) await http.removeRule(id);
});
