// The client and the real daemon with a proxy between them that keeps cutting the connection. It once found a
// client that waited forever when a second cut came while it was attaching again.
import { createConnection, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CodedError, connect, type SessionFrame, type SessionHandle } from "../../src/client/index.ts";
import { DaemonProcess, isBuilt } from "./daemon-process.ts";

const SESSIONS = 4;
const TURNS = 5;
const CUTS = 40;
let daemon: DaemonProcess;
let proxy: CuttingProxy;
let client: Awaited<ReturnType<typeof connect>> | undefined;

class CuttingProxy {
  readonly path: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #left = CUTS;

  constructor(target: string) {
    this.path = `${target}.proxy`;
    this.#server = createServer((near) => {
      const far = createConnection(target);
      this.#sockets.add(near);
      near
        .on("error", () => undefined)
        .on("close", () => {
          this.#sockets.delete(near);
          far.destroy();
        });
      far.on("error", () => undefined).on("close", () => near.destroy());
      near.pipe(far);
      far.pipe(near);
    });
  }

  listen(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(this.path, resolve));
  }

  /** Called for every event that arrives, so cuts come while frames flow; a few hit the next connect too. */
  maybeCut(): void {
    if (this.#left === 0 || Math.random() > 0.15) return;
    this.#left -= 1;
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}

/** Runs the turns one after another; returns the seqs seen. A lost message is sent again. */
async function drive(session: SessionHandle, onEvent: () => void): Promise<number[]> {
  const seqs: number[] = [];
  for (let done = 0; done < TURNS; ) {
    try {
      for await (const frame of session.turn(`hello ${done}`)) {
        if ("seq" in frame && frame.seq !== undefined) seqs.push(frame.seq);
        onEvent();
      }
      done += 1;
    } catch (error) {
      if (!(error instanceof CodedError) || error.code !== "message_lost") throw error;
    }
  }
  return seqs;
}

/** All stored events of a session. */
async function logged(session_id: string): Promise<SessionFrame[]> {
  const reader = await connect({ socket: daemon.socket });
  const watch = await reader.watch(session_id, { last_seen_seq: 0 });
  const frames: SessionFrame[] = [];
  for await (const frame of watch.events()) {
    frames.push(frame);
    if (seqOf(frame) === watch.last_seq) break;
  }
  await reader.close();
  return frames;
}

const seqOf = (frame: SessionFrame) => ("seq" in frame ? (frame.seq ?? 0) : 0);

/** An agent's description of itself at its start, which is outside a turn. */
const isIntroduction = (frame: SessionFrame) =>
  frame.type === "agent.system_init" ||
  (frame.type === "agent.notice" && frame.category === "available_commands");

describe.runIf(isBuilt)("a connection that keeps being cut", () => {
  beforeEach(async () => {
    daemon = await DaemonProcess.start();
    proxy = new CuttingProxy(daemon.socket);
    await proxy.listen();
  });
  afterEach(async () => {
    await client?.close();
    proxy.close();
    await daemon.stop();
  });

  test("every turn ends, with every event once and in order", async () => {
    const connected = await connect({ socket: proxy.path, reconnect: { initialMs: 1, maxMs: 10 } });
    client = connected;
    // Not in a repository: its checkpoints could be skipped under load, and reported.
    const open = (_: unknown, at: number) =>
      connected.open({ session_id: `s${at}`, backend: "demo", options: { pace_ms: 1, cwd: tmpdir() } });
    const sessions = await Promise.all(Array.from({ length: SESSIONS }, open));
    const seen = await Promise.all(sessions.map((session) => drive(session, () => proxy.maybeCut())));
    for (const [at, seqs] of seen.entries()) {
      expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
      const frames = await logged(`s${at}`);
      expect(frames.map(seqOf)).toEqual(frames.map((_, index) => index + 1));
      const missed = frames.filter((frame) => !seqs.includes(seqOf(frame)));
      expect(missed.filter((frame) => !isIntroduction(frame))).toEqual([]);
      // No message was run twice.
      expect(frames.filter(({ type }) => type === "agent.result")).toHaveLength(TURNS);
    }
  });
});
