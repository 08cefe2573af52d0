// A limit with a reset time, on the real claude, codex and demian with scripted models: the daemon and the agents are
// killed while their sessions wait, and each message has one turn more, after the reset. `QUOTA_KILLS=100` kills them at
// random moments, also while they continue.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { QuotaReply } from "../../../src/protocol/quota.ts";
import { chatReply, type ModelServer, startModelServer, status } from "../../support/model-server.ts";
import { PATIENT } from "../../support/patience.ts";
import { size } from "../../support/sizes.ts";
import { configure } from "../demian/repository.ts";
import { Machine } from "./machine.ts";

const KILLS = size("QUOTA_KILLS", 1);
/**
 * From the moment all agents have asked their model; longer than the daemon needs to start again on a busy machine. The
 * last of many kills come after it.
 */
const RESET_S = 20 + 3 * (KILLS - 1);
const MAX_LOOKS = 60;
const RESUMED = { ...PATIENT, timeout: 150_000 };

let machine: Machine;
let model: ModelServer;
let beginLimits: () => void;
beforeAll(async () => {
  const limitsBegin = new Promise<void>((resolve) => {
    beginLimits = resolve;
  });
  machine = await Machine.create({ limitsBegin });
  const refuse = status(429, { error: { message: "mock limit" } }, { "retry-after": String(RESET_S) });
  model = await startModelServer(
    (exchange) => limitsBegin.then(() => refuse(exchange)),
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

const REST = KILLS === 1 ? /^idle$/ : /^(idle|stopped)$/;
const AGENTS = ["claude", "codex", "demian"];

test(
  "sessions that reach a limit continue after its reset, once, also if everything is killed meanwhile",
  async () => {
    const ids = new Map<string, string>();
    for (const agent of AGENTS)
      ids.set(
        agent,
        await machine.spawn(agent, agent, "--on-limit", "wait", `#mock:limit ${RESET_S} ${agent}`),
      );
    const asked = [machine.anthropic.requests, machine.responses.requests, model.requests];
    await vi.waitFor(() => expect(asked.filter(({ length }) => length === 0)).toEqual([]), PATIENT);
    beginLimits();
    const untilMs = new Map<string, number>();
    for (const agent of AGENTS)
      await vi.waitFor(async () => {
        const view = await machine.http.session(ids.get(agent) ?? "");
        expect(view, agent).toMatchObject({ activity_state: "waiting_quota", queued: 1 });
        untilMs.set(agent, view.quota_wait?.until_ms ?? 0);
      }, PATIENT);
    const quota = await machine.json<QuotaReply>("quota");
    expect(quota.waiting.map(({ backend }) => backend).sort()).toEqual(AGENTS);
    // The resets are known, not guessed.
    const reached = quota.windows.filter((one) => one.reached === true);
    expect(reached.map(({ backend, window }) => `${backend} ${window}`)).toEqual(
      expect.arrayContaining(["claude 5h", "codex 5h", "demian retry"]),
    );
    await machine.killDaemon();
    for (const agent of AGENTS)
      expect((await machine.sm("show", agent)).stdout, agent).toContain("waiting_quota until");
    for (let kill = 1; kill < KILLS; kill += 1) {
      await killAtRandom();
      await machine.json("status");
    }
    for (const agent of AGENTS) {
      const id = ids.get(agent) ?? "";
      await vi.waitFor(async () => {
        const view = await machine.http.session(id);
        expect(view, agent).toMatchObject({ activity_state: expect.stringMatching(REST), queued: 0 });
      }, RESUMED);
      const { events } = await machine.http.events(id, { limit: 1_000 });
      const frames = events.map(({ frame }) => frame as Record<string, unknown>);
      const results = frames.filter(({ type }) => type === "agent.result");
      // A turn that a kill has cut is not repeated.
      const last = KILLS === 1 ? "success" : expect.stringMatching(/^(success|error)$/);
      expect(
        results.map(({ subtype }) => subtype),
        agent,
      ).toEqual(["error", last]);
      const starts = frames.filter(({ category }) => category === "task_started");
      const [, again] = starts.map(({ data }) => (data as { started_at_ms: number }).started_at_ms);
      expect(starts, agent).toHaveLength(2);
      expect(again, agent).toBeGreaterThanOrEqual(untilMs.get(agent) ?? Number.NaN);
    }
  },
  600_000 + KILLS * 10_000,
);

async function killAtRandom(): Promise<void> {
  const id = (await machine.http.sessions())[0]?.session_id ?? "";
  for (let looks = Math.random() * MAX_LOOKS; looks > 0; looks -= 1) await machine.http.session(id);
  await machine.killDaemon();
}
