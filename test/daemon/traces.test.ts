// Traces of a real daemon at a fake collector: a family of three, a collector that fails, and a daemon that is killed.
import { afterAll, beforeAll, expect, test } from "vitest";
import { HttpClient } from "../../src/client/index.ts";
import { type Collector, read, startCollector, sum } from "../support/collector.ts";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import { PATIENT } from "../support/patience.ts";

let collector: Collector;
let daemon: TestDaemon;
let http: HttpClient;

const start = async (home?: string): Promise<void> => {
  daemon = await startDaemon({
    ...(home !== undefined && { home }),
    env: { BLEMEESD_OTEL_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_HEADERS: "x-key=a%20b" },
  });
  http = new HttpClient({ socket: daemon.socket });
};

beforeAll(async () => {
  collector = await startCollector();
  await start();
});
afterAll(async () => {
  await daemon.close();
  await collector.close();
});

async function run(prompt: string, parent?: string): Promise<string> {
  const { session } = await http.spawn({
    backend: "demo",
    prompt,
    approvals: false,
    ...(parent !== undefined && { parent, wakes_parent: false }),
  });
  await http.wait(session.session_id);
  return session.session_id;
}

const of = (name: string) => collector.spans.filter((span) => span.name.startsWith(name));
const ids = () => new Set(collector.spans.map(({ spanId }) => spanId));

test("a family of three is one trace, and its sums are those of /stats", async () => {
  const root = await run("use a tool");
  const child = await run("use a tool", root);
  const grandchild = await run("hello", child);
  await expect.poll(() => of("invoke_agent").length, PATIENT).toBe(3);
  await expect.poll(() => of("execute_tool").length, PATIENT).toBe(2);
  expect(new Set(collector.spans.map(({ traceId }) => traceId)).size).toBe(1);
  expect(collector.headers[0]).toMatchObject({ "x-key": "a b", "content-type": "application/json" });
  const sessions = of("create_agent");
  const spanOf = (id: string) => sessions.find((span) => read(span, "gen_ai.conversation.id") === id);
  expect(spanOf(root)?.parentSpanId).toBeUndefined();
  expect(spanOf(child)?.parentSpanId).toBe(spanOf(root)?.spanId);
  expect(spanOf(grandchild)?.parentSpanId).toBe(spanOf(child)?.spanId);
  for (const tool of of("execute_tool"))
    expect(of("invoke_agent").map(({ spanId }) => spanId)).toContain(tool.parentSpanId);

  const stats = await http.stats({ since_ms: 0 });
  const total = (list: readonly object[], key: string) =>
    list.reduce((all, one) => all + Number((one as Record<string, unknown>)[key] ?? 0), 0);
  expect(stats.turns).toHaveLength(3);
  for (const key of ["input_tokens", "output_tokens"])
    expect(sum(of("invoke_agent"), `gen_ai.usage.${key}`)).toBe(total(stats.turns, key));
  expect(sum(of("execute_tool"), "blemees.tool.latency_ms")).toBe(total(stats.tools, "latency_ms"));
  // Content only with `otel_content`.
  expect(JSON.stringify(collector.spans)).not.toContain("gen_ai.tool.call.arguments");
});

test("what a collector did not take comes later, also over a kill -9, and only once", async () => {
  collector.status = 503;
  const before = ids();
  const id = await run("hello again");
  await expect.poll(() => daemon.log(), PATIENT).toContain("otel.failed");
  const { home } = daemon;
  await daemon.kill("SIGKILL");
  collector.status = 200;
  await start(home);
  await expect
    .poll(() => of("invoke_agent").some((span) => read(span, "gen_ai.conversation.id") === id), PATIENT)
    .toBe(true);
  // The session and its turn; nothing was sent again.
  expect(ids().size).toBe(before.size + 2);
  expect(collector.spans).toHaveLength(ids().size);
});
