// A limit with a reset time, on the real claude, codex and demian with scripted models: the daemon and the agents are
// killed while their sessions wait, and each message has one turn more, after the reset.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { chatReply, type ModelServer, startModelServer, status } from "../../support/model-server.ts";
import { PATIENT } from "../../support/patience.ts";
import { configure } from "../demian/repository.ts";
import { Machine } from "./machine.ts";

/** Longer than three agents and two daemons need to start on a busy machine. */
const RESET_S = 60;
const RESUMED = { ...PATIENT, timeout: 150_000 };

let machine: Machine;
let model: ModelServer;
beforeAll(async () => {
  machine = await Machine.create();
  model = await startModelServer(
    status(429, { error: { message: "mock limit" } }, { "retry-after": String(RESET_S) }),
    chatReply("after the limit"),
  );
  await configure(machine.home, model.url);
  // Claude reports limits only of an account with a subscription.
  Object.assign(machine.env, { ANTHROPIC_API_KEY: "", CLAUDE_CODE_OAUTH_TOKEN: "sk-ant-oat01-mock" });
});
afterAll(async () => {
  await machine.close();
  await model.close();
});

const AGENTS = ["claude", "codex", "demian"];

test("sessions that reach a limit continue after its reset, once, also if everything is killed meanwhile", async () => {
  const ids = new Map<string, string>();
  for (const agent of AGENTS)
    ids.set(
      agent,
      await machine.spawn(agent, agent, "--on-limit", "wait", `#mock:limit ${RESET_S} ${agent}`),
    );
  const untilMs = new Map<string, number>();
  for (const agent of AGENTS)
    await vi.waitFor(async () => {
      const view = await machine.http.session(ids.get(agent) ?? "");
      expect(view, agent).toMatchObject({ activity_state: "waiting_quota", queued: 1 });
      untilMs.set(agent, view.quota_wait?.until_ms ?? 0);
    }, PATIENT);
  const quota = await machine.json<{ waiting: { backend: string }[] }>("quota");
  expect(quota.waiting.map(({ backend }) => backend).sort()).toEqual(AGENTS);
  await machine.killDaemon();
  for (const agent of AGENTS)
    expect((await machine.sm("show", agent)).stdout, agent).toContain("waiting_quota until");
  for (const agent of AGENTS) {
    const id = ids.get(agent) ?? "";
    await vi.waitFor(async () => {
      expect(await machine.http.session(id), agent).toMatchObject({ activity_state: "idle", queued: 0 });
    }, RESUMED);
    const { events } = await machine.http.events(id, { limit: 1_000 });
    const frames = events.map(({ frame }) => frame as Record<string, unknown>);
    const results = frames.filter(({ type }) => type === "agent.result");
    expect(
      results.map(({ subtype }) => subtype),
      agent,
    ).toEqual(["error", "success"]);
    const starts = frames.filter(({ category }) => category === "task_started");
    const [, again] = starts.map(({ data }) => (data as { started_at_ms: number }).started_at_ms);
    expect(starts, agent).toHaveLength(2);
    expect(again, agent).toBeGreaterThanOrEqual(untilMs.get(agent) ?? Number.NaN);
  }
}, 600_000);
