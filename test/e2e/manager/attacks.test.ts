// From inside real agents: every way to answer a request that is not theirs to answer. Each attempt is refused and logged, or
// does not reach the daemon at all because of the agent's sandbox; nothing changes. With a grant, it is accepted.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { HttpClient, type RequestRow, type SpawnBody } from "../../../src/client/index.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { PATIENCE_MS, PATIENT } from "../../support/patience.ts";
import { ROOT } from "../../support/root.ts";
import { furnishRealAgents, type RealAgents } from "../outlive/kinds.ts";

const ATTACKER = join(ROOT, "test/fakes/attacker.mjs");
const REFUSED = "not_allowed";
type Outcomes = Record<string, string>;

let agents: RealAgents;
let daemon: TestDaemon;
let http: HttpClient;
beforeAll(async () => {
  agents = await furnishRealAgents();
  daemon = await startDaemon({ home: agents.home, env: agents.env });
  http = new HttpClient({ socket: daemon.socket });
});
afterAll(async () => {
  await daemon.close();
  await agents.close();
  rmSync(agents.home, { recursive: true, force: true, maxRetries: 5 });
});

/** How each is started so that its commands run, and how its model is made to run one. */
const KINDS: Readonly<Record<string, { body: Partial<SpawnBody>; run(command: string): string }>> = {
  claude: {
    body: { approvals: false, options: { permission_mode: "bypassPermissions" } },
    run: (command) => `#mock:bash ${command}`,
  },
  codex: {
    body: { approvals: false, options: { sandbox: "danger-full-access" } },
    run: (command) => `#mock:exec ${command}`,
  },
  demian: { body: { approvals: false }, run: (command) => `#mock:bash ${command}` },
  opencode: { body: { approvals: false }, run: (command) => `#mock:bash ${command}` },
};

async function spawned(backend: string, prompt: string, more: Partial<SpawnBody> = {}): Promise<string> {
  const cwd = join(agents.home, "project");
  const { session } = await http.spawn({ backend, prompt, cwd, ...KINDS[backend]?.body, ...more });
  return session.session_id;
}

/** A claude that waits for an answer. */
async function asking(more: Partial<SpawnBody> = {}): Promise<RequestRow> {
  const options = { permission_mode: "default" };
  const id = await spawned("claude", "#mock:bash touch precious", { approvals: true, options, ...more });
  return vi.waitFor(async () => {
    const [row] = await http.allRequests({ session_id: id });
    if (row === undefined) throw new Error("no request yet");
    return row;
  }, PATIENT);
}

/** Runs a command inside the agent; what it wrote to its file, if it could. */
async function runIn(session_id: string, backend: string, command: string): Promise<string | undefined> {
  const file = join(agents.home, "project", `output-${backend}-${Math.random().toString(36).slice(2)}`);
  const text = KINDS[backend]?.run(`${command} > ${file} 2>&1`) ?? "";
  const { input } = await http.input(session_id, { text });
  await http.wait(session_id, { message_id: input.message_id, timeoutMs: PATIENCE_MS });
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

const toTarget = ({ session_id, request_id }: RequestRow) => ({ session_id, request_id });
const attack = (plan: object): string =>
  `"${process.execPath}" "${ATTACKER}" '${JSON.stringify({ socket: daemon.socket, ...plan })}'`;
const statusOf = async ({ session_id, request_id }: RequestRow): Promise<string> =>
  (await http.request(session_id, request_id)).status;
const countRefusals = (): number => daemon.log().split('"rights.refused"').length - 1;

describe.each(Object.keys(KINDS))("%s", (backend) => {
  let boss: RequestRow;
  let stranger: RequestRow;
  let agent: string;
  beforeAll(async () => {
    [boss, stranger] = await Promise.all([asking(), asking()]);
    agent = await spawned(backend, "#mock:text ready", { parent: boss.session_id });
    await http.wait(agent, { until: ["idle"], timeoutMs: PATIENCE_MS });
  });

  test("runs commands at all, demian's in their sandbox", async () => {
    const said = await runIn(agent, backend, `sh -c 'echo ran; test -S ${daemon.socket} && echo reachable'`);
    expect(said).toBe(backend === "demian" ? "ran\n" : "ran\nreachable\n");
  });

  test.each([
    ["as it is", ""],
    ["without its id", "env -u BLEMEES_SESSION_ID "],
    ["without its environment", "env -i "],
    ["after losing its parents", "ATTACK"],
  ])("does not answer for its parent or a stranger with HTTP and frames, %s", async (_name, disguise) => {
    const before = countRefusals();
    const command = attack({
      answers: [boss, stranger].map(toTarget),
      forged: [boss.session_id],
      daemon: true,
    });
    const isDetached = disguise === "ATTACK";
    const said = isDetached
      ? await runDetached(agent, backend, command)
      : await runIn(agent, backend, `${disguise}${command}`);
    expect(await Promise.all([boss, stranger].map(statusOf))).toEqual(["pending", "pending"]);
    if (isSandboxed(said)) return;
    const outcomes = Object.values(JSON.parse(said ?? "{}") as Outcomes);
    expect(new Set(outcomes)).toEqual(new Set([REFUSED]));
    expect(outcomes.length).toBe(16);
    expect(countRefusals()).toBeGreaterThan(before);
  });

  test("does not answer with sm, nor start a session with more rights", async () => {
    const sm = join(ROOT, "dist/agent-tools/sm");
    const said = await runIn(
      agent,
      backend,
      `env -u BLEMEES_SESSION_ID ${sm} approve ${stranger.request_id} --yes`,
    );
    if (!isSandboxed(said)) expect(said).toMatch(/may not|no request|escalation/);
    expect(await statusOf(stranger)).toBe("pending");
  });

  test("with a grant answers below it, and the ledger says so; never a stranger's", async () => {
    const granted = await spawned(backend, "#mock:text ready", { may_answer: true });
    await http.wait(granted, { until: ["idle"], timeoutMs: PATIENCE_MS });
    const child = await asking({ parent: granted });
    if (backend === "opencode") {
      // One process serves both sessions and does not say for which it runs a command: neither may answer.
      const said = await runIn(granted, backend, attack({ answers: [toTarget(child)] }));
      expect(Object.values(JSON.parse(said ?? "{}") as Outcomes)).not.toContain("done");
      expect(await statusOf(child)).toBe("pending");
      await http.stop(agent);
    }
    const said = await runIn(granted, backend, attack({ answers: [child, stranger].map(toTarget) }));
    expect(await statusOf(stranger)).toBe("pending");
    if (isSandboxed(said)) return;
    const outcomes = JSON.parse(said ?? "{}") as Outcomes;
    expect(outcomes[`${child.session_id} http`]).toBe("done");
    expect(outcomes[`${stranger.session_id} http`]).toBe(REFUSED);
    expect(await http.request(child.session_id, child.request_id)).toMatchObject({
      status: "resolved",
      answered_by: { actor: `agent:${granted}`, via: "http", peer_pid: expect.any(Number) },
    });
  });

  /** demian's sandbox shows its commands neither the socket nor Node's other files: nothing arrives. */
  function isSandboxed(said: string | undefined): boolean {
    if (backend !== "demian") return false;
    expect(said ?? "").not.toContain('"done"');
    return true;
  }
});

async function runDetached(agent: string, backend: string, command: string): Promise<string> {
  const file = join(agents.home, "project", `detached-${backend}`);
  await runIn(agent, backend, `ATTACK_PARENT=$$ setsid ${command} > ${file} 2>&1 & echo started`);
  if (backend === "demian") return "";
  return vi.waitFor(() => {
    const text = readFileSync(file, "utf8");
    JSON.parse(text);
    return text;
  }, PATIENT);
}

test("a person answers the same request", async () => {
  const row = await asking();
  const { request } = await http.respond(row.session_id, row.request_id, { decision: "decline" });
  expect(request).toMatchObject({ status: "resolved", answered_by: { actor: "person", via: "http" } });
});
