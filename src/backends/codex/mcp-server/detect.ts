// Whether this codex has an `mcp-server`, and its version: by handshake, never by `--version`.
import { type Child, startChild, waitAtMost } from "../../../base/child.ts";
import { JsonRpcPeer } from "../../../base/jsonrpc.ts";
import { processEnvironment } from "../environment.ts";
import type { CodexProgram } from "../program.ts";
import { shakeHands } from "./handshake.ts";
import { createMessageReader } from "./messages.ts";

const LIMIT_MS = 5000;
/** For a server that has the tools but no version. */
const NO_VERSION = "0";

/** Undefined if it has none, or did not answer in time. Never throws; leaves no process. */
export async function detectMcp(program: CodexProgram): Promise<string | undefined> {
  let child: Child | undefined;
  const peer = new JsonRpcPeer({
    write: async (line) => child?.write(line),
    handlers: { notification: () => undefined, request: () => undefined },
    withVersion: true,
  });
  const reader = createMessageReader(program.maxLineBytes, {
    message: (message) => peer.receive(message),
    skipped: () => undefined,
    foreignFraming: () => peer.close(new Error("not one message per line")),
  });
  try {
    const env = processEnvironment(program.env, {});
    const started = await startChild(
      { command: program.command, args: ["mcp-server"], env },
      {
        output: (chunk) => reader.push(chunk),
        errorLine: () => undefined,
        outputEnd: () => peer.close(new Error("it closed its output")),
      },
    );
    child = started;
    let version: string | undefined;
    const shaken = shakeHands(peer, LIMIT_MS).then((server) => {
      version = server.version ?? NO_VERSION;
    });
    await waitAtMost(LIMIT_MS, shaken);
    return version;
  } catch {
    // Not a codex that we can use this way.
    return undefined;
  } finally {
    peer.close(new Error("detection has ended"));
    await child?.stop();
  }
}
