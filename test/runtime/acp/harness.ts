// A client of the SDK in front of serveAcp, over pipes in memory. Every frame of the agent is recorded.
import type { ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable, Transform, Writable } from "node:stream";
import {
  type AnyMessage,
  type ClientCapabilities,
  type ClientContext,
  type CreateElicitationResponse,
  client,
  type NewSessionResponse,
  ndJsonStream,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { onTestFinished } from "vitest";
import type { SessionModelState } from "../../../src/runtime/acp/choices.ts";
import { type AcpFlags, serveAcp } from "../../../src/runtime/acp/index.ts";
import { FakeRuntimes } from "./fake-runtime.ts";

export type Frame = Record<string, unknown> & {
  id?: unknown;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: unknown };
};

export interface HarnessOrder {
  capabilities?: ClientCapabilities;
  flags?: AcpFlags;
  home?: string;
  fakes?: FakeRuntimes;
  cwd?: string;
  /** A process to talk to, instead of serveAcp in this one. */
  child?: ChildProcessByStdio<Writable, Readable, null>;
}

/** As our own client announces it. */
const ANNOUNCED = { demian: { events: true, notices: true } };

export class Harness {
  readonly fakes: FakeRuntimes;
  readonly home: string;
  readonly cwd: string;
  readonly frames: Frame[] = [];
  readonly warnings: string[] = [];
  readonly permissions: RequestPermissionRequest[] = [];
  readonly done: Promise<void>;
  readonly agent: ClientContext;
  readonly input: Writable;
  readonly output: Readable;
  onPermission: (
    request: RequestPermissionRequest,
    signal: AbortSignal,
  ) => RequestPermissionResponse | Promise<RequestPermissionResponse> = () => selected("allow_once");
  onElicitation: (params: unknown) => CreateElicitationResponse = () => ({ action: "decline" });
  readonly stop = new AbortController();
  /** The client reads no more until this resolves. */
  held: Promise<void> = Promise.resolve();
  readonly #waiters: { matches: (frame: Frame) => boolean; resolve: (frame: Frame) => void }[] = [];

  constructor(order: HarnessOrder = {}) {
    this.fakes = order.fakes ?? new FakeRuntimes();
    this.home = order.home ?? temporary();
    this.cwd = order.cwd ?? temporary();
    if (order.child !== undefined) {
      this.input = order.child.stdin;
      this.output = order.child.stdout;
      this.done = once(order.child, "exit").then(() => undefined);
    } else {
      const input = new PassThrough();
      const output = new PassThrough();
      this.input = input;
      this.output = output;
      this.done = serveAcp({
        input,
        output,
        env: { HOME: this.home, XDG_STATE_HOME: join(this.home, "state") },
        flags: order.flags ?? {},
        version: "1.2.3",
        warn: (message) => void this.warnings.push(message),
        createRuntime: this.fakes.create,
        signal: this.stop.signal,
      });
    }
    const valve = new Transform({
      transform: (chunk, _encoding, pass) => void this.held.then(() => pass(null, chunk)),
    });
    const stream = ndJsonStream(
      Writable.toWeb(this.input),
      Readable.toWeb(this.output.pipe(valve)) as ReadableStream<Uint8Array>,
    );
    const tap = new TransformStream<AnyMessage, AnyMessage>({
      transform: (message, controller) => {
        this.#saw(message as unknown as Frame);
        controller.enqueue(message);
      },
    });
    this.agent = client({ name: "test" })
      .onNotification("session/update", () => undefined)
      .onRequest("session/request_permission", ({ params, signal }) => {
        this.permissions.push(params);
        return this.onPermission(params, signal);
      })
      .onRequest("elicitation/create", ({ params }) => this.onElicitation(params))
      .connect({ writable: stream.writable, readable: stream.readable.pipeThrough(tap) }).agent;
  }

  /** Initialized, and ready for sessions. */
  static async start(order: HarnessOrder = {}): Promise<Harness> {
    const harness = new Harness(order);
    onTestFinished(async () => {
      harness.input.end();
      await harness.done;
    });
    await harness.initialize({ _meta: ANNOUNCED, ...order.capabilities });
    return harness;
  }

  initialize(clientCapabilities: ClientCapabilities = {}) {
    return this.agent.request("initialize", { protocolVersion: 1, clientCapabilities });
  }

  async open(meta?: Record<string, unknown>): Promise<NewSessionResponse & { models: SessionModelState }> {
    const answer = await this.agent.request("session/new", {
      cwd: this.cwd,
      mcpServers: [],
      ...(meta && { _meta: { blemees: meta } }),
    });
    return answer as NewSessionResponse & { models: SessionModelState };
  }

  prompt(sessionId: string, text: string) {
    return this.agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  }

  cancel(sessionId: string) {
    return this.agent.notify("session/cancel", { sessionId });
  }

  /** The updates of a session so far, in the order in which they were written. */
  updates(sessionId: string): SessionUpdate[] {
    return this.frames.flatMap(({ method, params }) =>
      method === "session/update" && params?.["sessionId"] === sessionId
        ? [params["update"] as SessionUpdate]
        : [],
    );
  }

  ofKind<Kind extends SessionUpdate["sessionUpdate"]>(sessionId: string, kind: Kind) {
    return this.updates(sessionId).filter(
      (update): update is Extract<SessionUpdate, { sessionUpdate: Kind }> => update.sessionUpdate === kind,
    );
  }

  /** The first frame that fits, of those that came and those that will come. */
  frame(matches: (frame: Frame) => boolean): Promise<Frame> {
    const found = this.frames.find(matches);
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve) => this.#waiters.push({ matches, resolve }));
  }

  update(matches: (update: SessionUpdate) => boolean): Promise<Frame> {
    return this.frame(
      ({ method, params }) => method === "session/update" && matches(params?.["update"] as SessionUpdate),
    );
  }

  #saw(frame: Frame): void {
    this.frames.push(frame);
    for (const waiter of this.#waiters) if (waiter.matches(frame)) waiter.resolve(frame);
  }
}

export function selected(optionId: string): RequestPermissionResponse {
  return { outcome: { outcome: "selected", optionId } };
}

export function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), "demian-acp-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** The code, the message and the data of the error that a request ends with. */
export async function errorOf(
  request: Promise<unknown>,
): Promise<{ code: number; message: string; data?: unknown }> {
  try {
    await request;
  } catch (error) {
    const { code, message, data } = error as { code: number; message: string; data?: unknown };
    return { code, message, data };
  }
  throw new Error("the request was answered, but should have failed");
}

/** Resolves when the turn is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
