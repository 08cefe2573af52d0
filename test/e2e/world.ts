// A real agent under the real daemon, with a scripted model, its own home and nothing of the user's.
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { killLeft } from "../outlive/proof.ts";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import type { Frame, RawClient } from "../support/raw-client.ts";
import { checkOutbound } from "../support/schemas.ts";

/** What differs from agent to agent. */
export interface Setting<M> {
  /** The name on the wire. */
  backend: string;
  model: M;
  /** How long a resume may take; absent: as long as any frame. */
  resumeMs?: number;
  /** Creates what the agent needs below the home; returns the daemon's environment and the options of a session. */
  furnish(home: string, cwd: string): { env: Record<string, string>; options: Record<string, unknown> };
}

export interface World<M> {
  readonly model: M;
  readonly backend: string;
  readonly home: string;
  readonly cwd: string;
  readonly resumeMs: number | undefined;
  daemon: TestDaemon;
  /** A connection whose frames are all checked when the world ends. */
  connect(): Promise<RawClient>;
  open(client: RawClient, session_id: string, options?: object, more?: object): Promise<Frame>;
  /** A session on its own connection. */
  session(options?: Record<string, unknown>): Promise<Talk>;
  /**
   * Ends the daemon with this signal and starts the next one in the same directories. SIGKILL also ends its agents, as in
   * a crash of the machine; in test/e2e/outlive they survive.
   */
  restart(signal: NodeJS.Signals): Promise<void>;
  close(): Promise<void>;
}

/** A session and the connection that owns it. */
export interface Talk {
  readonly client: RawClient;
  readonly session_id: string;
  readonly opened: Frame;
  /** Waits for the end of the turn. Fails if the agent asks: the turn would wait for an answer. */
  say(content: unknown): Promise<Turn>;
  send(content: unknown): void;
  until(wants: (frame: Frame) => boolean): Promise<Frame>;
}

export interface Turn {
  result: Frame;
  frames: Frame[];
  /** The text of the last answer. */
  text: string;
}

export async function createWorld<M extends { close(): Promise<void> }>(
  setting: Setting<M>,
): Promise<World<M>> {
  const { backend, model } = setting;
  const home = realpathSync(mkdtempSync(join(tmpdir(), "blemees-e2e-")));
  const cwd = join(home, "project");
  const temp = join(home, "tmp");
  for (const dir of [cwd, temp]) mkdirSync(dir);
  const { env, options: usual } = setting.furnish(home, cwd);
  const clients: RawClient[] = [];
  const start = () => startDaemon({ home, env: { ...env, TMPDIR: temp } });
  const world: World<M> = {
    model,
    backend,
    home,
    cwd,
    resumeMs: setting.resumeMs,
    daemon: await start(),
    async connect() {
      const client = await world.daemon.connect();
      clients.push(client);
      return client;
    },
    open: (client, session_id, options = {}, more = {}) =>
      client.open(session_id, {}, { backend, options: { [backend]: options }, ...more }),
    async session(options = {}) {
      const session_id = randomUUID();
      const client = await world.connect();
      const opened = await world.open(client, session_id, { ...usual, ...options });
      expect(opened).toMatchObject({ type: "blemeesd.opened" });
      return talkOn(client, session_id, opened);
    },
    async restart(signal) {
      await world.daemon.kill(signal);
      if (signal === "SIGKILL") killLeft(home);
      world.daemon = await start();
    },
    async close() {
      await world.daemon.close();
      await model.close();
      rmSync(home, { recursive: true, force: true, maxRetries: 5 });
      for (const client of clients) checkOutbound(client.frames);
      expect(world.daemon.log()).not.toContain('"event":"internal"');
    },
  };
  return world;
}

export function talkOn(client: RawClient, session_id: string, opened: Frame): Talk {
  const send = (content: unknown) =>
    client.send({ type: "agent.user", session_id, message: { role: "user", content } });
  return {
    client,
    session_id,
    opened,
    send,
    until: (wants) => client.next((frame) => frame["session_id"] === session_id && wants(frame)),
    async say(content) {
      const from = client.frames.length;
      send(content);
      // By its id: a turn that the agent began on its own may end just now.
      const isOurs = (frame: Frame) =>
        frame["session_id"] === session_id && client.frames.lastIndexOf(frame) >= from;
      const started = await client.next((frame) => isOurs(frame) && (isUserTurn(frame) || isRefusal(frame)));
      expect(started).toMatchObject({ category: "task_started" });
      const { turn_id } = started["data"] as { turn_id: string };
      const result = await client.next(
        (frame) =>
          (frame.type === "agent.result" && frame["turn_id"] === turn_id) ||
          (isOurs(frame) && frame["category"] === "request_pending"),
      );
      if (result.type !== "agent.result")
        throw new Error(
          `the agent asked after ${JSON.stringify(content)}: ${JSON.stringify(result["data"])}`,
        );
      const frames = client.frames.slice(from, client.frames.indexOf(result) + 1);
      return { result, frames, text: textOf(frames) };
    },
  };
}

/** A turn has begun for one of our messages. */
export function isUserTurn(frame: Frame): boolean {
  return frame["category"] === "task_started" && (frame["data"] as { origin?: string }).origin === undefined;
}

/** Otherwise the next turn of any client would pass for that of a refused message. */
export function isRefusal(frame: Frame): boolean {
  return frame.type === "blemeesd.error" && frame["seq"] === undefined;
}

/** Takes over or resumes a session on a new connection, from the last seq of the old one. */
export async function resume<M>(world: World<M>, talk: Talk, more: object = {}): Promise<Talk> {
  const client = await world.connect();
  const last_seen_seq = Math.max(0, ...talk.client.frames.map((frame) => Number(frame["seq"] ?? 0)));
  const { patienceMs } = client;
  client.patienceMs = world.resumeMs ?? patienceMs;
  const opened = await world.open(client, talk.session_id, {}, { resume: true, last_seen_seq, ...more });
  client.patienceMs = patienceMs;
  return talkOn(client, talk.session_id, opened);
}

/** The text of the last complete message among these frames that has any, without those of sub-agents. */
export function textOf(frames: readonly Frame[]): string {
  const messages = frames.filter(
    (frame) => frame.type === "agent.message" && frame["parent_tool_use_id"] === undefined,
  );
  const texts = messages.map((frame) => {
    const blocks = frame["content"] as { type: string; text?: string }[];
    return blocks.flatMap((block) => (block.type === "text" ? [block.text ?? ""] : [])).join("");
  });
  return texts.findLast((text) => text !== "") ?? "";
}

export function ofType(frames: readonly Frame[], type: string): Frame[] {
  return frames.filter((frame) => frame.type === type);
}
