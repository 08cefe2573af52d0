// A daemon that shuts down does not wait for a client that was notified and does not disconnect.
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { listenOnSocket } from "../../../src/servers/socket/index.ts";
import type { ServerContext } from "../../../src/servers/types.ts";

const home = mkdtempSync(join(tmpdir(), "good-bye-"));
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(home, { recursive: true, force: true });
});

/** From now on every longer wait lasts forever. */
function stopTheClock(): void {
  const real = globalThis.setTimeout;
  const never = ((wake: () => void, ms = 0) => real(wake, ms < 500 ? ms : 2 ** 30).unref()) as typeof real;
  vi.spyOn(globalThis, "setTimeout").mockImplementation(never);
}

test("an idle client that keeps its side open is notified, and not waited for", async () => {
  const path = join(home, "d.sock");
  const facts = { daemon: "d/1", pid: 1, backends: () => ({}), detected: () => Promise.resolve() };
  const context = { hub: { detach: () => undefined }, log: silentLog, facts } as unknown as ServerContext;
  const limits = { maxLineBytes: 1e6, outboxBytes: 1e6, helloTimeoutMs: 60_000, slowConsumerMs: 60_000 };
  // A worker of the tests cannot have a umask of its own.
  vi.spyOn(process, "umask").mockReturnValue(0o22);
  const listening = await listenOnSocket({ path, maxConnections: 8, ...limits }, context);
  const client = connect({ path, allowHalfOpen: true });
  const ended = new Promise((resolve) => client.once("end", resolve));
  let heard = "";
  client.on("data", (chunk: Buffer) => {
    heard += chunk.toString();
  });
  client.write('{"type":"blemeesd.hello","protocol":"blemees/2"}\n');
  await vi.waitFor(() => expect(heard).toContain("hello_ack"));
  stopTheClock();
  listening.dismiss();
  await listening.close();
  await ended;
  expect(heard).toContain('"code":"daemon_shutdown"');
  client.destroy();
});
