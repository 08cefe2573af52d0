// The drivers of the terminal UI on a real daemon, with other clients acting at the same time.
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { defined } from "../../../src/base/values.ts";
import { HttpClient } from "../../../src/client/index.ts";
import type { Fleet } from "../../../src/client/view/fleet.ts";
import type { ViewInput } from "../../../src/client/view/types.ts";
import { createFleetDriver } from "../../../src/tui/daemon/fleet-driver.ts";
import { createSessionDriver } from "../../../src/tui/daemon/session-driver.ts";
import { tempDir } from "../../backends/temp-dir.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { PATIENT } from "../../support/patience.ts";

let daemon: TestDaemon;
let http: HttpClient;
const closers: (() => unknown)[] = [];
beforeAll(async () => {
  daemon = await startDaemon();
  http = new HttpClient({ socket: daemon.socket });
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});
afterAll(() => daemon.close());

async function session(prompt: string, cwd?: string) {
  const order = { backend: "demo", prompt, options: { pace_ms: 0 }, ...defined({ cwd }) };
  const { session_id } = (await http.spawn(order)).session;
  const driver = createSessionDriver({ http, session_id });
  closers.push(() => driver.close());
  const inputs: ViewInput[] = [];
  driver.start((batch) => inputs.push(...batch));
  const last = <K extends ViewInput["kind"]>(kind: K) =>
    inputs.findLast((input): input is Extract<ViewInput, { kind: K }> => input.kind === kind);
  const said = () => inputs.flatMap((input) => (input.kind === "local" ? [input.text] : []));
  const run = (line: string): Promise<void> => {
    const [name = "", ...rest] = line.split(" ");
    const command = driver.commands.find((one) => one.name === name);
    if (command === undefined) throw new Error(`no ${name}`);
    return command.run(rest.join(" "));
  };
  return { session_id, driver, inputs, last, said, run };
}

function fleet() {
  const driver = createFleetDriver(http);
  closers.push(() => driver.close());
  let newest: Fleet | undefined;
  driver.start((told) => {
    newest = told;
  });
  return { driver, session: (id: string) => newest?.sessions.get(id), fleet: () => newest };
}

test("an answer carries the hash of what was shown and the source tui", async () => {
  const { session_id, driver, last } = await session("approve");
  await vi.waitFor(() => expect(last("requests")?.requests).toHaveLength(1), PATIENT);
  const [request] = last("requests")?.requests ?? [];
  if (request === undefined) throw new Error("nothing waits");
  await expect(
    driver.respond({ ...request, shown_hash: "0".repeat(64) }, { decision: "accept" }),
  ).rejects.toMatchObject({ code: "request_changed" });
  await driver.respond(request, { decision: "decline", message: "not now" });
  await vi.waitFor(() => expect(last("requests")?.requests).toEqual([]), PATIENT);
  expect(await http.request(session_id, request.request_id)).toMatchObject({
    resolution_source: "tui",
    answer: { decision: "decline", message: "not now" },
  });
});

test("a second answer to the same request is reported as too late", async () => {
  const { driver, last, said } = await session("approve");
  await vi.waitFor(() => expect(last("requests")?.requests).toHaveLength(1), PATIENT);
  const [request] = last("requests")?.requests ?? [];
  if (request === undefined) throw new Error("nothing waits");
  await http.respond(request.session_id, request.request_id, { decision: "decline" });
  await driver.respond(request, { decision: "accept" });
  const late = ["already answered (decline); the first answer counts"];
  await vi.waitFor(() => expect(said()).toEqual(late), PATIENT);
});

test("while a turn runs a message is queued, and can be taken back; one sent now goes first", async () => {
  const { session_id, driver, last } = await session("slow");
  await vi.waitFor(() => expect(last("session")?.session.turn).toBeDefined(), PATIENT);
  await driver.send("later");
  await vi.waitFor(() => expect(last("queue")?.queue).toHaveLength(1), PATIENT);
  await driver.cancelQueued(last("queue")?.queue[0]?.message_id ?? "");
  await vi.waitFor(() => expect(last("queue")?.queue).toEqual([]), PATIENT);
  await driver.send("hello now", { isNow: true });
  await http.wait(session_id);
  await vi.waitFor(() => expect(last("session")?.session.last_result?.text).toContain("hello now"), PATIENT);
});

test("commands do what sm does: name, queue, interrupt, stop, and say so", async () => {
  const { session_id, driver, last, said, run } = await session("slow");
  await vi.waitFor(() => expect(last("session")?.session.turn).toBeDefined(), PATIENT);
  await run("/name my fixer");
  await vi.waitFor(() => expect(last("session")?.session.name).toBe("my fixer"), PATIENT);
  await driver.send("one\u001b[31m");
  await driver.send("two");
  await run("/queue");
  await vi.waitFor(() => expect(said().at(-1)).toBe("1. one\\x1b[31m\n2. two"), PATIENT);
  await run("/queue cancel 1");
  await vi.waitFor(() => expect(last("queue")?.queue).toHaveLength(1), PATIENT);
  await expect(run("/queue cancel 7")).rejects.toMatchObject({ code: "usage" });
  await run("/queue clear");
  await vi.waitFor(() => expect(said().at(-1)).toBe("removed from the queue: 1"), PATIENT);
  await run("/interrupt");
  await http.wait(session_id);
  await run("/stop");
  expect((await http.session(session_id)).running).toBe(false);
  await run("/info");
  await vi.waitFor(() => expect(said().at(-1)).toContain(session_id), PATIENT);
});

test("the list keeps in step with what others do: spawn, name, ask, answer, stop, remove", async () => {
  const list = fleet();
  const { session_id: id } = (await http.spawn({ backend: "demo", prompt: "approve", name: "first" }))
    .session;
  await vi.waitFor(
    () => expect(list.session(id)).toMatchObject({ name: "first", pending_requests: 1 }),
    PATIENT,
  );
  await vi.waitFor(
    () =>
      expect([...(list.fleet()?.requests.values() ?? [])].some((row) => row.session_id === id)).toBe(true),
    PATIENT,
  );
  await http.rename(id, "second");
  await vi.waitFor(() => expect(list.session(id)?.name).toBe("second"), PATIENT);
  const [request] = await http.allRequests({ session_id: id });
  await http.respond(id, request?.request_id ?? "", { decision: "accept" });
  await vi.waitFor(() => expect(list.session(id)?.last_result?.text).toContain("allowed"), PATIENT);
  expect([...(list.fleet()?.requests.values() ?? [])].some((row) => row.session_id === id)).toBe(false);
  await http.stop(id);
  await vi.waitFor(() => expect(list.session(id)?.activity_state).toBe("stopped"), PATIENT);
  await http.remove(id);
  await vi.waitFor(() => expect(list.session(id)).toBeUndefined(), PATIENT);
});

test("what is done in the list is done: spawn, rename, interrupt, stop, remove", async () => {
  const { driver, session: seen } = fleet();
  expect(await driver.backends()).toEqual(["claude", "demo"]);
  const id = await driver.spawn({ backend: "demo", prompt: "slow", cwd: daemon.home, name: "mine" });
  await vi.waitFor(() => expect(seen(id)?.turn).toBeDefined(), PATIENT);
  expect(seen(id)).toMatchObject({ name: "mine", cwd: daemon.home });
  await driver.rename(id, "");
  await vi.waitFor(() => expect(seen(id)?.name).toBeUndefined(), PATIENT);
  await driver.interrupt(id);
  await vi.waitFor(() => expect(seen(id)?.last_result?.subtype).toBe("interrupted"), PATIENT);
  await driver.stop(id);
  await vi.waitFor(() => expect(seen(id)?.running).toBe(false), PATIENT);
  await driver.remove(id);
  await vi.waitFor(() => expect(seen(id)).toBeUndefined(), PATIENT);
  await expect(driver.spawn({ backend: "nobody", prompt: "x", cwd: "/" })).rejects.toMatchObject({
    code: "unknown_backend",
  });
});

test("the list and the session that is opened from it share one stream of changes, and close all", async () => {
  const { driver, session: seen } = fleet();
  const id = await driver.spawn({ backend: "demo", prompt: "", cwd: daemon.home });
  await vi.waitFor(() => expect(seen(id)).toBeDefined(), PATIENT);
  const opened = driver.open(id);
  closers.push(() => opened.close());
  const inputs: ViewInput[] = [];
  opened.start((batch) => inputs.push(...batch));
  const live = () => inputs.findLast((input) => input.kind === "link");
  await vi.waitFor(() => expect(live()).toMatchObject({ state: "live" }), PATIENT);
  // Those of the tests before may not be seen to have ended yet.
  await vi.waitFor(async () => expect(await http.status()).toMatchObject({ http: { streams: 2 } }), PATIENT);
  await opened.send("hello");
  await vi.waitFor(() => expect(seen(id)?.turns).toBe(1), PATIENT);
  await opened.close();
  await driver.close();
  await vi.waitFor(async () => expect(await http.status()).toMatchObject({ http: { streams: 0 } }), PATIENT);
});

test("/rule shows what a rule of the last answer would decide and saves it; the next such request is answered by it", async () => {
  const cwd = tempDir("rule");
  const { session_id, driver, last, said, run } = await session("approve", cwd);
  await vi.waitFor(() => expect(last("requests")?.requests).toHaveLength(1), PATIENT);
  const [request] = last("requests")?.requests ?? [];
  if (request === undefined) throw new Error("nothing waits");
  await run("/rule");
  const hears = (text: string) => vi.waitFor(() => expect(said().at(-1)).toContain(text), PATIENT);
  await hears("no request of this session was answered yet");
  await driver.respond(request, { decision: "accept" });
  await run("/rule");
  await hears(`1. allow: the command rm -rf build, the tool demo_shell, run in ${cwd}`);
  await hears(`${request.request_id}  demo_shell: rm -rf build  (accept)`);
  await run("/rule save 1");
  const [rule] = (await http.policy()).rules;
  expect(rule).toMatchObject({ uses: 0, rule: { when: { argv: ["rm", "-rf", "build"] } } });
  await driver.send("approve");
  await vi.waitFor(async () => {
    const rows = await http.allRequests({ session_id, include_settled: true });
    expect(rows.find(({ rule_id }) => rule_id === rule?.rule.id)).toMatchObject({
      status: "resolved",
      resolution_source: "policy",
      answered_by: { actor: "daemon", via: "policy" },
      dispatched_at_ms: expect.any(Number),
    });
  }, PATIENT);
  expect((await http.policy()).rules[0]?.uses).toBe(1);
  await expect(run("/rule save 9")).rejects.toMatchObject({ code: "usage" });
});
