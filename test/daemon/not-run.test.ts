// A call that was never allowed is never shown as run, with the real daemon: each way to lose an approval.
import { execFileSync } from "node:child_process";
import { afterEach, expect, test, vi } from "vitest";
import { HttpClient } from "../../src/client/index.ts";
import type { Entry } from "../../src/client/view/types.ts";
import { applyInputs, emptyView } from "../../src/client/view.ts";
import { type DaemonOptions, startDaemon, type TestDaemon } from "../support/daemon.ts";
import { PATIENT } from "../support/patience.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Asked {
  daemon: TestDaemon;
  http: HttpClient;
  id: string;
}

async function start(options: DaemonOptions = {}): Promise<TestDaemon> {
  const daemon = await startDaemon(options);
  closers.push(() => daemon.close());
  return daemon;
}

/** A demo agent that waits for permission to run `rm -rf build`. */
async function ask(options: DaemonOptions = {}): Promise<Asked> {
  const daemon = await start(options);
  const http = new HttpClient({ socket: daemon.socket });
  const { session } = await http.spawn({ backend: "demo", prompt: "approve", options: { pace_ms: 0 } });
  const id = session.session_id;
  await vi.waitFor(async () => expect((await http.session(id)).pending_requests).toBe(1), PATIENT);
  return { daemon, http, id };
}

/** How the call ended, as `sm tail` and as a screen show it. */
async function endOf(http: HttpClient, id: string) {
  // The row has the result before it is stored; the page of events has only what is stored.
  const events = await vi.waitFor(async () => {
    const page = await http.events(id, { limit: 1000 });
    expect(page.events.map(({ frame }) => (frame as { type?: string }).type)).toContain("agent.result");
    return page.events;
  }, PATIENT);
  const actions = await http.actions(id);
  const inputs = events.map(({ seq, frame, timestamp_ms }) => ({
    kind: "frame" as const,
    seq,
    frame: frame as { type: string },
    at_ms: timestamp_ms ?? 0,
  }));
  const tool = applyInputs(emptyView(), inputs).entries.find(
    (entry): entry is Extract<Entry, { kind: "tool" }> => entry.kind === "tool",
  );
  return {
    action: actions.find(({ action_kind }) => action_kind === "command"),
    texts: actions.map(({ summary_text }) => summary_text),
    tool,
  };
}

const asked = (why: string): string => `asked to run \`rm -rf build\` (not run: ${why})`;

test("declined", async () => {
  const { http, id } = await ask();
  const [request] = await http.allRequests({ session_id: id });
  await http.respond(id, request?.request_id ?? "", { decision: "decline" });
  await http.wait(id);
  const { action, texts, tool } = await endOf(http, id);
  expect(action).toMatchObject({ not_run: "declined", summary_text: asked("declined") });
  expect(texts).toContain("asked: demo_shell: rm -rf build (declined)");
  expect(tool).toMatchObject({ status: "not_run", not_run: "declined" });
});

test("the turn interrupted", async () => {
  const { http, id } = await ask();
  await http.interrupt(id);
  const { action, tool } = await endOf(http, id);
  expect(action).toMatchObject({ not_run: "interrupted", summary_text: asked("interrupted") });
  expect(tool).toMatchObject({ status: "not_run", not_run: "interrupted" });
});

test("the agent killed", async () => {
  const { daemon, http, id } = await ask();
  const [agent] = execFileSync("pgrep", ["-P", String(daemon.pid)], { encoding: "utf8" })
    .trim()
    .split("\n");
  process.kill(Number(agent), "SIGKILL");
  const { action, tool } = await endOf(http, id);
  expect(action).toMatchObject({ not_run: "agent_died", summary_text: asked("the agent died") });
  expect(tool).toMatchObject({ status: "not_run", not_run: "agent_died" });
});

test("not answered in time", async () => {
  const { http, id } = await ask({ env: { BLEMEESD_REQUEST_TIMEOUT: "1" } });
  const { action, texts, tool } = await endOf(http, id);
  expect(action).toMatchObject({ not_run: "expired", summary_text: asked("no answer in time") });
  expect(texts).toContain("asked: demo_shell: rm -rf build (no answer)");
  expect(tool).toMatchObject({ status: "not_run", not_run: "expired" });
});

test.each(["SIGKILL", "SIGTERM"] as const)("the daemon ended by %s", async (signal) => {
  // On pipes: the agent ends with its daemon.
  const env = { BLEMEESD_AGENT_STDIO: "pipes" };
  const { daemon, http, id } = await ask({ env });
  // Stored in the database, so that the next daemon has something to end.
  await http.actions(id);
  await daemon.kill(signal);
  const next = await start({ home: daemon.home, env });
  const { action, tool } = await endOf(new HttpClient({ socket: next.socket }), id);
  expect(action?.summary_text).toMatch(/^asked to run `rm -rf build` \(not run: /);
  expect(tool).toMatchObject({ status: "not_run" });
});

test("approved, the waiting time counts for neither the command nor the turn", async () => {
  const { http, id } = await ask();
  const [request] = await http.allRequests({ session_id: id });
  const waitedSince = request?.requested_at_ms ?? 0;
  await vi.waitFor(() => expect(Date.now() - waitedSince).toBeGreaterThan(1_500), PATIENT);
  await http.respond(id, request?.request_id ?? "", { decision: "accept" });
  await http.wait(id);
  const [turn] = (await http.actions(id)).filter(({ action_kind }) => action_kind === "turn");
  expect(turn?.waited_ms).toBeGreaterThanOrEqual(1_500);
  const { action, tool } = await endOf(http, id);
  expect(action).toMatchObject({ status: "success", summary_text: "ran `rm -rf build`" });
  // Not after the request: the call itself was seen a moment before it.
  expect(action?.started_at_ms).toBeGreaterThanOrEqual((turn?.started_at_ms ?? Number.NaN) + 1_500);
  expect(tool?.waited_ms).toBeGreaterThanOrEqual(1_500);
});
