import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { HttpClient, type HttpOptions } from "../../src/client/index.ts";
import { SpawnReply } from "../../src/protocol/wire/http.ts";
import { pending } from "./request-rows.ts";
import { type Answerer, anError, type Received, ScriptedHttp } from "./scripted-http.ts";
import { aView, aWait } from "./session-views.ts";

const QUICK = { initialMs: 1, maxMs: 5, attempts: 200 };
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function world(
  answer: Answerer,
  options: HttpOptions = {},
): Promise<{ http: HttpClient; server: ScriptedHttp }> {
  const server = await ScriptedHttp.start(answer);
  closers.push(() => server.close());
  return { http: new HttpClient({ socket: server.path, retry: QUICK, ...options }), server };
}

const SPAWNED = SpawnReply.parse({ session: aView(), message_id: "m1", repeated: false });
const keysOf = (received: readonly Received[]) => received.map(({ body }) => body["idempotency_key"]);

describe("errors", () => {
  test("an error of the server has its code, message and data", async () => {
    const { http } = await world(() => anError("queue_full", "too much waits", { queued: 9 }));
    await expect(http.input("s1", { text: "a" })).rejects.toMatchObject({
      code: "queue_full",
      message: "too much waits",
      data: { queued: 9 },
    });
  });

  test("a missing daemon is reported at once, with what to do", async () => {
    const { http, server } = await world(() => ({}), { retry: { initialMs: 60_000, maxMs: 60_000 } });
    await server.kill();
    await expect(http.sessions()).rejects.toMatchObject({
      code: "no_daemon",
      message: expect.stringMatching(/start one with `blemeesd`/),
    });
  });

  test("a client that expects a daemon waits for it", async () => {
    const { http, server } = await world(() => ({ sessions: [] }), {
      expectsDaemon: true,
      onRetry: () => void server.listen(),
    });
    await server.kill();
    expect(await http.sessions()).toEqual([]);
  });

  test.each([
    ["a server that does not speak HTTP is reported as such", "invalid_message", "not_http"],
    ["a daemon that shuts down before it reads the request is reported as such", "daemon_shutdown"],
  ])("%s", async (_title, sent, reported = sent) => {
    const directory = mkdtempSync(join(tmpdir(), "bl-http-"));
    const frame = `{"type":"blemeesd.error","code":"${sent}","message":"no"}\n`;
    const server = createServer((socket) => socket.resume().end(frame));
    await new Promise<void>((resolve) => server.listen(join(directory, "d.sock"), resolve));
    closers.push(() => new Promise((resolve) => server.close(resolve)));
    closers.push(() => rmSync(directory, { recursive: true }));
    const http = new HttpClient({ socket: join(directory, "d.sock"), retry: false });
    await expect(http.health()).rejects.toMatchObject({ code: reported });
  });

  test("an answer that is not JSON, and an error without a code, are bad replies", async () => {
    const { http } = await world(({ path }, response) => {
      response.writeHead(path === "/health" ? 200 : 500).end("<html>");
      return undefined;
    });
    await expect(http.health()).rejects.toMatchObject({ code: "bad_reply" });
    await expect(http.sessions()).rejects.toMatchObject({
      code: "bad_reply",
      message: expect.stringMatching(/GET \/sessions has status 500/),
    });
  });
});

describe("outgoing requests", () => {
  test("the session of the calling agent, JSON, and a host that the daemon accepts", async () => {
    const { http, server } = await world(() => SPAWNED, { session_id: "parent-1" });
    await http.spawn({ backend: "demo", prompt: "hi" });
    expect(server.received[0]).toMatchObject({
      method: "POST",
      path: "/sessions",
      headers: { host: "localhost", "content-type": "application/json", "x-blemees-session": "parent-1" },
      body: { backend: "demo", prompt: "hi", idempotency_key: expect.any(String) },
    });
  });

  test("filters become a query, and ids are escaped for a path", async () => {
    const { http, server } = await world(({ path }) => (path === "/sessions" ? { sessions: [] } : aView()));
    await http.sessions({ backend: "demo", state: ["idle", "stopped"], live: true, limit: 5 });
    await http.session("../x y");
    expect(server.received[0]?.query).toEqual({
      backend: "demo",
      state: "idle,stopped",
      live: "true",
      limit: "5",
    });
    expect(server.received[1]?.path).toBe("/sessions/..%2Fx%20y");
  });

  test("all pages of requests are read", async () => {
    const { http, server } = await world(({ query }) =>
      query["after"] === undefined
        ? { requests: [pending({ request_id: "req_1" })], next: "n1" }
        : { requests: [pending({ request_id: "req_2" })] },
    );
    const rows = await http.allRequests({ session_id: "s1", tree: true });
    expect(rows.map(({ request_id }) => request_id)).toEqual(["req_1", "req_2"]);
    expect(server.received.map(({ query }) => query)).toEqual([
      { tree: "true" },
      { tree: "true", after: "n1" },
    ]);
  });
});

describe("a connection that is cut", () => {
  test("a spawn is repeated with the same key", async () => {
    const answers = ["cut", "cut", SPAWNED] as const;
    const { http, server } = await world(() => answers[server.received.length - 1]);
    expect(await http.spawn({ backend: "demo" })).toEqual(SPAWNED);
    const keys = keysOf(server.received);
    expect(keys).toEqual([keys[0], keys[0], keys[0]]);
    expect(keys[0]).toEqual(expect.any(String));
  });

  test("two spawns have different keys, and a key of the caller's is kept", async () => {
    const { http, server } = await world(() => SPAWNED);
    for (const key of [undefined, undefined, "mine"]) {
      await http.spawn({ backend: "demo", ...(key === undefined ? {} : { idempotency_key: key }) });
    }
    const [first, second, third] = keysOf(server.received);
    expect(first).not.toBe(second);
    expect(third).toBe("mine");
  });

  test("a daemon that is killed and started again is found again", async () => {
    const seen: string[] = [];
    const { http, server } = await world(
      async () => {
        if (server.received.length > 1) return { input: {}, position: 0, repeated: true };
        void server.kill();
        return "cut";
      },
      {
        onRetry: (cause, attempt) => {
          seen.push(cause.code);
          if (attempt === 3) void server.listen();
        },
      },
    );
    expect(await http.input("s1", { text: "hello" })).toMatchObject({ repeated: true });
    expect(seen.slice(0, 3)).toEqual(["connection_lost", "no_daemon", "no_daemon"]);
    const [first, second] = keysOf(server.received);
    expect(second).toBe(first);
  });

  test("a daemon that reports its shutdown is waited for", async () => {
    const { http, server } = await world(() =>
      server.received.length === 1 ? anError("daemon_shutdown") : { sessions: [] },
    );
    expect(await http.sessions()).toEqual([]);
  });

  test("an interrupt is not repeated: it could end another turn", async () => {
    const { http, server } = await world(() => "cut");
    await expect(http.interrupt("s1")).rejects.toMatchObject({ code: "connection_lost" });
    expect(server.received).toHaveLength(1);
  });

  test("the attempts are bounded", async () => {
    const { http, server } = await world(() => "cut", { retry: { initialMs: 1, maxMs: 1, attempts: 3 } });
    await expect(http.sessions()).rejects.toMatchObject({ code: "connection_lost" });
    expect(server.received).toHaveLength(4);
  });

  test("an abort ends the wait for it", async () => {
    const abort = new AbortController();
    const { http } = await world(() => "cut", {
      retry: { initialMs: 60_000, maxMs: 60_000 },
      onRetry: () => abort.abort(),
    });
    await expect(http.events("s1", { signal: abort.signal })).rejects.toMatchObject({ code: "aborted" });
  });
});

describe("wait", () => {
  test("repeats the request while one part of the wait is over and time is left", async () => {
    const { http, server } = await world(() =>
      aWait({ reason: server.received.length < 3 ? "timeout" : "idle" }),
    );
    expect(await http.wait("s1")).toMatchObject({ reason: "idle" });
    expect(server.received.map(({ query }) => query["until"])).toEqual(Array(3).fill("idle,blocked"));
  });

  test("keeps its time limit when the daemon dies meanwhile, however long the reconnect may take", async () => {
    const { http, server } = await world(
      async () => {
        void server.kill();
        return "cut";
      },
      { retry: { initialMs: 60_000, maxMs: 60_000 } },
    );
    await expect(http.wait("s1", { timeoutMs: 20 })).rejects.toMatchObject({ code: "timeout" });
  });

  test("keeps its time limit when the daemon is stuck", async () => {
    const { http } = await world(() => undefined);
    await expect(http.wait("s1", { timeoutMs: 5 })).rejects.toMatchObject({ code: "timeout" });
  });

  test("with a time limit is still aborted by the caller, and a real error is passed on", async () => {
    const abort = new AbortController();
    const { http } = await world(({ path }) => {
      if (path !== "/sessions/s1/wait") return anError("session_unknown");
      abort.abort();
      return undefined;
    });
    const options = { timeoutMs: 60_000, signal: abort.signal };
    await expect(http.wait("s1", options)).rejects.toMatchObject({ code: "aborted" });
    await expect(http.wait("s2", { timeoutMs: 0 })).rejects.toMatchObject({ code: "session_unknown" });
  });

  test("is over when its own time is over", async () => {
    const { http, server } = await world(() => aWait({ reason: "timeout" }));
    expect(await http.wait("s1", { timeoutMs: 0, until: ["idle"], message_id: "m1" })).toMatchObject({
      reason: "timeout",
    });
    expect(server.received.map(({ query }) => query)).toEqual([
      { until: "idle", message_id: "m1", timeout_s: "0" },
    ]);
  });
});
