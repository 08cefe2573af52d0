// HTTP on the built program: real sessions, the loopback port, a kill, and no descriptors left.
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { matchPath } from "../../../src/servers/http/find-route.ts";
import { ROUTES } from "../../../src/servers/http/routes/index.ts";
import { envOf, launch, newHome, PROGRAM, removeHomes, run } from "../../daemon/program.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { SseReader } from "./sse-reader.ts";
import { eventually } from "./world.ts";

let daemon: TestDaemon | undefined;
afterEach(async () => {
  await daemon?.close();
  daemon = undefined;
});

// biome-ignore lint/suspicious/noExplicitAny: replies, after their schema was checked
type Body = any;

function send(place: object, method: string, path: string, body?: object, headers = {}) {
  return new Promise<IncomingMessage>((resolve, reject) => {
    const type = { "content-type": "application/json" };
    const outgoing = request({ ...place, method, path, agent: false, headers: { ...type, ...headers } });
    outgoing.once("response", resolve);
    outgoing.once("error", reject);
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function ask(place: object, method: string, path: string, body?: object, headers = {}): Promise<Body> {
  const response = await send(place, method, path, body, headers);
  let text = "";
  for await (const chunk of response) text += String(chunk);
  const status = response.statusCode ?? 0;
  const bare = path.split("?")[0] ?? "";
  const row = ROUTES.find(
    (one) => one.method.toUpperCase() === method && matchPath(one.path, bare) !== undefined,
  );
  const reply = JSON.parse(text);
  if (status < 400) row?.replies[status]?.schema?.parse(reply);
  return { status, ...reply };
}

test("a session is spawned, blocks, is answered and continues; its replies match their schemas", async () => {
  daemon = await startDaemon();
  const place = { socketPath: daemon.socket };
  const { status, session } = await ask(place, "POST", "/sessions", { backend: "demo", prompt: "approve" });
  expect(status).toBe(201);
  const at = (rest: string) => `/sessions/${session.session_id}${rest}`;
  expect((await ask(place, "GET", at("/wait?until=blocked"))).reason).toBe("blocked");
  const refused = await ask(place, "POST", at("/input"), { text: "more" });
  expect([refused.status, refused.error.code]).toEqual([409, "pending_structured_request"]);
  expect(refused.error.data).toMatchObject({
    request_id: expect.any(String),
    request_type: "command",
    requested_at: expect.stringMatching(/^\d{4}-.*Z$/),
  });
  const { requests } = await ask(place, "GET", at("/codex-pending-requests"));
  const respond = at(`/codex-requests/${requests[0].request_id}/respond`);
  expect(await ask(place, "POST", respond, { decision: "accept" })).toMatchObject({ repeated: false });
  expect(await ask(place, "POST", respond, { decision: "decline" })).toMatchObject({
    repeated: true,
    request: { answer: { decision: "accept" } },
  });
  expect((await ask(place, "GET", at("/wait?until=idle"))).reason).toBe("idle");
  for (const path of ["", "/queue", "/family", "/actions", "/requests?include_settled=true", "/events"])
    expect((await ask(place, "GET", at(path))).status, path).toBe(200);
  for (const path of ["/sessions", "/requests", "/status", "/openapi.json"])
    expect((await ask(place, "GET", path)).status, path).toBe(200);
  expect((await ask(place, "DELETE", at(""))).deleted).toEqual([session.session_id]);
  expect((await ask(place, "GET", at(""))).error.code).toBe("session_unknown");
});

test("a stream that was cut by kill -9 continues after the last event: each once, in order", async () => {
  const first = await startDaemon();
  const place = { socketPath: first.socket };
  const { session } = await ask(place, "POST", "/sessions", { backend: "demo", prompt: "hello" });
  const path = `/sessions/${session.session_id}/events?since_seq=0`;
  const sse = { accept: "text/event-stream" };
  const reader = new SseReader(await send(place, "GET", path, undefined, sse));
  await reader.until(({ events }) => events.some(({ event }) => event === "agent.result"));
  await first.kill("SIGKILL");
  await reader.ended();
  daemon = await startDaemon({ home: first.home });
  const last = String(reader.ids().at(-1));
  const input = `/sessions/${session.session_id}/input`;
  expect((await ask(place, "POST", input, { text: "again" })).status).toBe(201);
  const again = new SseReader(await send(place, "GET", path, undefined, { ...sse, "last-event-id": last }));
  await again.until(({ events }) => events.some(({ event }) => event === "agent.result"));
  const ids = [...reader.ids(), ...again.ids()];
  expect(ids).toEqual(ids.map((_, n) => n + 1));
  again.close();
});

test("--http: a port on loopback, a token that only its file has, and the same sessions", async () => {
  daemon = await startDaemon({ args: ["--http", "0"] });
  const { home, log } = daemon;
  await eventually(() => log().includes("http.listen")).toBe(true);
  const port = Number(/"port":(\d+)/.exec(log())?.[1]);
  const file = join(home, "state/blemees/http-token");
  expect(log()).toContain(JSON.stringify(file));
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const token = readFileSync(file, "utf8").trim();
  const place = { host: "127.0.0.1", port };
  expect((await ask(place, "GET", "/sessions")).status).toBe(401);
  const bearer = { authorization: `Bearer ${token}` };
  const { session } = await ask(place, "POST", "/sessions", { backend: "demo" }, bearer);
  const own = await ask({ socketPath: daemon.socket }, "GET", `/sessions/${session.session_id}`);
  expect(own.session_id).toBe(session.session_id);
  expect(log()).not.toContain(token);
  expect(readFileSync(`/proc/${daemon.pid}/cmdline`, "utf8")).not.toContain(token);
});

test("a port in use fails the start with a message, and leaves no socket", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => other.once("listening", resolve));
  const { port } = other.address() as { port: number };
  const home = newHome();
  const { status, stderr } = run(["--http", String(port)], home);
  expect([status, stderr]).toEqual([
    1,
    expect.stringContaining(`port ${port} on 127.0.0.1 is in use; choose another one (blemeesd --http N`),
  ]);
  expect(existsSync(join(home, "run/blemeesd.sock"))).toBe(false);
  removeHomes();
  other.close();
});

test.skipIf(process.platform !== "linux")(
  "200 connections to a port of a daemon with 64 descriptors: it refuses, survives, and recovers",
  async () => {
    const home = mkdtempSync(join(tmpdir(), "blemees-fds-"));
    const socket = join(home, "s.sock");
    let log = "";
    const command = `ulimit -n 64; exec "${process.execPath}" "${PROGRAM}" --socket "${socket}" --http 0`;
    const child = launch("sh", ["-c", command], envOf(home), (text) => {
      log += text;
    });
    const exited = new Promise((resolve) => child.once("exit", resolve));
    try {
      await eventually(() => log.includes("daemon.backends")).toBe(true);
      const port = Number(/"port":(\d+)/.exec(log)?.[1]);
      const token = /"token_file":"([^"]+)"/.exec(log)?.[1] ?? "";
      const bearer = { authorization: `Bearer ${readFileSync(token, "utf8").trim()}` };
      const place = { host: "127.0.0.1", port };
      // The store opens its files before the connections arrive.
      expect((await ask(place, "GET", "/sessions", undefined, bearer)).status).toBe(200);
      const crowd = Array.from({ length: 200 }, () => connect(port, "127.0.0.1"));
      await Promise.all(crowd.map(settled));
      for (const one of crowd) one.destroy();
      const health = () =>
        ask(place, "GET", "/health", undefined, bearer).then(
          ({ status }) => status,
          () => 0,
        );
      await eventually(health).toBe(200);
      expect(child.exitCode).toBeNull();
    } finally {
      child.kill("SIGTERM");
      await exited;
      rmSync(home, { recursive: true, force: true });
    }
  },
);

function settled(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once("connect", () => resolve());
    socket.once("error", () => resolve());
  });
}
