// Each route: its call to the sessions, and its answer. Every reply is checked against its schema (world.ts).
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { CodedError } from "../../../src/base/coded-error.ts";
import { SESSION } from "./fake-manager.ts";
import { createWorld, eventually, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());
beforeEach(() => {
  world.manager.calls.length = 0;
  world.manager.repeated = false;
});

const at = (path: string) => `/sessions/${SESSION}${path}`;

describe("the daemon", () => {
  test("health reports liveness, status the details", async () => {
    expect((await world.ask("GET", "/health")).body).toEqual({ ok: true, daemon: "blemeesd/0.0.1", pid: 1 });
    const { body } = await world.ask("GET", "/status");
    expect(body).toMatchObject({ backends: { demo: "1" }, http: { connections: 1, streams: 0 } });
    expect(body).toMatchObject({
      state_dir: "/state",
      log: { to: "file", path: "/state/blemeesd.log" },
      running_agents: 0,
    });
  });

  test("stop is answered with 202 before it happens, on both listeners", async () => {
    for (const tcp of [false, true]) {
      const reply = await world.ask("POST", "/daemon/stop", { tcp, body: { leave_agents: true } });
      expect([reply.status, reply.body]).toEqual([
        202,
        { pid: 1, leaving_agents: true, http_port: world.http.port },
      ]);
    }
    await eventually(() => world.stops).toEqual([{ leaveAgents: true }, { leaveAgents: true }]);
  });

  test.each([
    [{ leave_agents: false }, false],
    [{}, true], // as the setting says
  ])("stop with %j leaves the agents running: %s", async (body, leaving_agents) => {
    world.stops.length = 0;
    expect((await world.ask("POST", "/daemon/stop", { body })).body).toMatchObject({ leaving_agents });
    await eventually(() => world.stops).toEqual([{ leaveAgents: leaving_agents }]);
  });

  test.each([[{ leave_agents: "yes" }], [{ leave: true }]])(
    "stop with %j is refused, and nothing is stopped",
    async (body) => {
      world.stops.length = 0;
      expect((await world.ask("POST", "/daemon/stop", { body })).status).toBe(400);
      expect(world.stops).toEqual([]);
    },
  );

  test("a restart is answered with both processes, and takes no options", async () => {
    const reply = await world.ask("POST", "/daemon/restart", { tcp: true, body: {} });
    expect([reply.status, reply.body]).toEqual([202, { pid: 1, next_pid: 2 }]);
    expect((await world.ask("POST", "/daemon/restart", { body: { now: true } })).status).toBe(400);
  });

  test("a log that cannot be read says which, and the number of lines is limited", async () => {
    const { status, body } = await world.ask("GET", "/daemon/log");
    expect([status, body.error.code, body.error.message]).toEqual([
      404,
      "no_log",
      expect.stringContaining("/state/blemeesd.log"),
    ]);
    expect((await world.ask("GET", "/daemon/log?lines=9999")).status).toBe(400);
  });

  test("metrics are Prometheus text", async () => {
    const { headers, text } = await world.ask("GET", "/metrics");
    expect([headers["content-type"], text]).toEqual(["text/plain; version=0.0.4; charset=utf-8", "up 1\n"]);
  });

  test("openapi.json has every route", async () => {
    const { body } = await world.ask("GET", "/openapi.json");
    expect(body.openapi).toBe("3.1.0");
    expect(Object.keys(body.paths)).toContain("/sessions/{id}/codex-requests/{request_id}/respond");
  });
});

describe("spawn", () => {
  test("is 201; codex-app is codex, the prompt a message, the asker the parent", async () => {
    const body = { provider: "codex-app", prompt: "hi", cwd: "/x", budget: { max_turns: 3 } };
    const headers = {
      "content-type": "application/json",
      "x-blemees-session": "boss",
      "idempotency-key": "k1",
    };
    const reply = await world.ask("POST", "/sessions", { body, headers });
    expect(reply.status).toBe(201);
    expect(world.manager.named("spawn")).toEqual([
      [
        {
          backend: "codex",
          message: { role: "user", content: "hi" },
          cwd: "/x",
          budget: { max_turns: 3 },
          parent: "boss",
          key: "k1",
        },
      ],
    ]);
  });

  test("a repeated one is 200", async () => {
    world.manager.repeated = true;
    const body = { backend: "demo", idempotency_key: "k" };
    expect((await world.ask("POST", "/sessions", { body })).status).toBe(200);
    expect(world.manager.named("spawn")).toEqual([[{ backend: "demo", key: "k" }]]);
  });

  test.each([
    [{}, /\/backend: required/],
    [{ backend: "claude", provider: "codex-app" }, /\/provider/],
    [{ backend: "demo", prompt: "a", message: { role: "user", content: "b" } }, /\/message/],
    [{ backend: "demo", promt: "a" }, /\/promt: unexpected property/],
    [{ backend: "demo", parent: "../x" }, /\/parent/],
    [{ backend: "demo", session_id: "-rf" }, /\/session_id/],
    [{ backend: "demo", prompt: "" }, /\/prompt/],
  ])("%j is invalid_message and names the field", async (body, fault) => {
    const reply = await world.ask("POST", "/sessions", { body });
    expect([reply.status, reply.body.error.code]).toEqual([400, "invalid_message"]);
    expect(reply.body.error.message).toMatch(fault);
    expect(world.manager.calls).toEqual([]);
  });

  test("two different keys, in header and body, are refused", async () => {
    const headers = { "content-type": "application/json", "idempotency-key": "a" };
    const body = { backend: "demo", idempotency_key: "b" };
    expect((await world.ask("POST", "/sessions", { body, headers })).status).toBe(400);
  });
});

describe("sessions", () => {
  test("are listed with every filter", async () => {
    const query = "backend=codex&parent=p&name=n&cwd=%2Fx%20y&state=idle,working&live=true&limit=5";
    const { body } = await world.ask("GET", `/sessions?${query}`);
    expect(body.sessions).toHaveLength(2);
    expect(world.manager.named("views")).toEqual([
      [
        {
          backend: "codex",
          parent: "p",
          name: "n",
          cwd: "/x y",
          state: ["idle", "working"],
          live: true,
          limit: 5,
        },
      ],
    ]);
  });

  test.each([
    "state=idel",
    "live=maybe",
    "limit=0",
    "limit=x",
    "limit=1e99",
    "foo=1",
    "limit=1&limit=2",
    "__proto__=1",
  ])("?%s is refused", async (query) => {
    const reply = await world.ask("GET", `/sessions?${query}`);
    expect([reply.status, reply.body.error.code]).toEqual([400, "invalid_message"]);
  });

  test("the tree of a delete is given in the query or in the body, not in both", async () => {
    const remove = (query: string, body: object) => {
      // Node's client does not count the body of a DELETE.
      const length = String(JSON.stringify(body).length);
      const headers = { "content-type": "application/json", "content-length": length };
      return world.ask("DELETE", at(query), { headers, body });
    };
    for (const [query, body] of [
      ["", { tree: true }],
      ["?tree=1", {}],
      ["?tree=true", { tree: true }],
    ] as const)
      expect((await remove(query, body)).status).toBe(200);
    expect(world.manager.named("remove").slice(-3)).toEqual(Array(3).fill([SESSION, { tree: true }]));
    const before = world.manager.named("remove").length;
    expect((await remove("?tree=false", { tree: true })).body.error.message).toMatch(/conflicts/);
    expect((await remove("", { trees: true })).body.error.message).toMatch(/unexpected property/);
    expect(world.manager.named("remove")).toHaveLength(before);
  });

  test("one is shown, renamed, unnamed, deleted with its tree", async () => {
    expect((await world.ask("GET", at(""))).body.session_id).toBe(SESSION);
    expect((await world.ask("PATCH", at(""), { body: { name: "ann" } })).body.name).toBe("ann");
    await world.ask("PATCH", at(""), { body: { name: null } });
    expect((await world.ask("DELETE", at("?tree=true"))).body).toEqual({ deleted: [SESSION] });
    expect(world.manager.calls.map(({ args }) => args)).toEqual([
      [SESSION],
      [SESSION, { name: "ann" }],
      [SESSION, { name: null }],
      [SESSION, { tree: true }],
    ]);
  });

  test("labels and the archive are changed together with the name, and an empty change is refused", async () => {
    const change = { add_labels: ["bug"], remove_labels: ["idea"], archived: true };
    expect((await world.ask("PATCH", at(""), { body: change })).status).toBe(200);
    expect(world.manager.named("mark").at(-1)).toEqual([SESSION, change]);
    const before = world.manager.named("mark").length;
    for (const body of [
      {},
      { add_labels: ["a,b"] },
      { add_labels: ["\u001b[2J"] },
      { archived: "yes" },
      { label: [] },
    ]) {
      expect((await world.ask("PATCH", at(""), { body })).body.error.code).toBe("invalid_message");
    }
    expect(world.manager.named("mark")).toHaveLength(before);
  });

  test("lists are filtered by project, labels, failure, archive, last activity and cost", async () => {
    const query =
      "?agent=codex&project=/w/shop&label=bug,ui&failed=true&archived=0&active_after_ms=5&active_before_ms=9&min_cost_usd=1.5";
    expect((await world.ask("GET", `/sessions${query}`)).status).toBe(200);
    expect(world.manager.named("views").at(-1)).toEqual([
      {
        backend: "codex",
        project: "/w/shop",
        labels: ["bug", "ui"],
        failed: true,
        archived: false,
        active_after_ms: 5,
        active_before_ms: 9,
        min_cost_usd: 1.5,
      },
    ]);
    for (const odd of ["label=a%20b", "failed=maybe", "min_cost_usd=-1", "active_after_ms=soon"])
      expect((await world.ask("GET", `/sessions?${odd}`)).body.error.code).toBe("invalid_message");
  });

  test("interrupt and stop name the caller", async () => {
    const headers = { "content-type": "application/json", "x-blemees-session": "boss" };
    expect((await world.ask("POST", at("/interrupt"), { headers })).body.was_idle).toBe(false);
    await world.ask("POST", at("/stop"), { headers, body: { tree: true } });
    await world.ask("POST", at("/stop"));
    expect(world.manager.named("interrupt")).toEqual([[SESSION, "boss"]]);
    expect(world.manager.named("stop")).toEqual([
      [SESSION, { tree: true, by: "boss" }],
      [SESSION, { tree: false }],
    ]);
  });

  test("family and actions", async () => {
    expect((await world.ask("GET", at("/family"))).body.sessions[0].depth).toBe(0);
    expect((await world.ask("GET", at("/actions?limit=3"))).body.actions).toHaveLength(1);
    expect(world.manager.named("actions")).toEqual([[SESSION, 3]]);
  });

  test("an unknown one is 404 with its code, and a bad id never reaches the sessions", async () => {
    const reply = await world.ask("GET", "/sessions/nobody");
    expect([reply.status, reply.body.error.code]).toEqual([404, "session_unknown"]);
    world.manager.calls.length = 0;
    for (const id of ["%2e%2e%2fx", "-rf", ".x", "a%00b", "%F0%9F", "a%20b", "x".repeat(200)]) {
      expect((await world.ask("GET", `/sessions/${id}`)).body.error.code).toBe("invalid_message");
    }
    expect(world.manager.calls).toEqual([]);
  });
});

describe("input", () => {
  test("is queued: 201, and repeated: 200", async () => {
    const headers = { "content-type": "application/json", "x-blemees-session": "boss" };
    const body = { text: "go", now: true, idempotency_key: "k" };
    expect((await world.ask("POST", at("/input"), { body, headers })).status).toBe(201);
    world.manager.repeated = true;
    expect((await world.ask("POST", at("/input"), { body, headers })).status).toBe(200);
    const message = { role: "user", content: "go" };
    expect(world.manager.named("input")[0]).toEqual([
      { session_id: SESSION, message, now: true, key: "k", from: "boss" },
    ]);
  });

  test("needs a text or a message", async () => {
    expect((await world.ask("POST", at("/input"), { body: {} })).body.error.message).toMatch(/\/text/);
  });

  test("while something is asked it is 409 with the oldest request, its time in both forms", async () => {
    const data = { request_id: "r-1", request_type: "command", requested_at_ms: 1_700_000_000_000 };
    world.manager.refusal = new CodedError("pending_structured_request", "answer first", { data });
    const { status, body } = await world.ask("POST", at("/input"), { body: { text: "go" } });
    expect(status).toBe(409);
    expect(body.error).toEqual({
      code: "pending_structured_request",
      message: "answer first",
      data: { ...data, requested_at: "2023-11-14T22:13:20.000Z" },
    });
  });

  test("the queue is shown, and a message taken out of it", async () => {
    expect((await world.ask("GET", at("/queue"))).body.queued[0].message_id).toBe("m-1");
    expect((await world.ask("DELETE", at("/queue/m-1"))).body.state).toBe("cancelled");
    expect(world.manager.named("cancelInput")).toEqual([[SESSION, "m-1"]]);
  });
});

describe("wait and events", () => {
  test("wait passes on what it waits for", async () => {
    await world.ask("GET", at("/wait?until=idle&timeout_s=1.5"));
    await world.ask("GET", at("/wait?message_id=m-1"));
    expect(world.manager.named("wait").map(([order]) => order)).toEqual([
      { session_id: SESSION, until: ["idle"], timeoutMs: 1500 },
      { session_id: SESSION, until: ["idle", "blocked"], timeoutMs: 60_000, message_id: "m-1" },
    ]);
  });

  test("a page has the cursor contract, and long-poll its time", async () => {
    const { body } = await world.ask(
      "GET",
      at("/events?since_seq=7&limit=2&wait_s=3&include_unpersisted=true"),
    );
    const cursor = "earliest_seq latest_seq next_seq history_gap gap_reason events";
    expect(Object.keys(body).sort()).toEqual(cursor.split(" ").sort());
    expect(world.manager.named("events")[0]).toEqual([
      { session_id: SESSION, since_seq: 7, limit: 2, waitMs: 3000, include_unpersisted: true },
    ]);
  });

  test("a client that disconnects ends its wait", async () => {
    let release: () => void = () => undefined;
    world.manager.waits = new Promise<void>((resolve) => {
      release = resolve;
    });
    const before = world.manager.aborted;
    const socket = await world.raw();
    socket.write(`GET ${at("/wait")} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await eventually(() => world.manager.named("wait").length).toBe(1);
    socket.destroy();
    await eventually(() => world.manager.aborted).toBe(before + 1);
    release();
    world.manager.waits = Promise.resolve();
    expect(world.logged.filter(({ event }) => event === "internal")).toEqual([]);
  });
});

describe("requests", () => {
  test("of one session, of its tree, and of all", async () => {
    const { body } = await world.ask(
      "GET",
      at("/requests?tree=1&include_orphaned=true&include_settled=false&limit=2&after=x"),
    );
    expect(body).toMatchObject({ requests: [{ request_id: "r-1" }], next: "n-1" });
    expect(body.sessions).toEqual([{ session_id: SESSION, name: "fixer" }]);
    await world.ask("GET", "/requests");
    expect(world.manager.named("requests")).toEqual([
      [{ session_id: SESSION, tree: true, orphaned: true, settled: false, limit: 2, after: "x" }],
      [{}],
    ]);
  });

  test("one of them, or 404", async () => {
    expect((await world.ask("GET", at("/requests/r-1"))).body.request_id).toBe("r-1");
    const { status, body } = await world.ask("GET", at("/requests/r-2"));
    expect([status, body.error.code]).toEqual([404, "request_unknown"]);
  });

  test("are answered with what was shown and the source", async () => {
    const body = { decision: "accept", shown_hash: "00", source: "tui" };
    await world.ask("POST", at("/requests/r-1/respond"), { body });
    await world.ask("POST", at("/requests/r-1/respond"), { body: { answers: { q: ["a"] } } });
    // In the form of Codex.
    await world.ask("POST", at("/requests/r-1/respond"), { body: { answers: { q: { answers: ["a"] } } } });
    const ids = { session_id: SESSION, request_id: "r-1" };
    const tui = { source: "tui" };
    const http = { source: "http" };
    expect(world.manager.named("respond")).toEqual([
      [{ ...ids, answer: { decision: "accept" }, ...tui, shown_hash: "00" }],
      [{ ...ids, answer: { answers: { q: ["a"] } }, ...http }],
      [{ ...ids, answer: { answers: { q: ["a"] } }, ...http }],
    ]);
  });

  test.each([[{}], [{ decision: "yes" }], [{ decision: "accept", foo: 1 }], [{ answers: 5 }]])(
    "%j is no answer",
    async (body) => {
      const reply = await world.ask("POST", at("/requests/r-1/respond"), { body });
      expect([reply.status, reply.body.error.code]).toEqual([400, "invalid_message"]);
    },
  );
});

describe("the codex routes", () => {
  test("pending requests have every documented field, times as ISO", async () => {
    const { body } = await world.ask("GET", at("/codex-pending-requests?include_orphaned=true"));
    expect(body.requests[0]).toMatchObject({
      request_id: "r-1",
      session_id: SESSION,
      thread_id: null,
      turn_id: "t-1",
      item_id: null,
      request_type: "command",
      requested_at: "2023-11-14T22:13:20.000Z",
      expires_at: "2023-11-14T22:14:20.000Z",
    });
    expect(world.manager.named("requests")).toEqual([[{ session_id: SESSION, orphaned: true }]]);
  });

  test("events have the cursor contract and the documented names", async () => {
    const { body } = await world.ask("GET", at("/codex-events?since_seq=4&limit=1"));
    expect(body).toMatchObject({ latest_seq: 5, next_seq: 5, history_gap: false, gap_reason: null });
    expect(body.events[0]).toMatchObject({
      session_id: SESSION,
      seq: 5,
      timestamp: "2023-11-14T22:13:20.000Z",
      event_type: "agent.delta",
      turn_id: null,
      payload_preview: "x",
    });
  });

  test("an answer, its repetition, and an unknown or expired one: 404 with its code", async () => {
    const path = at("/codex-requests/r-1/respond");
    world.manager.repeated = true;
    const reply = await world.ask("POST", path, { body: { decision: "decline" } });
    expect(reply.body).toMatchObject({
      repeated: true,
      request: { requested_at: "2023-11-14T22:13:20.000Z" },
    });
    for (const code of ["request_unknown", "request_expired"]) {
      world.manager.refusal = new CodedError(code, "no");
      const refused = await world.ask("POST", path, { body: { decision: "decline" } });
      expect([refused.status, refused.body.error.code]).toEqual([404, code]);
    }
  });
});
