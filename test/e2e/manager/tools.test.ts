// Managers with the tools of the daemon, on the real claude and codex: a manager spawns an agent of the other kind, which
// asks; the manager answers if it was granted that, otherwise a person does. The daemon is killed during a call.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import type { SessionView } from "../../../src/client/index.ts";
import { PATIENT } from "../../support/patience.ts";
import { startMockChat } from "../../tools/mock-chat.mjs";
import { configure } from "../demian/repository.ts";
import { untilPidGone } from "../processes.ts";
import { Machine } from "./machine.ts";

let machine: Machine;
let chat: Awaited<ReturnType<typeof startMockChat>>;
beforeAll(async () => {
  machine = await Machine.create();
  chat = await startMockChat();
  await configure(machine.home, chat.url);
});
afterEach(async () => {
  expect(await machine.sm("rm", "lead", "--tree", "--yes")).toMatchObject({ code: 0 });
});
afterAll(async () => {
  await machine.close();
  await chat.close();
});

/** A directive for the child, within one for its parent. */
const inner = (directive: string) => `\\u0023mock:${directive}`;
const OPTIONS = ["Red", "Blue"].map((label) => ({ label, description: "a color" }));
const QUESTION = { questions: [{ question: "Which color?", header: "Color", options: OPTIONS }] };

/** Claude spawns a codex that asks, and answers what it is woken for. */
const CLAUDE_LEADS = [
  "lead them",
  '#mock:on /(req_\\w+)/ tool mcp__blemees__agents_answer {"request_id":"$1","answers":{"color":"Blue"}}',
  "#mock:on /has finished/ text the child is done",
  `#mock:tool mcp__blemees__agents_spawn {"agent":"codex","name":"kid","prompt":"${inner("ask Which color?")}"}`,
].join("\n");

const CODEX_SPAWNS = `tool agents_spawn {"agent":"claude","name":"kid","options":{"permission_mode":"default"},"prompt":"${inner(
  `tool AskUserQuestion ${JSON.stringify(QUESTION).replaceAll('"', '\\"')}`,
)}"}`;

async function wakes(): Promise<string[]> {
  const { session_id } = await machine.view("lead");
  const { recent } = await machine.http.queue(session_id);
  return recent.filter(({ kind }) => kind === "wake").map(({ state }) => state);
}

async function untilIdle(name: string): Promise<SessionView> {
  return vi.waitFor(async () => {
    const view = await machine.view(name);
    expect(view).toMatchObject({ activity_state: "idle", queued: 0, pending_requests: 0 });
    return view;
  }, PATIENT);
}

test("claude spawns a codex by a tool, is woken for its question and its end, and answers with its grant", async () => {
  await machine.spawn("claude", "lead", "--manager", "--may-answer", CLAUDE_LEADS);
  await vi.waitFor(async () => expect(await wakes()).toEqual(["done", "done"]), PATIENT);
  const lead = await untilIdle("lead");
  const kid = await untilIdle("kid");
  expect(kid).toMatchObject({ parent: lead.session_id, backend: "codex" });
  expect(kid.last_result?.text).toContain("Blue");
  expect(lead).toMatchObject({ turns: 3, last_result: { text: "the child is done" } });
  const [asked] = await machine.requests("--all");
  expect(asked).toMatchObject({ status: "resolved", answered_by: { via: "tool" } });
  expect(asked?.answered_by?.actor).toBe(`agent:${lead.session_id}`);
});

test("without the grant the tool refuses, and a person answers", async () => {
  await machine.spawn("claude", "lead", "--manager", CLAUDE_LEADS);
  const asked = await vi.waitFor(async () => {
    const [request] = await machine.requests();
    expect(request).toMatchObject({ status: "pending", request_type: "user_input" });
    return request;
  }, PATIENT);
  const answer = JSON.stringify({ request_id: asked?.request_id, answers: { color: "Blue" } });
  const said = await machine.say("lead", `#mock:tool mcp__blemees__agents_answer ${answer}`);
  expect(said).toContain("not_allowed");
  expect(said).toContain("a person answers it");
  expect(await machine.sm("answer", asked?.request_id ?? "", "1=Red")).toMatchObject({ code: 0 });
  expect((await untilIdle("kid")).last_result?.text).toContain("Red");
});

test("codex in a read-only sandbox without a network does the same, and the wait takes the wakes", async () => {
  const answer = `tool agents_answer {"request_id":"$REQUEST","answers":{"Which color?":"Blue"}}`;
  const wait = 'tool agents_wait {"ids":["kid"]}';
  const steps = [CODEX_SPAWNS, wait, answer, wait].join(" ;; ");
  await machine.spawn(
    "codex",
    "lead",
    "--manager",
    "--may-answer",
    "-o",
    "sandbox=read-only",
    `#mock:seq ${steps}`,
  );
  const lead = await untilIdle("lead");
  expect((await untilIdle("kid")).last_result?.text).toContain("Blue");
  expect(lead).toMatchObject({ turns: 1 });
  expect(lead.last_result?.text).toContain('"reason":"idle"');
  expect(await wakes()).toEqual(["cancelled", "cancelled"]);
});

const SPAWN_PATIENT = {
  ...{ agent: "codex", name: "kid", prompt: "#mock:exec until test -e go; do sleep 0.05; done" },
  options: { sandbox: "danger-full-access", "approval-policy": "never" },
};
const WAIT = { ids: ["kid"], timeout_s: 300 };
const hide = (value: object) => JSON.stringify(value).replace("#", "\\u0023");

const LEADERS = [
  [
    "claude",
    ["-o", "permission_mode=bypassPermissions"],
    `#mock:steps [["mcp__blemees__agents_spawn",${hide(SPAWN_PATIENT)}],["mcp__blemees__agents_wait",${hide(WAIT)}]]`,
  ],
  [
    "codex",
    ["-o", "sandbox=danger-full-access"],
    `#mock:seq tool agents_spawn ${hide(SPAWN_PATIENT)} ;; tool agents_wait ${hide(WAIT)}`,
  ],
] as const;

test.each(LEADERS)(
  "a call of %s that waits while the daemon is killed gets its one result from the next daemon",
  async (agent, options, directive) => {
    rmSync(join(machine.cwd, "go"), { force: true });
    await machine.spawn(agent, "lead", "--manager", "--no-approvals", ...options, directive);
    const { session_id } = await machine.view("lead");
    const readFrames = async (type: string) =>
      (await machine.http.events(session_id, { limit: 100 })).events.filter((event) => event.type === type);
    await vi.waitFor(async () => expect(await readFrames("agent.tool_use")).toHaveLength(2), PATIENT);
    const { daemon } = await machine.json<{ daemon: { pid: number } }>("status");
    process.kill(daemon.pid, "SIGKILL");
    await untilPidGone(daemon.pid);
    writeFileSync(join(machine.cwd, "go"), "");
    const lead = await untilIdle("lead");
    expect(lead).toMatchObject({ turns: 1 });
    expect(lead.last_result?.text).toContain('"reason":"idle"');
    expect(await readFrames("agent.tool_result")).toHaveLength(2);
  },
);

test("demian manages by sm mcp, which it starts: the process proves whose it is", async () => {
  const order = '{"agent":"codex","name":"kid","prompt":"hello"}';
  const directive = `#mock:tool mcp__blemees__agents_spawn ${order}`;
  await machine.spawn("demian", "lead", "--manager", "--no-approvals", directive);
  const kid = await untilIdle("kid");
  const { session_id } = await machine.view("lead");
  expect(kid).toMatchObject({ parent: session_id, backend: "codex" });
});
