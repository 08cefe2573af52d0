// Shared by the socket tests: one daemon per file, clients whose every frame is checked against the schemas.
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { type DaemonOptions, startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import type { Frame, RawClient } from "../../support/raw-client.ts";
import { checkOutbound } from "../../support/schemas.ts";

export interface SharedDaemon {
  readonly current: TestDaemon;
  /** A connection that has sent hello; closed and checked after the test. */
  connect(): Promise<RawClient>;
}

/** Starts a daemon for all tests of a file and stops it after them. */
export function useDaemon(options: DaemonOptions | (() => DaemonOptions) = {}): SharedDaemon {
  let daemon: TestDaemon | undefined;
  let clients: RawClient[] = [];
  const current = (): TestDaemon => {
    if (daemon === undefined) throw new Error("the daemon is started in beforeAll");
    return daemon;
  };
  beforeAll(async () => {
    daemon = await startDaemon(typeof options === "function" ? options() : options);
  });
  afterEach(() => {
    const mine = clients;
    clients = [];
    for (const client of mine) client.close();
    for (const client of mine) checkOutbound(client.frames);
  });
  afterAll(async () => {
    await daemon?.close();
  });
  return {
    get current() {
      return current();
    },
    async connect() {
      const client = await current().connect();
      clients.push(client);
      return client;
    },
  };
}

/** The agents are looked for while clients connect already; resolves when that is over and the fake Claude was found. */
export async function claudeFound(client: RawClient): Promise<void> {
  await until(
    async () => (await ask(client, "status"))["backends"] as Record<string, string>,
    (backends) => "claude" in backends && !Object.values(backends).includes("detecting"),
  );
}

/** A fresh session id; Claude accepts UUIDs only. */
export const newId = (): string => randomUUID();

/**
 * Opens a session of the demo backend. A fresh one has introduced itself when this resolves: then no unsolicited frames
 * follow.
 */
export async function openDemo(client: RawClient, session_id: string, more: object = {}): Promise<Frame> {
  const frame = { type: "blemeesd.open", session_id, backend: "demo", options: { demo: { pace_ms: 0 } } };
  const opened = await client.request({ ...frame, ...more } as { id?: string });
  if (opened.type === "blemeesd.opened" && !("resume" in more)) await introduced(client, session_id);
  return opened;
}

/** The last frame of the demo's introduction when it starts, also for a resumed session. */
export function introduced(client: RawClient, session_id: string, after = 0): Promise<Frame> {
  return client.next(
    (frame) =>
      isOf("agent.notice", session_id)(frame) &&
      frame["category"] === "available_commands" &&
      Number(frame["seq"]) > after,
  );
}

export const ask = (client: RawClient, type: string, fields: object = {}): Promise<Frame> =>
  client.request({ type: `blemeesd.${type}`, ...fields } as { id?: string });

export function say(client: RawClient, session_id: string, content: unknown): void {
  client.send({ type: "agent.user", session_id, message: { role: "user", content } });
}

/** Everything sent before has been answered when this resolves: frames that have not arrived by then never will. */
export async function barrier(client: RawClient): Promise<void> {
  const pong = await ask(client, "ping");
  expect(pong.type).toBe("blemeesd.pong");
}

/** The frames of a session's stream: those with a seq. */
export function streamOf(client: RawClient, session_id: string): Frame[] {
  return client.frames.filter((frame) => frame["session_id"] === session_id && "seq" in frame);
}

export const seqsOf = (client: RawClient, session_id: string): number[] =>
  streamOf(client, session_id).map((frame) => Number(frame["seq"]));

export function range(first: number, last: number): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}

/** A frame that has arrived already or arrives next, whatever was read before: for frames without a fixed order. */
export async function seen(client: RawClient, wants: (frame: Frame) => boolean): Promise<Frame> {
  return client.frames.find(wants) ?? client.next(wants);
}

export const isOf =
  (type: string, session_id: string) =>
  (frame: Frame): boolean =>
    frame.type === type && frame["session_id"] === session_id;

/** The text of the last agent.message of a session. */
export function lastText(client: RawClient, session_id: string): string {
  const message = client.frames.filter(isOf("agent.message", session_id)).at(-1);
  const blocks = (message?.["content"] ?? []) as { text?: string }[];
  return blocks.map((block) => block.text ?? "").join("");
}

/** Polls `info` until it shows what the test waits for; for changes that no frame announces. */
export async function until<T>(look: () => Promise<T>, wants: (value: T) => boolean): Promise<T> {
  const endMs = Date.now() + PATIENCE_MS;
  for (;;) {
    const value = await look();
    if (wants(value)) return value;
    if (Date.now() > endMs) throw new Error(`it did not come to that: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export const info = (client: RawClient, session_id: string): Promise<Frame> =>
  ask(client, "session_info", { session_id });
