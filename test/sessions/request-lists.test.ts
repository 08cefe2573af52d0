// Lists of requests are bounded, whatever agents ask; and what the ledger writes is on disk before it is shown.
import { describe, expect, test } from "vitest";
import type { RequestRow } from "../../src/protocol/requests.ts";
import { allRequests, askOf, settle, stage } from "./fakes.ts";

const ann = { id: "ann" };
const accept = { decision: "accept" } as const;
const titled = (title: string, command = "x") => ({ payload: { title, command, choices: [accept] } });

describe("a list", () => {
  async function withMany(count: number) {
    const on = stage();
    await on.open(ann);
    for (let n = 0; n < count; n += 1) on.backend.last.ask(askOf(`n${n}`, titled(`t${n}`)));
    await settle();
    return on;
  }

  test.each([{}, { settled: true }])("comes in pages that give each request once (%j)", async (include) => {
    const on = await withMany(25);
    const sizes: number[] = [];
    const seen: string[] = [];
    for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
      const page = await on.hub.requests({
        ...include,
        limit: 10,
        ...(after === undefined ? {} : { after }),
      });
      sizes.push(page.requests.length);
      seen.push(...page.requests.map(({ request_id }) => request_id));
      after = page.next;
    }
    expect(sizes).toEqual([10, 10, 5]);
    expect(new Set(seen).size).toBe(25);
  });

  test("cuts long requests, and returns one in full when asked for by id", async () => {
    const on = stage();
    await on.open(ann);
    on.backend.last.ask(askOf("n1", titled("long", "y".repeat(100_000))));
    await settle();
    const [row] = await allRequests(on.hub, {});
    expect(row).toMatchObject({ is_cut: true, payload: { title: "long", choices: [accept] } });
    expect(row?.payload).not.toHaveProperty("command");
    const whole = await on.hub.request("s", row?.request_id ?? "");
    expect(whole?.payload.command).toHaveLength(100_000);
    expect(whole).not.toHaveProperty("is_cut");
    expect(await on.hub.request("other", row?.request_id ?? "")).toBeUndefined();
  });

  test("stops before it exceeds the frame limit", async () => {
    const on = stage();
    await on.open(ann);
    for (let n = 0; n < 100; n += 1) on.backend.last.ask(askOf(`n${n}`, titled("t", "y".repeat(60_000))));
    await settle();
    const page = await on.hub.requests({});
    expect(JSON.stringify(page).length).toBeLessThan(5 * 1024 * 1024);
    expect(page.next).toBeDefined();
    expect(await allRequests(on.hub, {})).toHaveLength(100);
  });

  test("refuses a cursor that it did not issue", async () => {
    const on = stage();
    await expect(on.hub.requests({ after: "nonsense" })).rejects.toMatchObject({ code: "invalid_message" });
  });
});

test("agents' requests cannot fill the memory: beyond 32 MB they are refused", async () => {
  const on = stage();
  await on.open(ann);
  for (let n = 0; n < 5; n += 1) on.backend.last.ask(askOf(`n${n}`, titled("t", "y".repeat(8_000_000))));
  await settle();
  expect(await allRequests(on.hub, {})).toHaveLength(4);
  expect(on.backend.last.answered).toEqual([{ native_id: "n4", answer: { decision: "decline" } }]);
});

test("a request, its answer and its end are each synced to disk", async () => {
  const on = stage();
  await on.open(ann);
  const states = () =>
    on.store.orders.flatMap(({ requests = [], sync }) =>
      requests.map((row: RequestRow) => [row.status, sync]),
    );
  on.backend.last.ask(askOf("n1", titled("one")));
  on.backend.last.ask(askOf("n2", titled("two")));
  await settle();
  const first = (await allRequests(on.hub, {})).find(({ payload }) => payload.title === "one");
  await on.hub.respond(ann, {
    session_id: "s",
    request_id: first?.request_id ?? "",
    answer: accept,
    source: "api",
  });
  on.backend.last.withdraw("n2");
  await settle();
  const told = states().filter(([status]) => status !== undefined);
  expect(told.slice(0, 3)).toEqual([
    ["pending", true],
    ["pending", true],
    ["resolved", true],
  ]);
  expect(told).toContainEqual(["withdrawn", true]);
});

test("an agent that can no longer be reached leaves an orphan, not a withdrawn request", async () => {
  const on = stage();
  await on.open(ann);
  on.backend.last.ask(askOf("n1"));
  await settle();
  const [row] = await allRequests(on.hub, {});
  on.backend.last.deaf = Promise.reject(new Error("EPIPE"));
  on.backend.last.deaf.catch(() => undefined);
  const order = {
    session_id: "s",
    request_id: row?.request_id ?? "",
    answer: accept,
    source: "api",
  } as const;
  await expect(on.hub.respond(ann, order)).rejects.toMatchObject({
    code: "request_orphaned",
    data: { request: { error_code: "agent_gone" } },
  });
});

test("an answer goes to the agent process that asked, not to the next one", async () => {
  const on = stage();
  await on.open(ann);
  const first = on.backend.last;
  first.ask(askOf("n1"));
  await settle();
  const [row] = await allRequests(on.hub, {});
  first.end(false);
  await settle();
  await on.hub.send(ann, "s", { role: "user", content: "again" });
  on.backend.last.asked.set("n1", askOf("n1"));
  const order = {
    session_id: "s",
    request_id: row?.request_id ?? "",
    answer: accept,
    source: "api",
  } as const;
  await expect(on.hub.respond(ann, order)).rejects.toMatchObject({ code: "request_orphaned" });
  expect(on.backend.last).not.toBe(first);
  expect(on.backend.last.offered).toEqual([]);
});

test("a turn that the agent starts while a request is pending still shows it as waiting", async () => {
  const on = stage();
  await on.open(ann);
  on.backend.last.ask(askOf("n1"));
  await settle();
  on.backend.last.sink.turnStarted();
  expect(await on.hub.list({ live: true })).toMatchObject([
    { activity_state: "waiting_permission", pending_requests: 1 },
  ]);
});
