// A family of five under one budget, whose daemon is killed again and again: every turn is counted once, and the limit is
// passed by at most one turn. On the built program, with agents that outlive it.
import { expect, onTestFinished, test } from "vitest";
import { HttpClient } from "../../src/client/index.ts";
import { eventually } from "../servers/http/world.ts";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";

/** What the fake agent says that each turn uses: 10 in, 20 out. */
const TURN = 30;
const LIMIT = 10 * TURN + 1;
const MESSAGES = 4;
const CHILDREN = ["a", "b", "c", "d"];
const LIMIT_MS = 120_000;

async function start(home?: string): Promise<{ daemon: TestDaemon; http: HttpClient }> {
  const daemon = await startDaemon(home === undefined ? {} : { home });
  onTestFinished(() => daemon.close());
  return { daemon, http: new HttpClient({ socket: daemon.socket, retry: false }) };
}

async function listResults(http: HttpClient, ids: readonly string[]): Promise<Record<string, unknown>[]> {
  const pages = await Promise.all(ids.map((id) => http.events(id, { limit: 1000 })));
  const frames = pages.flatMap(({ events }) => events.map(({ frame }) => frame));
  return frames.filter(({ type }) => type === "agent.result");
}

function countTokens(results: readonly Record<string, unknown>[]): number {
  return results.reduce((sum, { usage }) => {
    const { input_tokens = 0, output_tokens = 0 } = (usage ?? {}) as Record<string, number>;
    return sum + input_tokens + output_tokens;
  }, 0);
}

test(
  "never above its budget by more than one turn, whenever the daemon is killed",
  async () => {
    let { daemon, http } = await start();
    const ids: string[] = [];
    const spawn = async (name: string, more: object) => {
      const { session } = await http.spawn({ backend: "claude", name, ...more });
      ids.push(session.session_id);
      return session.session_id;
    };
    const lead = await spawn("lead", { budget: { max_tokens: LIMIT } });
    for (const name of CHILDREN) await spawn(name, { parent: lead, wakes_parent: false });
    for (const id of ids) for (let n = 0; n < MESSAGES; n += 1) await http.input(id, { text: "#slow 3 20" });

    let kills = 0;
    for (const wanted of [2, 4, 7]) {
      await eventually(async () => (await listResults(http, ids)).length).toBeGreaterThanOrEqual(wanted);
      await daemon.kill("SIGKILL");
      kills += 1;
      ({ daemon, http } = await start(daemon.home));
    }
    await eventually(async () => (await http.requests({})).requests.map((row) => row.request_type)).toEqual([
      "budget",
    ]);
    const [budget] = (await http.session(lead)).budgets ?? [];
    const used = countTokens(await listResults(http, ids));
    expect(budget).toEqual({ limit_of: "max_tokens", limit: LIMIT, used, reserved: 0 });
    expect(used).toBeGreaterThanOrEqual(LIMIT - TURN);
    expect(used).toBeLessThanOrEqual(LIMIT + TURN);
    expect(kills).toBe(3);

    // While it is held the daemon is killed once more: nothing starts, and the person is asked again.
    await daemon.kill("SIGKILL");
    ({ daemon, http } = await start(daemon.home));
    await eventually(async () => (await http.requests({})).requests.length).toBe(1);
    expect(countTokens(await listResults(http, ids))).toBe(used);
    await http.change(lead, { budget: { max_tokens: null } });
    for (const id of ids) await http.wait(id, { until: ["idle"] });
    const results = await listResults(http, ids);
    // Each message has had its turn, and each interrupted one was continued.
    const cut = results.filter(({ subtype }) => subtype === "max_budget").length;
    const lost = results.filter(({ subtype }) => subtype === "error").length;
    expect(results.length).toBe(ids.length * MESSAGES + cut);
    expect(lost).toBe(0);
    await eventually(async () => (await http.requests({})).requests.length).toBe(0);
  },
  LIMIT_MS,
);
