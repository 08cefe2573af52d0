import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  HOLD_MESSAGES,
  HOLD_MS,
  type Incoming,
  ThreadRouter,
  type ThreadTenant,
} from "../../../src/backends/codex/app-server/router.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import { silentLog } from "../../../src/base/log.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function setUp(family: Record<string, string | null> = {}) {
  const refused: Array<[unknown, string]> = [];
  const lookedUp: string[] = [];
  const router = new ThreadRouter({
    lookUp: async (id) => {
      lookedUp.push(id);
      return id in family ? { id, parentThreadId: family[id] } : undefined;
    },
    refuse: (id, why) => refused.push([id, why]),
    log: silentLog,
  });
  return { router, refused, lookedUp };
}

class FakeTenant implements ThreadTenant {
  readonly heard: string[] = [];
  isBusy = true;
  readonly #router: ThreadRouter;

  constructor(router: ThreadRouter) {
    this.#router = router;
  }

  deliver(message: Incoming): void {
    this.heard.push(message.method);
  }

  adopt(thread: JsonObject): void {
    this.#router.claim(String(thread["id"]), this);
  }
}

function note(method: string, params: JsonObject): Incoming {
  return { kind: "notification", method, params, size: 1 };
}

function request(id: number, threadId?: string): Incoming {
  const params = threadId === undefined ? {} : { threadId };
  return { kind: "request", id, method: "ask", params, size: 1 };
}

async function settle(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
}

describe("Router", () => {
  test("messages go to the owner of their thread, those without one to every busy session", () => {
    const { router } = setUp();
    const [a, b, idle] = [new FakeTenant(router), new FakeTenant(router), new FakeTenant(router)];
    idle.isBusy = false;
    for (const [id, tenant] of [["a", a] as const, ["b", b] as const, ["c", idle] as const])
      router.claim(id, tenant);
    router.route(note("for a", { threadId: "a" }));
    router.route(note("for b", { thread: { id: "b" } }));
    router.route(note("old", { conversationId: "a" }));
    router.route(note("limits", {}));
    expect([a.heard, b.heard, idle.heard]).toEqual([["for a", "old", "limits"], ["for b", "limits"], []]);
  });

  test("a request that names no thread is refused", () => {
    const { router, refused } = setUp();
    router.route(request(0));
    expect(refused).toEqual([[0, "refused: it names no thread"]]);
  });

  test("an unknown thread is looked up, up to an ancestor that has an owner, and loses nothing meanwhile", async () => {
    const { router, lookedUp } = setUp({ grandchild: "child", child: "root" });
    const tenant = new FakeTenant(router);
    router.claim("root", tenant);
    router.route(note("one", { threadId: "grandchild" }));
    router.route(note("two", { threadId: "grandchild" }));
    await settle();
    expect(tenant.heard).toEqual(["one", "two"]);
    expect(lookedUp).toEqual(["grandchild", "child"]);
    router.route(note("three", { threadId: "child" }));
    expect(tenant.heard).toEqual(["one", "two", "three"]);
  });

  test("a sub-agent that is announced by its parent's owner needs no look-up", () => {
    const { router, lookedUp } = setUp();
    const tenant = new FakeTenant(router);
    router.claim("root", tenant);
    router.route(note("thread/started", { thread: { id: "child", parentThreadId: "root" } }));
    expect(tenant.heard).toEqual(["thread/started"]);
    expect(lookedUp).toEqual([]);
  });

  test("a thread that is being opened is not looked up before its id is known", async () => {
    const { router, lookedUp } = setUp({ fresh: null });
    const tenant = new FakeTenant(router);
    const opened = router.open(async () => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      router.claim("fresh", tenant);
    });
    router.route(note("early", { threadId: "fresh" }));
    await vi.advanceTimersByTimeAsync(100);
    await opened;
    expect(tenant.heard).toEqual(["early"]);
    expect(lookedUp).toEqual([]);
  });

  test("a slow opening does not block other sessions' sub-agents, and loses nothing of its own", async () => {
    const { router, refused } = setUp({ fresh: null, child: "root" });
    const [tenant, fresh] = [new FakeTenant(router), new FakeTenant(router)];
    router.claim("root", tenant);
    const opened = router.open(async () => {
      await new Promise((resolve) => setTimeout(resolve, 20_000));
      router.claim("fresh", fresh);
    });
    router.route(request(1, "child"));
    router.route(note("early", { threadId: "fresh" }));
    await vi.advanceTimersByTimeAsync(2000);
    expect(tenant.heard).toEqual(["ask"]);
    await vi.advanceTimersByTimeAsync(20_000);
    await opened;
    expect([fresh.heard, refused]).toEqual([["early"], []]);
  });

  test("a thread without an owner: its requests are refused at once", async () => {
    const { router, refused } = setUp({ stranger: null });
    router.route(request(7, "stranger"));
    await settle();
    expect(refused).toEqual([[7, "refused: its thread belongs to no session"]]);
  });

  test("a thread that Codex does not know either waits for its owner, then is given up", async () => {
    const { router, refused } = setUp();
    router.route(request(1, "late"));
    router.route(request(2, "never"));
    await settle();
    const tenant = new FakeTenant(router);
    router.claim("late", tenant);
    expect(tenant.heard).toEqual(["ask"]);
    await vi.advanceTimersByTimeAsync(HOLD_MS);
    expect(refused).toEqual([[2, "refused: no session claimed its thread in time"]]);
  });

  test("only a bounded number of messages waits", async () => {
    const { router, refused } = setUp();
    for (let count = 0; count < HOLD_MESSAGES; count += 1) router.route(note("n", { threadId: "x" }));
    router.route(request(3, "x"));
    expect(refused).toEqual([[3, "refused: too many messages wait for the owner of its thread"]]);
  });

  test("messages for a session that has left are dropped, its requests are refused", () => {
    const { router, refused, lookedUp } = setUp();
    const tenant = new FakeTenant(router);
    router.claim("root", tenant);
    router.claim("child", tenant);
    router.retire(tenant);
    router.route(note("late", { threadId: "root" }));
    router.route(request(4, "child"));
    expect(tenant.heard).toEqual([]);
    expect(refused).toEqual([[4, "refused: its session has ended"]]);
    expect(lookedUp).toEqual([]);
    const again = new FakeTenant(router);
    router.claim("root", again);
    router.route(note("new", { threadId: "root" }));
    expect(again.heard).toEqual(["new"]);
  });
});
