// From inside agents: every way to do what an agent may not. Each is refused and logged, and nothing changes. The same
// attempts by a person are the control.
import { execFile } from "node:child_process";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { HttpClient, type RequestRow, type SpawnBody } from "../../src/client/index.ts";
import { POLICY_ROUTES } from "../../src/servers/http/routes/policy.ts";
import { BuiltProgram } from "../cli/built-program.ts";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import { PATIENCE_MS, PATIENT } from "../support/patience.ts";
import { ROOT } from "../support/root.ts";

const ATTACKER = join(ROOT, "test/fakes/attacker.mjs");
const REFUSED = "not_allowed";
type Outcomes = Record<string, string>;

let daemon: TestDaemon;
let http: HttpClient;
let outputs = 0;
let sm: BuiltProgram;
beforeAll(async () => {
  daemon = await startDaemon({ env: { BLEMEESD_HTTP: "0" } });
  http = new HttpClient({ socket: daemon.socket });
  sm = new BuiltProgram("sm");
});
afterAll(async () => {
  sm.remove();
  await daemon.close();
});

async function spawned(text: string, body: Partial<SpawnBody> = {}): Promise<string> {
  const { session } = await http.spawn({ backend: "claude", prompt: text, approvals: false, ...body });
  return session.session_id;
}

async function asking(body: Partial<SpawnBody> = {}): Promise<RequestRow> {
  return pendingOf(await spawned("#ask rm -rf precious", { approvals: true, ...body }));
}

function pendingOf(session_id: string): Promise<RequestRow> {
  return vi.waitFor(async () => {
    const [row] = await http.allRequests({ session_id });
    if (row === undefined) throw new Error("no request yet");
    return row;
  }, PATIENT);
}

/** Runs a command inside the agent; its output. */
async function runIn(session_id: string, command: string): Promise<string> {
  outputs += 1;
  const file = join(daemon.home, `output-${outputs}`);
  const { input } = await http.input(session_id, { text: `#tool { ${command}; } > ${file} 2>&1` });
  await http.wait(session_id, { message_id: input.message_id, timeoutMs: PATIENCE_MS });
  return readFileSync(file, "utf8");
}

function quote(plan: object): string {
  return `'${JSON.stringify({ socket: daemon.socket, ...plan })}'`;
}

const node = (plan: object): string => `"${process.execPath}" "${ATTACKER}" ${quote(plan)}`;
const toTarget = ({ session_id, request_id }: RequestRow) => ({ session_id, request_id });
const statusOf = async ({ session_id, request_id }: RequestRow): Promise<string> =>
  (await http.request(session_id, request_id)).status;
const countRefusals = (): number => daemon.log().split('"rights.refused"').length - 1;

function loopback(): { token: string; port: number } {
  const [, port, token = ""] = /"port":(\d+),"token_file":"([^"]+)"/.exec(daemon.log()) ?? [];
  return { token, port: Number(port) };
}

/** How an agent's command can hide where it comes from. */
const DISGUISES: Readonly<Record<string, (command: string, forged: string) => string>> = {
  "as it is": (command) => command,
  "without its id": (command) => `env -u BLEMEES_SESSION_ID ${command}`,
  "without all markers": (command) =>
    `env -u BLEMEES_SESSION_ID -u BLEMEES_RUN_ID -u BLEMEES_DAEMON_ID ${command}`,
  "with an empty environment": (command) => `env -i ${command}`,
  "with a forged id": (command, forged) => `env BLEMEES_SESSION_ID=${forged} ${command}`,
  "at the end of a long line of processes": (command) => nest(300, command),
  "as a process that hides itself": (command) => `env -i ATTACK_HIDDEN=1 ${command}`,
};

/** As the last of many shells, each of which waits for the next one. */
function nest(depth: number, command: string): string {
  const script = join(daemon.home, "nest.sh");
  writeFileSync(
    script,
    `n=$1; shift\nif [ $n = 0 ]; then "$@"; else sh ${script} $((n - 1)) "$@"; fi\nexit $?\n`,
  );
  return `env -i sh ${script} ${depth} ${command}`;
}

describe("requests of others", () => {
  let boss: RequestRow;
  let agent: string;
  let stranger: RequestRow;
  let child: RequestRow;
  beforeAll(async () => {
    [boss, stranger] = await Promise.all([asking(), asking()]);
    agent = await spawned("#say ready", { parent: boss.session_id });
    child = await asking({ parent: agent });
  });

  test.each(Object.entries(DISGUISES))(
    "are not answered by an agent's command %s",
    async (name, disguise) => {
      const before = countRefusals();
      const rows = [boss, stranger, child];
      const plan = {
        answers: rows.map(toTarget),
        forged: [boss.session_id, stranger.session_id],
        ...loopback(),
      };
      const { hidden, ...outcomes } = JSON.parse(
        await runIn(agent, disguise(node(plan), boss.session_id)),
      ) as Outcomes;
      expect(hidden).toBe(name.includes("hides itself") ? process.platform === "linux" : undefined);
      const allowed = Object.entries(outcomes).filter(([, code]) => code !== REFUSED);
      // It may resume a session below it, if it is known. That makes it the owner, but does not let it answer.
      const isNamed = name !== "at the end of a long line of processes";
      expect(allowed).toEqual(isNamed ? [[`${child.session_id} takeover`, "done"]] : []);
      expect(Object.keys(outcomes).length).toBe(27);
      expect(await Promise.all(rows.map(statusOf))).toEqual(["pending", "pending", "pending"]);
      expect(countRefusals()).toBeGreaterThan(before);
    },
  );

  test("are not answered by a command that lost its parents (double fork, setsid)", async () => {
    const file = join(daemon.home, "detached.json");
    const plan = { answers: [boss, stranger].map(toTarget), ...loopback() };
    await runIn(agent, `ATTACK_PARENT=$$ setsid ${node(plan)} > ${file} 2>&1 & echo started`);
    const outcomes = await vi.waitFor(() => JSON.parse(readFileSync(file, "utf8")), PATIENT);
    expect(new Set(Object.values(outcomes as Outcomes))).toEqual(new Set([REFUSED]));
    expect(await Promise.all([boss, stranger, child].map(statusOf))).toEqual([
      "pending",
      "pending",
      "pending",
    ]);
  });

  test("are answered neither by sm nor by sm without its id", async () => {
    for (const prefix of ["", "env -u BLEMEES_SESSION_ID ", "env -i PATH=$PATH "]) {
      const sm = `${prefix}"$BLEMEES_SM" approve ${stranger.request_id} --yes --socket ${daemon.socket}`;
      expect(await runIn(agent, sm)).toMatch(/may not|no request/);
    }
    expect(await statusOf(stranger)).toBe("pending");
  });

  test("are answered by a person with the same program", async () => {
    const row = await asking();
    const plan = { socket: daemon.socket, answers: [toTarget(row)], ...loopback() };
    const { stdout } = await promisify(execFile)(process.execPath, [ATTACKER, JSON.stringify(plan)]);
    expect(new Set(Object.values(JSON.parse(stdout)))).toEqual(new Set(["done"]));
    const { status, answered_by } = await http.request(row.session_id, row.request_id);
    expect({ status, answered_by }).toMatchObject({
      status: "resolved",
      answered_by: { actor: "person", via: "http" },
    });
  });
});

test("an agent does not answer its own request, whatever it runs beside it", async () => {
  const agent = await spawned("#say ready", { approvals: true });
  const file = join(daemon.home, "own");
  const wait = `while [ ! -s ${file}.plan ]; do sleep 0.05; done`;
  const attack = `env -u BLEMEES_SESSION_ID "${process.execPath}" "${ATTACKER}" "$(cat ${file}.plan)" > ${file}.json`;
  await http.input(agent, { text: `#orphan sh -c '${wait}; ${attack}' #ask rm -rf precious` });
  const row = await pendingOf(agent);
  writeFileSync(
    `${file}.tmp`,
    JSON.stringify({ socket: daemon.socket, answers: [toTarget(row)], forged: [agent] }),
  );
  renameSync(`${file}.tmp`, `${file}.plan`);
  const outcomes = await vi.waitFor(() => JSON.parse(readFileSync(`${file}.json`, "utf8")), PATIENT);
  expect(new Set(Object.values(outcomes as Outcomes))).toEqual(new Set([REFUSED]));
  expect(await statusOf(row)).toBe("pending");
});

test("an agent that lost its parents is not another agent by its id, whatever it wants to do", async () => {
  const [agent, other] = await Promise.all([spawned("#say ready"), spawned("#say a secret")]);
  const before = countRefusals();
  const file = join(daemon.home, "detached-others.json");
  const plan = { others: [other], spawns: [{ backend: "claude", parent: other }] };
  const forged = `ATTACK_PARENT=$$ BLEMEES_SESSION_ID=${other}`;
  await runIn(agent, `${forged} setsid ${node(plan)} > ${file} 2>&1 & echo started`);
  const outcomes = await vi.waitFor(() => JSON.parse(readFileSync(file, "utf8")), PATIENT);
  expect(new Set(Object.values(outcomes as Outcomes))).toEqual(new Set([REFUSED]));
  expect(countRefusals()).toBe(before + Object.keys(outcomes as Outcomes).length);
});

test("an agent that leaves before it is examined has not answered", async () => {
  const [agent, stranger] = await Promise.all([spawned("#say ready"), asking()]);
  const { session_id, request_id } = stranger;
  const frames = [
    { type: "blemeesd.hello", protocol: "blemees/2", client: "runaway/1" },
    { type: "blemeesd.respond", session_id, request_id, answer: { decision: "accept" } },
  ];
  const text = frames.map((frame) => `${JSON.stringify(frame)}\n`).join("");
  const file = join(daemon.home, "runaway.mjs");
  const script = `import { connect } from "node:net";
const socket = connect(${JSON.stringify(daemon.socket)});
socket.write(${JSON.stringify(text)}, () => process.kill(process.pid, "SIGKILL"));`;
  writeFileSync(file, script);
  const before = countRefusals();
  const once = `env -i setsid "${process.execPath}" ${file}`;
  await runIn(agent, `for n in 1 2 3 4 5; do ${once}; done; echo over`);
  await vi.waitFor(() => expect(countRefusals()).toBeGreaterThanOrEqual(before + 5), PATIENT);
  expect(await statusOf(stranger)).toBe("pending");
});

test("with a grant an agent answers below it, and the ledger says so", async () => {
  const agent = await spawned("#say ready", { may_answer: true });
  const child = await asking({ parent: agent });
  const own = await asking();
  const plan = { answers: [toTarget(child), toTarget(own)] };
  const outcomes: Outcomes = JSON.parse(await runIn(agent, node(plan)));
  expect(outcomes[`${child.session_id} http`]).toBe("done");
  const listed = await sm.run(daemon.socket, ["requests", "--all", "--socket", daemon.socket]);
  const header = listed.stdout.split("\n").find((line) => line.includes("ANSWERED BY")) ?? "";
  const row = listed.stdout.split("\n").find((line) => line.includes(child.request_id)) ?? "";
  expect(row.slice(header.indexOf("ANSWERED BY"))).toMatch(new RegExp(`^agent ${agent.slice(0, 8)}, http `));
  expect(outcomes[`${own.session_id} http`]).toBe(REFUSED);
  const { answered_by, resolution_source } = await http.request(child.session_id, child.request_id);
  expect(answered_by).toEqual({ actor: `agent:${agent}`, peer_pid: expect.any(Number), via: "http" });
  expect(resolution_source).toBe("http");
});

test("an agent does not touch or read sessions outside its subtree, nor the daemon", async () => {
  const [agent, other] = await Promise.all([spawned("#say ready"), spawned("#say a secret")]);
  await http.wait(other, { until: ["idle"] });
  const before = await http.session(other);
  const outcomes: Outcomes = JSON.parse(await runIn(agent, node({ others: [other], daemon: true })));
  expect(new Set(Object.values(outcomes))).toEqual(new Set([REFUSED]));
  expect(Object.keys(outcomes).length).toBe(12);
  expect(await http.session(other)).toEqual(before);
  const listed = JSON.parse(await runIn(agent, '"$BLEMEES_SM" all --json'));
  const seen = listed.sessions.find((view: { session_id: string }) => view.session_id === other);
  expect(seen).toMatchObject({ activity_state: "idle" });
  expect(JSON.stringify(seen)).not.toContain("secret");
});

test("a person does all of that", async () => {
  const other = await spawned("#say ready");
  const plan = { socket: daemon.socket, others: [other] };
  const { stdout } = await promisify(execFile)(process.execPath, [ATTACKER, JSON.stringify(plan)]);
  const {
    [`${other} stop`]: stop,
    [`${other} rename`]: rename,
    [`${other} delete`]: remove,
  } = JSON.parse(stdout);
  expect({ stop, rename, remove }).toEqual({ stop: "done", rename: "done", remove: "done" });
});

test("an agent that must ask cannot start one that need not; a person decides", async () => {
  const agent = await spawned("#say ready", { approvals: true });
  const file = join(daemon.home, "spawned");
  const spawn = (more: string): string => `"$BLEMEES_SM" spawn claude --no-approvals ${more} "say hi"`;
  const both = `(${spawn("")}; ${spawn("--ask --name wide")}; echo over) > ${file} 2>&1`;
  await http.input(agent, { text: `#orphan ${both}` });
  const row = await pendingOf(agent);
  const said = await vi.waitFor(() => {
    const text = readFileSync(file, "utf8");
    if (!text.includes("over")) throw new Error("still running");
    return text;
  }, PATIENT);
  expect(said).toMatch(/escalation.*approvals|may not start a session with approvals/);
  expect(said).toContain(row.request_id);
  expect(await http.sessions({ parent: agent })).toEqual([]);
  await http.respond(agent, row.request_id, { decision: "accept" });
  await vi.waitFor(async () => {
    expect(await http.sessions({ parent: agent })).toMatchObject([{ name: "wide" }]);
  }, PATIENT);
});

describe("the policy and the audit", () => {
  let agent: string;
  let asked: RequestRow;
  beforeAll(async () => {
    await http.addRule(rule("known"));
    agent = await spawned("#ask rm -rf precious", { approvals: true });
    asked = await pendingOf(agent);
    await http.respond(agent, asked.request_id, { decision: "decline" });
  });
  afterAll(() => http.removeRule("known"));

  // biome-ignore lint/suspicious/noThenProperty: the name in the rules file
  const rule = (id: string) => ({ id, when: { argv: ["rm", "-rf", id] }, then: "allow" });
  /** Every route, with the agent's own request. */
  const listCalls = () =>
    POLICY_ROUTES.map(({ method, path, body }) => ({
      method: method.toUpperCase(),
      path: path
        .replace("{id}", agent)
        .replace("{request_id}", asked.request_id)
        .replace("{rule_id}", "known"),
      ...(body === undefined ? {} : { body: rule("mine") }),
    }));
  const readState = async () => [await http.policy(), readFileSync(auditFile(), "utf8")];
  const auditFile = (): string => join(daemon.home, "state/blemees/audit.ndjson");

  test.each(Object.entries(DISGUISES))("are closed to an agent's command %s", async (_name, disguise) => {
    const [before, refusals] = [await readState(), countRefusals()];
    const said = await runIn(agent, disguise(node({ calls: listCalls() }), agent));
    const { hidden: _hidden, ...outcomes } = JSON.parse(said) as Outcomes;
    expect(Object.keys(outcomes).length).toBe(8);
    expect(new Set(Object.values(outcomes))).toEqual(new Set([REFUSED]));
    expect(countRefusals()).toBe(refusals + 8);
    expect(await readState()).toEqual(before);
  });

  test("are closed to sm policy in an agent", async () => {
    const before = await readState();
    const id = asked.request_id;
    const commands = [
      ...["list", "add allow -- rm -rf precious", `add --from ${id}`, "rm known"],
      ...[`test ${id}`, `explain ${id}`],
    ];
    const lines = commands.map((words) => `"$BLEMEES_SM" policy ${words} 2>&1; echo "exit $?"`);
    const said = await runIn(agent, lines.join("; "));
    expect(said.match(/may not read or change the policy/g)).toHaveLength(commands.length);
    expect(said.match(/exit 1$/gm)).toHaveLength(commands.length);
    expect(await readState()).toEqual(before);
  });

  test("are open to a person with the same program", async () => {
    const plan = { socket: daemon.socket, calls: listCalls() };
    const { stdout } = await promisify(execFile)(process.execPath, [ATTACKER, JSON.stringify(plan)]);
    expect(new Set(Object.values(JSON.parse(stdout)))).toEqual(new Set(["done"]));
    expect((await http.policy()).rules.map((view) => view.rule.id)).toEqual(["mine"]);
    await http.removeRule("mine");
    await http.addRule(rule("known"));
  });

  test("an agent does not take a name that a rule has; the name it gives a child does not count", async () => {
    const child = await asking({ parent: agent });
    const when = { label: "trusted", argv: ["rm", "-rf", "precious"] };
    const named = { ...rule("label"), when };
    await http.addRule(named);
    const rename = (id: string) => ({
      method: "PATCH",
      path: `/sessions/${id}`,
      body: { name: "trusted" },
    });
    const plan = { calls: [agent, child.session_id].map(rename) };
    const outcomes: Outcomes = JSON.parse(await runIn(agent, node(plan)));
    expect(Object.values(outcomes)).toEqual([REFUSED, "done"]);
    expect((await http.session(agent)).name).toBeUndefined();
    const explain = async ({ session_id, request_id }: RequestRow) =>
      (await http.explainRequest(session_id, request_id)).rules.find(({ rule_id }) => rule_id === "label");
    expect(await explain(child)).toMatchObject({ matches: false, reason: expect.stringMatching(/label/) });
    await http.rename(agent, "trusted");
    expect(await explain(asked)).toMatchObject({ matches: true });
    await http.removeRule("label");
  });
});
