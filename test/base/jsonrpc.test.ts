import { describe, expect, test, vi } from "vitest";
import { JsonRpcPeer, RpcError, type RpcOptions, RpcSilence } from "../../src/base/jsonrpc.ts";

function setUp(over: Partial<RpcOptions> = {}) {
  const written: Array<Record<string, unknown>> = [];
  const heard: unknown[] = [];
  const peer = new JsonRpcPeer({
    write: async (line) => {
      written.push(JSON.parse(line));
    },
    handlers: {
      notification: (method, params) => heard.push({ method, params }),
      request: (id, method, params) => heard.push({ id, method, params }),
    },
    ...over,
  });
  return { peer, written, heard };
}

describe("our requests", () => {
  test("answers are matched by id, in whatever order they come", async () => {
    const { peer, written } = setUp();
    const [a, b] = [peer.request("a", { x: 1 }), peer.request("b")];
    expect(written).toEqual([
      { method: "a", id: 1, params: { x: 1 } },
      { method: "b", id: 2 },
    ]);
    peer.receive({ id: 2, result: "second" });
    peer.receive({ id: 1, result: null });
    expect(await Promise.all([a, b])).toEqual([null, "second"]);
  });

  test("an error answer carries its code, message and data", async () => {
    const { peer } = setUp();
    const asked = peer.request("a");
    peer.receive({ id: 1, error: { code: -32600, message: "no such thread", data: { why: 1 } } });
    await expect(asked).rejects.toEqual(
      expect.objectContaining({ code: -32600, message: "no such thread", data: { why: 1 } }),
    );
    await expect(asked).rejects.toBeInstanceOf(RpcError);
  });

  test("no answer in time is a timeout, and a later answer is ignored", async () => {
    const { peer } = setUp();
    await expect(peer.request("a", {}, { timeoutMs: 1 })).rejects.toBeInstanceOf(RpcSilence);
    peer.receive({ id: 1, result: 1 });
    peer.receive({ id: 99, result: 1 });
  });

  test("a write that fails fails its request and no other", async () => {
    let isBroken = false;
    const { peer } = setUp({
      write: async () => {
        if (isBroken) throw new Error("EPIPE");
      },
    });
    const first = peer.request("a");
    isBroken = true;
    await expect(peer.request("b")).rejects.toThrow("EPIPE");
    peer.receive({ id: 1, result: "fine" });
    expect(await first).toBe("fine");
  });

  test("close rejects pending and later requests, with the reason", async () => {
    const { peer, written } = setUp();
    const asked = peer.request("a", {}, { timeoutMs: 60_000 });
    peer.close(new Error("codex has ended"));
    await expect(asked).rejects.toThrow("codex has ended");
    await expect(peer.request("b")).rejects.toThrow("codex has ended");
    peer.notify("n");
    expect(written).toHaveLength(1);
  });
});

describe("an overloaded server", () => {
  const overloaded = { code: -32001, message: "overloaded" };

  test("is retried with growing pauses until it answers", async () => {
    vi.useFakeTimers();
    try {
      const { peer, written } = setUp();
      const asked = peer.request("a");
      for (const id of [1, 2, 3]) {
        peer.receive({ id, error: overloaded });
        await vi.advanceTimersByTimeAsync(1000);
      }
      peer.receive({ id: 4, result: "at last" });
      expect(await asked).toBe("at last");
      expect(written.map(({ method, id }) => [method, id])).toEqual([
        ["a", 1],
        ["a", 2],
        ["a", 3],
        ["a", 4],
      ]);
    } finally {
      vi.useRealTimers();
    }
  });

  test("is given up after a few tries", async () => {
    vi.useFakeTimers();
    try {
      const { peer, written } = setUp();
      const asked = expect(peer.request("a")).rejects.toMatchObject({ code: -32001 });
      for (let id = 1; id <= 10; id += 1) {
        peer.receive({ id, error: overloaded });
        await vi.advanceTimersByTimeAsync(1000);
      }
      await asked;
      expect(written).toHaveLength(6);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("incoming messages", () => {
  test("a request is one with a method and an id, also 0 and a string", () => {
    const { peer, heard } = setUp();
    peer.receive({ method: "ask", id: 0, params: { a: 1 } });
    peer.receive({ method: "ask", id: "x" });
    peer.receive({ method: "note", params: { b: 2 } });
    peer.receive({ method: "note", id: null });
    expect(heard).toEqual([
      { id: 0, method: "ask", params: { a: 1 } },
      { id: "x", method: "ask", params: {} },
      { method: "note", params: { b: 2 } },
      { method: "note", params: {} },
    ]);
  });

  test("the peer's id is not confused with one of ours", async () => {
    const { peer, heard } = setUp();
    const asked = peer.request("a");
    peer.receive({ method: "theirs", id: 1 });
    peer.receive({ id: "1", result: "not ours" });
    peer.receive({ id: 1, result: "ours" });
    expect(await asked).toBe("ours");
    expect(heard).toHaveLength(1);
  });

  test("answers keep the id unchanged", () => {
    const { peer, written } = setUp();
    peer.respond(0, { decision: "accept" });
    peer.respondError("x", { code: -32601, message: "no" });
    expect(written).toEqual([
      { id: 0, result: { decision: "accept" } },
      { id: "x", error: { code: -32601, message: "no" } },
    ]);
  });
});

test("an answer that cannot be written rejects, and an unhandled one does no harm", async () => {
  const { peer } = setUp({ write: () => Promise.reject(new Error("EPIPE")) });
  await expect(peer.respond(1, {})).rejects.toThrow("EPIPE");
  peer.close(new Error("codex has ended"));
  await expect(peer.respond(1, {})).rejects.toThrow("codex has ended");
  void peer.respond(1, {});
  peer.respondError(1, { code: 1, message: "no" });
  peer.notify("n");
  // An unhandled rejection would fail this run.
  await new Promise((resolve) => setImmediate(resolve));
});

test("MCP gets its version field in every message, the app-server none", () => {
  const { peer, written } = setUp({ withVersion: true });
  peer.notify("notifications/initialized");
  peer.respond(1, {});
  expect(written.map(({ jsonrpc }) => jsonrpc)).toEqual(["2.0", "2.0"]);
});

test("the answer to a call is delivered in order, before later messages, and only once", async () => {
  const told: string[] = [];
  const peer = new JsonRpcPeer({
    write: () => Promise.resolve(),
    handlers: { notification: (method) => told.push(method), request: () => undefined },
  });
  peer.call("ask", {}, (answer) => told.push("result" in answer ? "answer" : answer.error.message));
  peer.receive({ method: "before" });
  peer.receive({ id: 1, result: {} });
  peer.receive({ id: 1, result: {} });
  peer.receive({ method: "behind" });
  expect(told).toEqual(["before", "answer", "behind"]);
  peer.call("ask", {}, (answer) => told.push("result" in answer ? "answer" : answer.error.message));
  peer.close(new Error("gone"));
  peer.call("late", {}, (answer) => told.push("result" in answer ? "answer" : answer.error.message));
  expect(told.slice(3)).toEqual(["gone", "gone"]);
});
