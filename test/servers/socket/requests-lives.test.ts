// A request outlives connections; when its daemon or agent ends, that is always reported.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import type { RawClient } from "../../support/raw-client.ts";
import { checkOutbound } from "../../support/schemas.ts";
import { ledgerOf, listed, respond, timesTold, told, waitingClaude, waitingDemo } from "./asking.ts";
import { isOf, lastText, range, seqsOf, streamOf, until } from "./talk.ts";

const ACCEPT = { decision: "accept" };
const DRIVERS = [
  ["sqlite", () => ({})],
  ["jsonl", (home: string) => ({ BLEMEESD_EVENT_LOG_DIR: join(home, "log") })],
] as const;

describe.each(DRIVERS)("%s", (driver, envOf) => {
  let home: string;
  let daemon: TestDaemon;

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), `blemees-asked-${driver}-`));
  });
  afterEach(async () => {
    await daemon.close();
    rmSync(home, { recursive: true, force: true });
  });

  const start = async (env: Record<string, string> = {}): Promise<RawClient> => {
    // On pipes an agent ends with its daemon; how others go on is in test/outlive.
    daemon = await startDaemon({ home, env: { BLEMEESD_AGENT_STDIO: "pipes", ...envOf(home), ...env } });
    return daemon.connect();
  };
  const stop = async (signal: NodeJS.Signals, client: RawClient): Promise<void> => {
    await daemon.kill(signal);
    await client.closed;
    checkOutbound(client.frames);
  };

  test("its owner leaves and returns: the request is replayed, still waits, and can be answered", async () => {
    const first = await start();
    const { session_id, row } = await waitingClaude(first);
    first.close();
    await first.closed;
    const client = await daemon.connect();
    await until(
      () => listed(client, { session_id }),
      (rows) => rows.length === 1,
    );
    await client.open(session_id, {}, { resume: true, last_seen_seq: 0 });
    expect(await told(client, session_id, "pending")).toEqual(row);
    expect(await respond(client, row, ACCEPT)).toMatchObject({ repeated: false });
    await client.next(isOf("agent.result", session_id));
    expect(JSON.parse(lastText(client, session_id))).toMatchObject({ behavior: "allow" });
    expect(seqsOf(client, session_id)).toEqual(range(1, streamOf(client, session_id).length));
  });

  test("SIGTERM does not wait for it; afterwards it is orphaned, its turn has one result, and the next one works", async () => {
    let client = await start({ BLEMEESD_SHUTDOWN_GRACE: "60" });
    const { session_id, row } = await waitingClaude(client);
    const stoppedMs = Date.now();
    await stop("SIGTERM", client);
    expect(Date.now() - stoppedMs).toBeLessThan(50_000);
    client = await start();
    await settledAs(client, session_id, row.request_id);
  });

  test("after kill -9 it is orphaned, its turn has one result, and the next one works", async () => {
    let client = await start();
    const { session_id, row } = await waitingClaude(client);
    await stop("SIGKILL", client);
    client = await start();
    await settledAs(client, session_id, row.request_id);
  });

  test("an answer that was given before the kill is still the answer after it", async () => {
    let client = await start();
    const { session_id, row } = await waitingDemo(client);
    const given = await respond(client, row, ACCEPT, { source: "tui" });
    await stop("SIGKILL", client);
    client = await start();
    const again = await respond(client, row, { decision: "decline" });
    // It may have been killed between the reply and the record that the agent has it; that is reported, not guessed.
    if (again["code"] === undefined) expect(again["request"]).toEqual(given["request"]);
    else expect(again).toMatchObject({ code: "request_orphaned", data: { request: { answer: ACCEPT } } });
    expect(await listed(client, { session_id })).toEqual([]);
  });

  test("without an answer in time it is declined by policy, reported, and a late answer gets that", async () => {
    const client = await start({ BLEMEESD_REQUEST_TIMEOUT: "0.3" });
    const { session_id, row } = await waitingDemo(client);
    expect(row.expires_at_ms).toBe(row.requested_at_ms + 300);
    const expired = await told(client, session_id, "expired");
    expect(expired).toMatchObject({ request_id: row.request_id, error_code: "request_expired" });
    expect(await told(client, session_id, "resolved")).toMatchObject({
      resolution_source: "policy",
      answer: { decision: "decline" },
      dispatched_at_ms: expect.any(Number),
    });
    await client.next(isOf("agent.result", session_id));
    expect(lastText(client, session_id)).toBe("It was declined. I did nothing.");
    expect(await respond(client, row, ACCEPT)).toMatchObject({
      type: "blemeesd.responded",
      repeated: true,
      request: { answer: { decision: "decline" }, resolution_source: "policy" },
    });
  });

  /** Conditions for a request after a restart that ended its agent. */
  async function settledAs(client: RawClient, session_id: string, request_id: string): Promise<void> {
    expect(await listed(client, {})).toEqual([]);
    const orphaned = { request_id, status: "orphaned", error_code: "server_restarted" };
    expect(await ledgerOf(client, session_id)).toMatchObject([orphaned]);
    expect(await respond(client, { session_id, request_id }, ACCEPT)).toMatchObject({
      code: "request_orphaned",
      data: { request: orphaned },
    });
    await client.open(session_id, { approvals: true }, { resume: true, last_seen_seq: 0 });
    expect(await client.turn(session_id, "#say again")).toMatchObject({ seq: expect.any(Number) });
    await client.next((frame) => frame.type === "agent.result" && frame["subtype"] === "success");
    const results = streamOf(client, session_id).filter((frame) => frame.type === "agent.result");
    expect(results).toHaveLength(2);
    expect(timesTold(client, session_id, "orphaned")).toBe(1);
    expect(seqsOf(client, session_id)).toEqual(range(1, streamOf(client, session_id).length));
    client.send({ type: "agent.user", session_id, message: { role: "user", content: "#ask mkdir x" } });
    const anew = await told(client, session_id, "pending");
    expect(anew.request_id).not.toBe(request_id);
    await respond(client, anew, ACCEPT);
    await client.next(isOf("agent.result", session_id));
    expect((await ledgerOf(client, session_id)).map(({ status }) => status)).toEqual([
      "orphaned",
      "resolved",
    ]);
  }
});
