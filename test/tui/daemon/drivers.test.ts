// The drivers of the terminal UI on a real daemon, with other clients acting at the same time.
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { defined } from "../../../src/base/values.ts";
import { HttpClient } from "../../../src/client/index.ts";
import type { Fleet } from "../../../src/client/view/fleet.ts";
import type { ViewInput } from "../../../src/client/view/types.ts";
import { applyInputs, emptyView } from "../../../src/client/view.ts";
import { createFleetDriver } from "../../../src/tui/daemon/fleet-driver.ts";
import { createSessionDriver } from "../../../src/tui/daemon/session-driver.ts";
import { tempDir } from "../../backends/temp-dir.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { PATIENT } from "../../support/patience.ts";
import { ROOT } from "../../support/root.ts";

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

test("the list answers with the hash of what was shown, and says when another answer came first", async () => {
  const list = fleet();
  const { session_id: id } = (await http.spawn({ backend: "demo", prompt: "approve" })).session;
  const find = () => [...(list.fleet()?.requests.values() ?? [])].find((row) => row.session_id === id);
  await vi.waitFor(() => expect(find()).toBeDefined(), PATIENT);
  const request = find();
  if (request === undefined) throw new Error("nothing waits");
  expect(await list.driver.wholeRequest(request)).toMatchObject({ request_id: request.request_id });
  const changed = { ...request, shown_hash: "0".repeat(64) };
  await expect(list.driver.respond(changed, { decision: "accept" })).rejects.toMatchObject({
    code: "request_changed",
  });
  expect(await list.driver.respond(request, { decision: "decline" })).toBeUndefined();
  expect(await http.request(id, request.request_id)).toMatchObject({ resolution_source: "tui" });
  await expect(list.driver.respond(request, { decision: "accept" })).rejects.toThrow(
    "already answered (decline); the first answer counts",
  );
});

test("the list labels a session, archives it, and takes it back; one with work is not archived", async () => {
  const list = fleet();
  const { session_id: id } = (await http.spawn({ backend: "demo", prompt: "approve" })).session;
  await vi.waitFor(() => expect(list.session(id)?.pending_requests).toBe(1), PATIENT);
  await list.driver.changeLabels(id, { add_labels: ["bug", "ui"] });
  await list.driver.changeLabels(id, { remove_labels: ["ui"] });
  await vi.waitFor(() => expect(list.session(id)?.labels).toEqual(["bug"]), PATIENT);
  await expect(list.driver.archive(id, true)).rejects.toMatchObject({ code: "session_busy" });
  await list.driver.interrupt(id);
  await http.wait(id);
  await list.driver.archive(id, true);
  await vi.waitFor(() => expect(list.session(id)?.archived_at_ms).toBeDefined(), PATIENT);
  await list.driver.archive(id, false);
  await vi.waitFor(() => expect(list.session(id)).not.toHaveProperty("archived_at_ms"), PATIENT);
});

test("a conversation from outside is listed, read, and continued by its first message", async () => {
  const id = "abe6f9ad-902b-4d89-b758-7751d17427c5";
  const cwd = realpathSync(daemon.home);
  const dir = join(daemon.home, "claude/projects", cwd.replace(/[^a-zA-Z0-9]/g, "-"));
  mkdirSync(dir, { recursive: true });
  const recorded = readFileSync(join(ROOT, "test/fixtures/claude-transcripts/tools.jsonl"), "utf8");
  writeFileSync(join(dir, `${id}.jsonl`), recorded.replaceAll("/home/user/project", cwd));
  const { driver: list } = fleet();
  const { outside } = list;
  const [transcript] = (await outside.list()).transcripts;
  if (transcript === undefined) throw new Error("not listed");
  expect(transcript).toMatchObject({ session_id: id, cwd });
  const onContinued = vi.fn();
  const driver = outside.read(transcript, onContinued);
  closers.push(() => driver.close());
  let view = emptyView();
  driver.start((inputs) => {
    view = applyInputs(view, inputs);
  });
  const texts = () => JSON.stringify(view.entries);
  await vi.waitFor(() => expect(texts()).toContain("a message continues it here"), PATIENT);
  expect(texts()).toContain("tool said: AA || BB");
  expect(view).toMatchObject({ link: { state: "live" } });
  expect(await driver.loadEarlier()).toBe(false);
  await expect(driver.interrupt()).rejects.toMatchObject({ code: "not_continued" });
  const find = () => list.search({ text: '"AA || BB"' }, new AbortController().signal);
  const [hit] = await vi.waitFor(async () => {
    const { hits } = await find();
    expect(hits).toMatchObject([{ session_id: id, agent: "claude", outside: true }]);
    return hits;
  }, PATIENT);
  const atPlace = outside.read(transcript, onContinued, hit?.seq);
  closers.push(() => atPlace.close());
  let found = emptyView();
  atPlace.start((inputs) => {
    found = applyInputs(found, inputs);
  });
  await vi.waitFor(() => expect(JSON.stringify(found.entries)).toContain("tool said: AA || BB"), PATIENT);
  expect(atPlace.at_seq).toBe(hit?.seq);
  await driver.send("#say hi");
  expect(onContinued).toHaveBeenCalledWith(id);
  await http.wait(id);
  expect(await http.session(id)).toMatchObject({ cwd, last_result: { subtype: "success" } });
  expect((await outside.list()).transcripts).toEqual([]);
});

test("the mode of a session is changed by a command or a picker, and what cannot be changed says so", async () => {
  const { session_id } = (await http.spawn({ backend: "claude", cwd: daemon.home })).session;
  const driver = createSessionDriver({ http, session_id });
  closers.push(() => driver.close());
  const find = <T extends { name?: string; key?: string }>(all: readonly T[], name: string): T => {
    const found = all.find((one) => one.name === name || one.key === name);
    if (found === undefined) throw new Error(`no ${name}`);
    return found;
  };
  await find(driver.commands, "/mode").run("plan");
  expect((await http.settings(session_id)).permission_mode?.current).toBe("plan");
  const picker = find(driver.pickers, "/mode");
  const options = await picker.load();
  expect(options.filter(({ isCurrent }) => isCurrent)).toMatchObject([{ value: "plan" }]);
  await picker.choose("default");
  expect((await http.settings(session_id)).permission_mode?.current).toBe("default");
  await expect(find(driver.commands, "/mode").run("none")).rejects.toThrow(/none/);
  await expect(find(driver.commands, "/model").run("")).rejects.toMatchObject({ code: "usage" });
  expect(Array.isArray(await driver.agentCommands?.())).toBe(true);
  const demo = (await http.spawn({ backend: "demo" })).session.session_id;
  const other = createSessionDriver({ http, session_id: demo });
  closers.push(() => other.close());
  await expect(find(other.pickers, "/effort").load()).rejects.toMatchObject({ code: "setting_refused" });
});

test("while a turn runs a message is queued, and can be taken back; one sent now goes first", async () => {
  const { session_id, driver, last } = await session("slow");
  await vi.waitFor(() => expect(last("session")?.session.turn).toBeDefined(), PATIENT);
  await driver.send("later");
  await vi.waitFor(() => expect(last("queue")?.queue).toHaveLength(1), PATIENT);
  await driver.cancelQueued(last("queue")?.queue[0]?.message_id ?? "");
  await vi.waitFor(() => expect(last("queue")?.queue).toEqual([]), PATIENT);
  await driver.send("hello now", "now");
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
