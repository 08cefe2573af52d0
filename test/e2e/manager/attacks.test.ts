// From inside real agents: every way to answer a request that is not theirs to answer, and to get more rights. Each attempt is
// refused and logged, or does not reach the daemon at all because of the agent's sandbox; nothing changes. With a grant, an
// answer is accepted. What cannot be refused is listed in docs/security.md.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RequestRow } from "../../../src/client/index.ts";
import { AttackWorld, KINDS, type Outcomes, toTarget } from "./attack-world.ts";

let world: AttackWorld;
/** Never answered. */
let boss: RequestRow;
let stranger: RequestRow;
beforeAll(async () => {
  world = await AttackWorld.create();
  [boss, stranger] = await Promise.all([world.asking(), world.asking()]);
});
afterAll(() => world.close());

const isId = (value: unknown): boolean => typeof value === "string" && value.startsWith("req_");
/** Of a process that reached nothing. */
const UNREACHED = ["ENOENT", "EACCES", "EPERM", "ECONNREFUSED", "ENETUNREACH", "EAFNOSUPPORT", "ECONNRESET"];
const DENIED = "not_allowed";

describe.concurrent.each(Object.entries(KINDS))("%s", (_name, kind) => {
  test("answers neither its own request, nor its parent's, nor a stranger's, and gets no more rights", async () => {
    const { http } = world;
    const agent = await world.rested(kind, { parent: boss.session_id });
    const { outcomes, sm } = await world.attack(agent, kind, [boss, stranger].map(toTarget));
    const { plain: { asked, ...plain } = {}, hidden: { hidden, ...covered } = {}, ...others } = outcomes;

    // It did run: each attempt is there.
    const short = Object.values({ ...others, covered });
    expect(short.map((one) => Object.keys(one).length)).toEqual([6, 6, 6, 6]);
    expect(Object.keys(plain).length).toBe(43);
    expect(sm.map(({ code }) => code)).not.toContain(0);
    const all = [plain, ...short].flatMap((one: Outcomes) => Object.entries(one));
    const codes = new Set(all.map(([, code]) => code));
    const { row, outcomes: own } = await world.attackOwn(agent, kind);
    if (kind.isBoxed === true) {
      // demian's sandbox has the network by default: the port can be reached, the token cannot.
      const isShut = ([way, code]: [string, unknown]) =>
        UNREACHED.includes(String(code)) || (way.endsWith(" loopback") && code === "unauthorized");
      expect(all.filter((one) => !isShut(one))).toEqual([]);
      expect(asked).toBe("not-asked");
      expect(world.listRefused(agent)).toEqual([]);
    } else {
      expect(isId(asked)).toBe(true);
      expect(hidden).toBe(process.platform === "linux");
      expect([...codes].sort()).toEqual(["escalation", DENIED]);
      for (const { output } of sm) expect(output).toMatch(/may not|no request|escalation/);
      if (kind.isTidy !== true) expect(Object.values(own ?? {})).toEqual([DENIED, DENIED, DENIED]);
      const refused = new Set(world.listRefused(agent));
      for (const id of [agent, boss.session_id, stranger.session_id])
        expect(refused).toContain(`answer requests of session ${id} (${id})`);
      expect(refused).toContain(`open session ${agent} (${agent})`);
      for (const id of [boss.session_id, stranger.session_id])
        expect(refused).toContain(`spawn children of session ${id} (${id})`);
      expect([...refused]).toContain("escalate (approvals)");
    }
    const statuses = await Promise.all([row, boss, stranger].map((one) => world.statusOf(one)));
    expect(statuses).toEqual(["pending", "pending", "pending"]);
    for (const parent of [agent, stranger.session_id]) expect(await http.sessions({ parent })).toEqual([]);
    await http.respond(agent, row.request_id, { decision: "decline" });
  });

  test.skipIf(kind.isBoxed)(
    "with a grant answers below it, and the ledger says so; never a stranger's",
    async () => {
      const { http } = world;
      const agent = await world.rested(kind, { may_answer: true });
      const child = await world.asking({ parent: agent });
      const outcomes = await world.answer(agent, kind, [child, stranger].map(toTarget));
      expect(outcomes[`${child.session_id} http`]).toBe("done");
      expect(outcomes[`${stranger.session_id} http`]).toBe(DENIED);
      expect(await world.statusOf(stranger)).toBe("pending");
      expect(await http.request(child.session_id, child.request_id)).toMatchObject({
        status: "resolved",
        answered_by: { actor: `agent:${agent}`, via: "http", peer_pid: expect.any(Number) },
      });
      await http.stop(agent);
    },
  );
});

test("a person answers the same request", async () => {
  const row = await world.asking();
  const { request } = await world.http.respond(row.session_id, row.request_id, { decision: "decline" });
  expect(request).toMatchObject({ status: "resolved", answered_by: { actor: "person", via: "http" } });
});
