// The real claude behind the real daemon, with a scripted model, a home of its own and nothing of the user's.
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import type { Frame, RawClient } from "../../support/raw-client.ts";
import { checkOutbound } from "../../support/schemas.ts";
import { type MockAnthropic, startMockAnthropic } from "../../tools/mock-anthropic.mjs";

export interface World {
  readonly model: MockAnthropic;
  readonly cwd: string;
  daemon: TestDaemon;
  /** A connection whose frames are all checked when the world ends. */
  connect(): Promise<RawClient>;
  /** A session on a connection of its own. */
  session(options?: Record<string, unknown>): Promise<Talk>;
  /** Ends the daemon so and starts the next one in the same directories. */
  restart(signal: NodeJS.Signals): Promise<void>;
  close(): Promise<void>;
}

/** A session and the connection that owns it. */
export interface Talk {
  readonly client: RawClient;
  readonly session_id: string;
  readonly opened: Frame;
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

export async function openWorld(env: Record<string, string> = {}): Promise<World> {
  const claude = process.env["E2E_CLAUDE"];
  if (claude === undefined) throw new Error("E2E_CLAUDE is not set: run `npm run test:e2e`");
  const model = await startMockAnthropic();
  const home = realpathSync(mkdtempSync(join(tmpdir(), "blemees-e2e-")));
  const cwd = join(home, "project");
  const temp = join(home, "tmp");
  for (const dir of [cwd, temp]) mkdirSync(dir);
  const clients: RawClient[] = [];
  const start = () =>
    startDaemon({ home, env: { ...claudeEnvironment(claude, model.url), TMPDIR: temp, ...env } });
  const world: World = {
    model,
    cwd,
    daemon: await start(),
    async connect() {
      const client = await world.daemon.connect();
      clients.push(client);
      return client;
    },
    async session(options = {}) {
      const session_id = randomUUID();
      const client = await world.connect();
      const base = { cwd, permission_mode: "bypassPermissions", include_partial_messages: true };
      const opened = await client.open(session_id, { ...base, ...options });
      return talkOn(client, session_id, opened);
    },
    async restart(signal) {
      await world.daemon.kill(signal);
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
      // By its id: a turn that claude began by itself may end just now.
      const isOurs = (frame: Frame) =>
        frame["session_id"] === session_id && client.frames.lastIndexOf(frame) >= from;
      const started = await client.next((frame) => isOurs(frame) && isUserTurn(frame));
      const { turn_id } = started["data"] as { turn_id: string };
      const result = await client.next(
        (frame) => frame.type === "agent.result" && frame["turn_id"] === turn_id,
      );
      const frames = client.frames.slice(from, client.frames.indexOf(result) + 1);
      return { result, frames, text: textOf(frames) };
    },
  };
}

function isUserTurn(frame: Frame): boolean {
  return frame["category"] === "task_started" && (frame["data"] as { origin?: string }).origin === undefined;
}

/** Takes a session over, or up again, on a new connection, from where the old one stood. */
export async function resume(world: World, talk: Talk, more: object = {}): Promise<Talk> {
  const client = await world.connect();
  const last_seen_seq = Math.max(0, ...talk.client.frames.map((frame) => Number(frame["seq"] ?? 0)));
  const opened = await client.open(talk.session_id, {}, { resume: true, last_seen_seq, ...more });
  return talkOn(client, talk.session_id, opened);
}

/** The text of the last whole message among these frames that has any. */
export function textOf(frames: readonly Frame[]): string {
  const messages = frames.filter((frame) => frame.type === "agent.message");
  const texts = messages.map((frame) => {
    const blocks = frame["content"] as { type: string; text?: string }[];
    return blocks.flatMap((block) => (block.type === "text" ? [block.text ?? ""] : [])).join("");
  });
  return texts.findLast((text) => text !== "") ?? "";
}

export function ofType(frames: readonly Frame[], type: string): Frame[] {
  return frames.filter((frame) => frame.type === type);
}

/** facts §1.1: no account, no traffic to anybody else, no minutes of retries. */
function claudeEnvironment(claude: string, url: string): Record<string, string> {
  return {
    BLEMEESD_CLAUDE: claude,
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: "sk-ant-mock",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_ERROR_REPORTING: "1",
    DISABLE_AUTOUPDATER: "1",
    DISABLE_GROWTHBOOK: "1",
    CLAUDE_CODE_MAX_RETRIES: "1",
    IS_SANDBOX: "1",
  };
}
