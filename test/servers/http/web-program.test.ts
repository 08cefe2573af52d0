// The dashboard and its statistics on the built program: a port opened at run time, real sessions.
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { HttpClient } from "../../../src/client/index.ts";
import { Stats } from "../../../src/protocol/stats.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { ROOT } from "../../support/root.ts";
import { eventually } from "./world.ts";

const daemons: TestDaemon[] = [];
afterEach(async () => {
  for (const daemon of daemons.splice(0)) await daemon.close();
});

async function started(options: Parameters<typeof startDaemon>[0] = {}) {
  const daemon = await startDaemon(options);
  daemons.push(daemon);
  return { daemon, http: new HttpClient({ socket: daemon.socket, retry: false }) };
}

const ticketOf = (url: string): string => new URL(url).hash.replace("#token=", "");
const enter = (port: number, ticket: string): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}/web/enter`, {
    method: "POST",
    headers: { authorization: `Bearer ${ticket}`, "content-type": "application/json" },
  });

test("a daemon without a port opens one for the first link; it leads to the page and the API, and ends with it", async () => {
  const { daemon, http } = await started({ args: ["--log-level", "debug"] });
  expect(existsSync(join(daemon.home, "state/blemees/http-token"))).toBe(false);
  const { url, port } = await http.webLink({ port: 0 });
  expect((await http.webLink({ port: 1 })).port, "the same port").toBe(port);
  const page = await (await fetch(`http://127.0.0.1:${port}/`)).text();
  const [script = ""] = page.match(/\/web\/main-\w+\.js/) ?? [];
  expect((await fetch(`http://127.0.0.1:${port}${script}`)).headers.get("content-type")).toContain(
    "javascript",
  );
  const { token } = (await (await enter(port, ticketOf(url))).json()) as { token: string };
  expect(readFileSync(join(daemon.home, "state/blemees/http-token"), "utf8").trim()).toBe(token);
  const sessions = await fetch(`http://127.0.0.1:${port}/sessions`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(await sessions.json()).toEqual({ sessions: [] });
  expect((await enter(port, ticketOf(url))).status).toBe(401);
  await eventually(() => daemon.log().includes("web.enter_refused")).toBe(true);
  for (const secret of [token, ticketOf(url), "#token"]) expect(daemon.log()).not.toContain(secret);
  expect(readFileSync(`/proc/${daemon.pid}/cmdline`, "utf8")).not.toContain(token);
  await daemon.kill("SIGTERM");
  expect((await daemon.exited).code).toBe(0);
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
});

test("a daemon whose files were replaced at run time still gives a link to clients that could connect before", async () => {
  const home = mkdtempSync(join(tmpdir(), "bl-old-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  cpSync(join(ROOT, "dist"), join(home, "dist"), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(home, "node_modules"));
  writeFileSync(join(home, "package.json"), '{ "type": "module" }');
  const { http } = await started({ program: join(home, "dist/blemeesd.js") });
  await http.health();
  rmSync(join(home, "dist/code"), { recursive: true });
  const { port } = await http.webLink({ port: 0 });
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200);
});

test("a link does not outlive its daemon, the token does", async () => {
  const first = await started();
  const { url, port } = await first.http.webLink({ port: 0 });
  const { url: other } = await first.http.webLink();
  const { token } = (await (await enter(port, ticketOf(url))).json()) as { token: string };
  await first.daemon.kill("SIGKILL");
  const { http } = await started({ home: first.daemon.home });
  const again = await http.webLink({ port: 0 });
  expect((await enter(again.port, ticketOf(other))).status).toBe(401);
  const bearer = { authorization: `Bearer ${token}` };
  expect((await fetch(`http://127.0.0.1:${again.port}/health`, { headers: bearer })).status).toBe(200);
});

test("--web: from the start, and on any free port when the usual one is taken", async () => {
  const usual = createServer().listen(7433, "127.0.0.1");
  await new Promise((resolve) => {
    usual.once("listening", resolve);
    usual.once("error", resolve); // taken already, by whomever
  });
  const { daemon, http } = await started({ args: ["--web"] });
  await eventually(() => daemon.log().includes("http.listen")).toBe(true);
  const { port } = await http.webLink();
  expect(daemon.log()).toContain(`"port":${port}`);
  if (usual.listening) expect(port).not.toBe(7433);
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200);
  usual.close();
});

test("statistics: what runs and waits, what it became, for one session and after a restart", async () => {
  const first = await started();
  const begunMs = Date.now();
  const { session } = await first.http.spawn({ backend: "demo", prompt: "approve" });
  const { session_id } = session;
  await first.http.wait(session_id, { until: ["blocked"] });
  const blocked = Stats.parse(await first.http.stats({ since_ms: begunMs }));
  expect(blocked).toMatchObject({
    turns: [{ session_id, backend: "demo", status: "running" }],
    tools: [{ session_id, tool: "demo_shell", status: "running" }],
    waits: [{ session_id, request_id: expect.stringMatching(/^req_/) }],
    is_cut: false,
  });
  const later = await first.http.stats({ since_ms: Date.now() + 60_000 });
  expect([later.turns.length, later.waits.length], "what runs now is never too old").toEqual([1, 1]);
  const [request] = await first.http.allRequests();
  await first.http.respond(session_id, request?.request_id ?? "", { decision: "decline", message: "no" });
  await first.http.wait(session_id, { until: ["idle"] });
  const other = await first.http.spawn({ backend: "demo", prompt: "use a tool" });
  await first.http.wait(other.session.session_id, { until: ["idle"] });
  const done = await first.http.stats();
  expect(done.turns.map(({ status }) => status)).toEqual(["success", "success"]);
  expect(done.waits).toMatchObject([{ outcome: "decline", ended_at_ms: expect.any(Number) }]);
  const [asked, clock] = done.tools;
  expect([asked?.tool, asked?.status, clock?.tool]).toEqual(["demo_shell", "cancelled", "demo_clock"]);
  const waitedMs = (done.waits[0]?.ended_at_ms ?? 0) - (done.waits[0]?.started_at_ms ?? 0);
  const wholeMs = (asked?.ended_at_ms ?? 0) - (asked?.started_at_ms ?? 0);
  expect(asked?.latency_ms, "without the wait").toBeLessThanOrEqual(Math.max(0, wholeMs - waitedMs) + 1);
  const own = await first.http.stats({ session_id });
  expect(own.turns.map((turn) => turn.session_id)).toEqual([session_id]);
  const cut = await first.http.stats({ limit: 1 });
  expect([cut.turns.map((turn) => turn.session_id), cut.is_cut]).toEqual([[other.session.session_id], true]);
  await expect(first.http.stats({ session_id: "nobody" })).rejects.toMatchObject({ code: "session_unknown" });
  await expect(first.http.stats({ limit: 10_001 })).rejects.toMatchObject({ code: "invalid_message" });
  await first.daemon.kill("SIGTERM");
  const second = await started({ home: first.daemon.home });
  const { since_ms: _, until_ms: __, ...kept } = await second.http.stats();
  expect(kept).toEqual({ turns: done.turns, tools: done.tools, waits: done.waits, is_cut: false });
});
