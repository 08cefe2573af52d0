// The demo is a process that its sessions share (decision 0013): it ends with a killed daemon, and when it dies itself
// its sessions continue in another one.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startDaemon } from "../support/daemon.ts";
import type { Frame, RawClient } from "../support/raw-client.ts";
import { markedProcesses } from "./marked.ts";

function open(client: RawClient, session_id: string, more: object = {}): Promise<Frame> {
  return client.open(session_id, {}, { backend: "demo", options: { demo: { pace_ms: 0 } }, ...more });
}

async function startSlow(client: RawClient, session_id: string): Promise<void> {
  client.send({ type: "agent.user", session_id, message: { role: "user", content: "slow" } });
  await client.next((frame) => frame.type === "agent.delta" && frame["session_id"] === session_id);
}

const tokensOf = (result: Frame) => (result["usage"] as { input_tokens: number }).input_tokens;

describe.skipIf(process.platform !== "linux")("the demo agent (found through /proc)", () => {
  test("it is gone with a killed daemon, and the next daemon continues the conversation", async () => {
    const home = mkdtempSync(join(tmpdir(), "blemees-demo-"));
    // On pipes an agent ends with its daemon; how others go on is in test/outlive.
    const env = { BLEMEESD_AGENT_STDIO: "pipes" };
    const killed = await startDaemon({ home, env });
    const first = await killed.connect();
    const before = await open(first, "talk");
    const said = await first.turn("talk", "hello");
    await open(first, "busy");
    await startSlow(first, "busy");
    expect(markedProcesses(killed.socket).map(({ pid }) => pid)).toEqual([before["subprocess_pid"]]);
    await killed.kill("SIGKILL");
    await expect.poll(() => markedProcesses(killed.socket), { timeout: 45_000, interval: 10 }).toEqual([]);

    const daemon = await startDaemon({ home, env });
    const client = await daemon.connect();
    const after = await open(client, "talk", { resume: true, last_seen_seq: said["seq"] });
    expect(after["native_session_id"]).toBe(before["native_session_id"]);
    // The earlier conversation is sent to the model again.
    expect(tokensOf(await client.turn("talk", "hello"))).toBeGreaterThan(tokensOf(said));
    await open(client, "busy", { resume: true, last_seen_seq: 0 });
    expect(await client.next("agent.result")).toMatchObject({ error: { code: "backend_crashed" } });
    expect(await client.turn("busy", "hello")).toMatchObject({ subtype: "success" });
    expect(client.frames.filter((frame) => frame["category"] === "session_lost")).toEqual([]);
    await daemon.close();
  });

  test("when it dies, each turn gets its result, and all sessions continue in a new process", async () => {
    const daemon = await startDaemon();
    const client = await daemon.connect();
    const { subprocess_pid: pid } = await open(client, "idle");
    await open(client, "busy");
    await startSlow(client, "busy");
    process.kill(Number(pid), "SIGKILL");
    expect(await client.next("agent.result")).toMatchObject({
      session_id: "busy",
      subtype: "error",
      error: { code: "backend_crashed" },
    });
    for (const session_id of ["idle", "busy"]) {
      expect(await client.turn(session_id, "hello")).toMatchObject({ subtype: "success" });
    }
    const now = markedProcesses(daemon.socket).map((found) => found.pid);
    expect(now).toHaveLength(1);
    expect(now).not.toContain(pid);
    await daemon.close();
    expect(markedProcesses(daemon.socket)).toEqual([]);
  });
});
