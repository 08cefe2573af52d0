// A managing agent: a real claude runs sm in its Bash tool, spawns two children, sleeps, is woken once for each, and
// reports. The scripted model knows only its messages.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import type { QueueReply, SessionView } from "../../../src/client/index.ts";
import { PATIENT } from "../../support/patience.ts";
import { markOf, untilGone, untilRuns } from "../processes.ts";
import { Machine } from "./machine.ts";

let machine: Machine;
let manager: string;
beforeAll(async () => {
  machine = await Machine.create();
});
afterEach(async () => {
  expect(await machine.sm("rm", "manager", "--tree", "--yes")).toMatchObject({ code: 0 });
  // The whole family, each in its own process.
  await untilGone(`HOME=${machine.home}`, "stream-json");
  machine.anthropic.requests.length = 0;
});
afterAll(() => machine.close());

const SPAWN = [
  "sm spawn claude --name quick --file quick.md",
  "sm spawn codex --name patient --no-approvals -o sandbox=danger-full-access --file patient.md",
].join(" && ");
const REPORT = '#mock:on /"patient" .* has (finished|failed)/ bash sm children | cut -c1-50';
const QUICK = "#mock:text the docs are written";

/** The files contain the scripts of the manager's model (plan.md) and of its children's. */
async function spawnManager(files: Record<string, string>): Promise<void> {
  for (const [file, text] of Object.entries(files)) writeFileSync(join(machine.cwd, file), text);
  const may = ["--no-approvals", "--may-answer", "-o", "permission_mode=bypassPermissions"];
  manager = await machine.spawn("claude", "manager", ...may, "--file", "plan.md");
}

async function wakes(): Promise<QueueReply["recent"]> {
  const { recent } = await machine.http.queue(manager);
  return recent.filter(({ kind }) => kind === "wake");
}

/** Waits until exactly this many wakes of the manager have had their turn, and it sleeps again. */
async function untilWoken(count: number): Promise<void> {
  const look = async () => {
    expect((await wakes()).map(({ state }) => state)).toEqual(Array(count).fill("done"));
  };
  await vi.waitFor(look, PATIENT);
  await machine.sm("wait", "manager");
  await look();
}

/** The session manager's messages in the model's requests, in order. */
function told(): string[] {
  const last = machine.anthropic.requests.findLast(({ messages }) =>
    JSON.stringify(messages).includes("[blemees]"),
  );
  return (last?.messages ?? [])
    .flatMap(({ content }) => (typeof content === "string" ? [{ text: content }] : (content as object[])))
    .flatMap((block) => ("text" in block && typeof block.text === "string" ? [block.text] : []))
    .filter((text) => text.startsWith("[blemees]"));
}

test("a manager spawns two children, sleeps, is woken once for each, and reports", async () => {
  await spawnManager({
    "plan.md": `Have it done by two.\n${REPORT}\n#mock:bash ${SPAWN}\n`,
    "quick.md": QUICK,
    "patient.md": "#mock:exec until test -e go; do sleep 0.05; done; echo the tests pass",
  });
  await untilWoken(1);
  expect(await machine.view("manager")).toMatchObject({ activity_state: "idle", turns: 2 });
  expect(await machine.view("patient")).toMatchObject({ activity_state: "working" });
  writeFileSync(join(machine.cwd, "go"), "");
  await untilWoken(2);

  const { sessions } = await machine.json<{ sessions: { depth: number; session: SessionView }[] }>(
    "children",
    "manager",
  );
  expect(sessions.map(({ depth, session }) => [depth, session.name, session.parent])).toEqual([
    [0, "manager", undefined],
    [1, "quick", manager],
    [1, "patient", manager],
  ]);
  expect(told()).toEqual([
    expect.stringMatching(/"quick" .* has finished its turn[\s\S]*^> the docs are written$/m),
    expect.stringMatching(/"patient" .* has finished its turn[\s\S]*the tests pass/),
  ]);
  const { last_result, turns } = await machine.view("manager");
  expect(turns).toBe(3);
  expect(last_result?.text).toMatch(/tool said: .*manager .*├─ \w+ +quick .*└─ \w+ +patient /s);
});

test("a daemon killed with a wake in the queue delivers it once, with what the crash did to the other child", async () => {
  await spawnManager({
    "plan.md": `Have it done by two.\n${REPORT}\n#mock:bash ${SPAWN}; exec sleep 4323\n`,
    "quick.md": QUICK,
    "patient.md": "#mock:exec exec sleep 4324",
  });
  // The manager still works when its first child has finished, so that the wake is delivered later.
  await untilRuns(markOf(manager), "sleep 4323");
  await machine.sm("wait", "quick");
  await vi.waitFor(async () => {
    expect((await machine.http.queue(manager)).queued).toMatchObject([{ kind: "wake" }]);
  }, PATIENT);
  expect(await machine.view("patient")).toMatchObject({ activity_state: "working" });
  await machine.killDaemon();
  await machine.sm("status");
  await untilWoken(2);
  expect(told()).toEqual([
    expect.stringMatching(
      /"quick" .* has finished its turn[\s\S]*"patient" .* has failed[\s\S]*the daemon stopped during this turn/,
    ),
  ]);
  expect((await machine.view("manager")).last_result?.text).toMatch(/├─ \w+ +quick .*└─ \w+ +patient /s);
});

test("a child that asks wakes its manager, which sees the request and approves it", async () => {
  await spawnManager({
    "plan.md":
      "Have it done.\n#mock:on /`(sm approve req_\\w+)`/ bash sm requests manager --ids | grep -q req_ && $1\n#mock:bash sm spawn claude --name asker --file ask.md\n",
    "ask.md": "#mock:bash mkdir approved",
  });
  await untilWoken(2);
  expect(told()).toEqual([
    expect.stringMatching(/"asker" .* waits for a permission[\s\S]*> Bash: mkdir approved/),
    expect.stringMatching(/"asker" .* has finished its turn/),
  ]);
  expect(existsSync(join(machine.cwd, "approved"))).toBe(true);
  const [row] = await machine.requests("manager", "--all");
  expect(row).toMatchObject({ status: "resolved", answer: { decision: "accept" } });
});

test("a codex can manage too: what it spawns is its child, and wakes it", async () => {
  const may = ["--no-approvals", "-o", "sandbox=danger-full-access"];
  const spawn = "#mock:exec sm spawn claude --name quick --file quick.md";
  writeFileSync(join(machine.cwd, "quick.md"), QUICK);
  manager = await machine.spawn("codex", "manager", ...may, spawn);
  await untilWoken(1);
  expect(await machine.view("quick")).toMatchObject({ parent: manager });
  const heard = machine.responses.requests.filter(({ input }) =>
    JSON.stringify(input.at(-1)).includes("> the docs are written"),
  );
  expect(heard).toHaveLength(1);
});
