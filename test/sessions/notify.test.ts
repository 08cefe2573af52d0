// The notify hook against a real command and a real webhook.
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import type { Log, LogFields } from "../../src/base/log.ts";
import { createMetrics } from "../../src/base/metrics.ts";
import type { ResultEvent } from "../../src/protocol/events.ts";
import { NOTIFY_EVENTS, NotifyPayload } from "../../src/protocol/notify.ts";
import { Notifier, type NotifyParts, type NotifySettings } from "../../src/sessions/notify/notify.ts";
import { gate, rowOf } from "./fakes.ts";
import { requestOf } from "./family-world.ts";

const ROOM = mkdtempSync(join(tmpdir(), "blemees-notify-"));
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});
afterAll(() => rmSync(ROOM, { recursive: true }));

interface Line extends LogFields {
  event: string;
  level: string;
}

function keepingLog(lines: Line[], more: LogFields = {}): Log {
  const add =
    (level: string) =>
    (event: string, fields: LogFields = {}) =>
      void lines.push({ event, level, ...more, ...fields });
  return {
    debug: add("debug"),
    info: add("info"),
    warn: add("warn"),
    error: add("error"),
    with: (fields) => keepingLog(lines, { ...more, ...fields }),
  };
}

function notifier(settings: Partial<NotifySettings>, parts: Partial<NotifyParts> = {}) {
  const lines: Line[] = [];
  const counted: Record<string, string>[] = [];
  const counter = { add: (_by = 1, labels = {}) => void counted.push(labels) };
  const made = new Notifier(
    { allowUrls: [], on: NOTIFY_EVENTS, children: false, remindMs: 0, ...settings },
    {
      log: keepingLog(lines),
      metrics: { ...createMetrics(), counter: () => counter },
      env: { PATH: process.env["PATH"], HOME: ROOM, SOME_API_KEY: "SECRET", LC_ALL: "C" },
      identity: { BLEMEES_SOCKET: "/run/x.sock" },
      userAgent: "blemeesd/test",
      now: () => 5,
      backoffMs: [1, 1],
      ...parts,
    },
  );
  closers.push(() => made.close());
  return { made, lines, counted };
}

interface Call {
  path: string;
  headers: IncomingMessage["headers"];
  body: string;
}

/** A web server that records what it receives; `answer` is called with the number of the call, from 1. */
async function webhook(
  answer: (reply: ServerResponse, number: number) => void = (reply) => void reply.end("ok"),
) {
  const calls: Call[] = [];
  const server: Server = createServer((request, reply) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      calls.push({ path: request.url ?? "", headers: request.headers, body });
      answer(reply, calls.length);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { calls, origin: `http://127.0.0.1:${port}` };
}

/** A program that records its stdin, arguments and environment. */
function program(name: string, script: string): string {
  const path = join(ROOM, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

const done = (more = {}): ResultEvent => ({
  type: "agent.result",
  backend: "fake",
  subtype: "success",
  turn_id: "t",
  ...more,
});
const payloads = (calls: readonly Call[]) => calls.map(({ body }) => NotifyPayload.parse(JSON.parse(body)));
const events = (calls: readonly Call[]) =>
  payloads(calls).map(({ event, session_id }) => `${event} ${session_id}`);

describe("the webhook", () => {
  test("gets session, event and time as JSON", async () => {
    const { calls, origin } = await webhook();
    const { made, lines, counted } = notifier({ url: `${origin}/hook`, allowUrls: [origin] });
    const row = rowOf("s", { name: "tests", cwd: "/w", cost_usd: 0.5 });
    made.onRequest(row, requestOf("s", "req_1"));
    await made.idle();
    row.last_result = { turn_id: "t", subtype: "success", ended_at_ms: 1, text: "x".repeat(9000) };
    made.onTurnEnd(row, done(), false);
    await made.idle();
    made.onTurnEnd(row, done({ turn_id: "u", subtype: "error", error: { message: "no credit" } }), false);
    await made.idle();
    made.onStall(row, 600_000);
    await made.idle();
    const about = { session_id: "s", name: "tests", backend: "fake", cwd: "/w", cost_usd: 0.5, at_ms: 5 };
    const [waits, end, failed, stalled] = payloads(calls);
    expect(waits).toEqual({
      event: "waits",
      ...about,
      state: "waiting_permission",
      request: { request_id: "req_1", request_type: "command", title: "Bash: make all" },
    });
    expect(end).toMatchObject({ event: "done", ...about, state: "idle", result: { subtype: "success" } });
    expect(end?.result?.text?.length).toBeLessThan(1100);
    expect(failed?.result).toEqual({
      subtype: "error",
      turn_id: "u",
      error: { code: "error", message: "no credit" },
    });
    expect(stalled).toMatchObject({ event: "stalled", state: "working", silent_s: 600 });
    expect(calls[0]).toMatchObject({ path: "/hook", headers: { "content-type": "application/json" } });
    expect(lines.map(({ event }) => event)).toEqual(Array(4).fill("notify.sent"));
    expect(counted[0]).toEqual({ event: "waits", via: "url", outcome: "ok" });
  });

  test("is tried three times when it fails, and the failure is logged without the path", async () => {
    const { calls, origin } = await webhook((reply) => void reply.writeHead(503).end());
    const { made, lines, counted } = notifier({ url: `${origin}/SECRET`, allowUrls: [origin] });
    made.onTurnEnd(rowOf("s"), done(), false);
    await made.idle();
    expect(calls).toHaveLength(3);
    expect(lines).toMatchObject([{ event: "notify.failed", level: "warn", tries: 3, message: "status 503" }]);
    expect(JSON.stringify(lines)).not.toContain("SECRET");
    expect(counted).toEqual([{ event: "done", via: "url", outcome: "failed" }]);
  });

  test("that works at the second try is not called again", async () => {
    const { calls, origin } = await webhook(
      (reply, number) => void reply.writeHead(number === 1 ? 429 : 204).end(),
    );
    const { made, lines } = notifier({ url: origin, allowUrls: [origin] });
    made.onTurnEnd(rowOf("s"), done(), false);
    await made.idle();
    expect(calls).toHaveLength(2);
    expect(lines).toMatchObject([{ event: "notify.sent", tries: 2 }]);
  });

  test("that refuses is not retried", async () => {
    const { calls, origin } = await webhook((reply) => void reply.writeHead(404).end());
    const { made } = notifier({ url: origin, allowUrls: [origin] });
    made.onTurnEnd(rowOf("s"), done(), false);
    await made.idle();
    expect(calls).toHaveLength(1);
  });

  test.each([301, 302, 307, 308])("that redirects (%i) is not followed", async (status) => {
    const elsewhere = await webhook();
    const { calls, origin } = await webhook(
      (reply) => void reply.writeHead(status, { location: `${elsewhere.origin}/stolen` }).end(),
    );
    const { made, lines } = notifier({ url: origin, allowUrls: [origin, elsewhere.origin] });
    made.onTurnEnd(rowOf("s"), done(), false);
    await made.idle();
    expect(elsewhere.calls).toEqual([]);
    expect(calls).toHaveLength(1);
    expect(lines[0]).toMatchObject({ message: `status ${status}: redirects are not followed` });
  });

  test("that never ends its answer, or never answers, does not block others", async () => {
    const asked = gate();
    const { origin } = await webhook((reply, number) => {
      if (number === 1) void reply.writeHead(200).write("endless");
      else asked.open();
    });
    const { made, lines } = notifier({ url: origin, allowUrls: [origin] });
    made.onTurnEnd(rowOf("s"), done(), false);
    await made.idle();
    expect(lines).toMatchObject([{ event: "notify.sent" }]);
    made.onTurnEnd(rowOf("s"), done(), false);
    await asked.passed;
    await made.close();
    expect(lines.at(-1)).toMatchObject({ event: "notify.failed", message: "called off" });
  });

  test("with nothing listening is a failure like any other", async () => {
    const { made, lines } = notifier({ url: "http://127.0.0.1:1/", allowUrls: ["http://127.0.0.1:1"] });
    made.onTurnEnd(rowOf("s"), done(), false);
    await made.idle();
    expect(lines).toMatchObject([
      { event: "notify.failed", tries: 3, message: expect.stringMatching(/ECONNREFUSED/) },
    ]);
  });
});

describe("which URLs", () => {
  test("a configured one that is not on the list is refused at once", () => {
    expect(() => notifier({ url: "https://evil.example/" })).toThrow(
      expect.objectContaining({ code: "notify_not_allowed" }),
    );
  });

  test("a session's own is called in addition, also for a child's end; not twice when it is the same", async () => {
    const { calls, origin } = await webhook();
    const { made } = notifier({ url: `${origin}/all`, allowUrls: [origin] });
    made.onTurnEnd(rowOf("c", { parent: "p", notify_url: `${origin}/own` }), done(), false);
    await made.idle();
    expect(calls.map(({ path }) => path)).toEqual(["/own"]);
    made.onTurnEnd(rowOf("r", { notify_url: `${origin}/all` }), done(), false);
    await made.idle();
    expect(calls.map(({ path }) => path)).toEqual(["/own", "/all"]);
  });

  test("one that is no longer allowed is not called, and that is logged without the URL", async () => {
    const { calls, origin } = await webhook();
    const { made, lines } = notifier({ allowUrls: [`${origin}/hooks`] });
    made.onTurnEnd(rowOf("s", { notify_url: `${origin}/SECRET` }), done(), false);
    await made.idle();
    expect(calls).toEqual([]);
    expect(lines).toMatchObject([{ event: "notify.refused", session_id: "s" }]);
    expect(JSON.stringify(lines)).not.toContain("SECRET");
  });
});

describe("which events", () => {
  async function told(settings: Partial<NotifySettings>, act: (made: Notifier) => void): Promise<string[]> {
    const { calls, origin } = await webhook();
    const { made } = notifier({ url: origin, allowUrls: [origin], ...settings });
    act(made);
    await made.idle();
    return events(calls).sort();
  }
  const all = (made: Notifier) => {
    for (const row of [rowOf("root"), rowOf("child", { parent: "root" })]) {
      made.onRequest(row, requestOf(row.session_id, "req_1"));
      made.onTurnEnd(row, done(), false);
      made.onStall(row, 1);
    }
  };

  test("of a child only pending requests: its parent is notified of the rest", async () => {
    expect(await told({}, all)).toEqual(["done root", "stalled root", "waits child", "waits root"]);
  });

  test("notify_children sends all of them", async () => {
    expect(await told({ children: true }, all)).toHaveLength(6);
  });

  test("a child whose parent is not woken counts as a root", async () => {
    const orphan = rowOf("c", { parent: "p", wakes_parent: false });
    expect(await told({}, (made) => made.onTurnEnd(orphan, done(), false))).toEqual(["done c"]);
  });

  test("only what notify_on names", async () => {
    expect(await told({ on: ["waits"] }, all)).toEqual(["waits child", "waits root"]);
    expect(await told({ on: [] }, all)).toEqual([]);
  });

  test("not for a turn that continues or was interrupted", async () => {
    const quiet = (made: Notifier) => {
      made.onTurnEnd(rowOf("s"), done(), true);
      made.onTurnEnd(rowOf("s"), done({ subtype: "interrupted" }), false);
    };
    expect(await told({}, quiet)).toEqual([]);
  });
});

describe("the command", () => {
  test("gets the JSON on stdin, its arguments unchanged, and an environment without secrets", async () => {
    const script = program(
      "hook",
      `cat > "${ROOM}/in"; printf '%s\\n' "$@" > "${ROOM}/args"; env > "${ROOM}/env"`,
    );
    const { made, lines } = notifier({ command: [script, "a b", "$(touch x);"] });
    made.onRequest(rowOf("s"), requestOf("s", "req_1"));
    await made.idle();
    expect(lines).toMatchObject([{ event: "notify.sent", via: "command" }]);
    expect(NotifyPayload.parse(JSON.parse(readFileSync(join(ROOM, "in"), "utf8")))).toMatchObject({
      event: "waits",
    });
    expect(readFileSync(join(ROOM, "args"), "utf8")).toBe("a b\n$(touch x);\n");
    const env = readFileSync(join(ROOM, "env"), "utf8");
    for (const line of [
      "BLEMEES_EVENT=waits",
      "BLEMEES_NOTIFY_SESSION=s",
      "BLEMEES_REQUEST_ID=req_1",
      "BLEMEES_SOCKET=/run/x.sock",
      "LC_ALL=C",
    ]) {
      expect(env).toContain(`${line}\n`);
    }
    expect(env).not.toContain("SECRET");
  });

  test("that fails is logged with its exit; its output only at debug", async () => {
    const { made, lines } = notifier({ command: [program("bad", "echo out; echo oops >&2; exit 3")] });
    made.onTurnEnd(rowOf("s"), done(), false);
    await made.idle();
    const said = lines.filter(({ event }) => event === "notify.output");
    expect(said.map(({ level, text }) => `${level} ${String(text).trim()}`).sort()).toEqual([
      "debug oops",
      "debug out",
    ]);
    expect(lines.at(-1)).toMatchObject({
      event: "notify.failed",
      message: expect.stringMatching(/exit code 3$/),
    });
  });

  test("that does not exist, or does not read, does not affect others", async () => {
    const { made, lines } = notifier({ command: [join(ROOM, "missing")] });
    made.onTurnEnd(rowOf("s"), done(), false);
    await made.idle();
    expect(lines).toMatchObject([{ event: "notify.failed", message: expect.stringMatching(/not found/) }]);
    const deaf = notifier({ command: ["true"] });
    deaf.made.onTurnEnd(rowOf("s"), done(), false);
    await deaf.made.idle();
    expect(deaf.lines).toMatchObject([{ event: "notify.sent" }]);
  });

  test("that does not end is killed, with the processes it started", async () => {
    const script = program("endless", `sleep 600 & echo $! > "${ROOM}/pid"; wait`);
    const { made, lines } = notifier({ command: [script] }, { commandLimitMs: 300 });
    made.onTurnEnd(rowOf("s"), done(), false);
    await made.idle();
    expect(lines.at(-1)).toMatchObject({ event: "notify.failed", message: expect.stringMatching(/SIGTERM/) });
    const pid = readFileSync(join(ROOM, "pid"), "utf8").trim();
    expect(existsSync(`/proc/${pid}/cmdline`) && readFileSync(`/proc/${pid}/cmdline`, "utf8")).toBeFalsy();
  });
});

test("at most four run at once, at most a hundred wait, and what is dropped is reported", async () => {
  const replies: ServerResponse[] = [];
  const four = gate();
  const { calls, origin } = await webhook((reply) => {
    replies.push(reply);
    if (replies.length === 4) four.open();
    if (replies.length > 4) reply.end();
  });
  const { made, lines, counted } = notifier({ url: origin, allowUrls: [origin] });
  for (let n = 0; n < 110; n += 1) made.onTurnEnd(rowOf(`s${n}`), done(), false);
  await four.passed;
  expect(calls).toHaveLength(4);
  expect(lines.filter(({ event }) => event === "notify.failed")).toHaveLength(6);
  expect(counted.filter(({ outcome }) => outcome === "failed")).toHaveLength(6);
  for (const reply of replies.slice(0, 4)) reply.end();
  await made.idle();
  expect(calls).toHaveLength(104);
});
