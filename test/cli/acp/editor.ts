// An editor for tests: a client of the SDK at the other end of `sm acp`. Each frame from the agent is recorded as it came.
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { Readable, Writable } from "node:stream";
import {
  type AnyMessage,
  type ClientContext,
  type CreateElicitationResponse,
  client,
  ndJsonStream,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
  type Stream,
} from "@agentclientprotocol/sdk";
import { expect, vi } from "vitest";
import { asObject } from "../../../src/base/values.ts";
import { PATIENT } from "../../support/patience.ts";
import { Validator } from "./validator.ts";

export class Editor {
  readonly agent: ClientContext;
  readonly frames: AnyMessage[] = [];
  /** What the SDK accepted; it drops updates that are not valid. */
  readonly accepted: { sessionId: string; update: SessionUpdate }[] = [];
  readonly permissions: RequestPermissionRequest[] = [];
  readonly cancelled: string[] = [];
  readonly elicitations: unknown[] = [];
  stderr = "";
  onPermission: (request: RequestPermissionRequest) => Promise<RequestPermissionResponse> = () => never();
  onElicitation: () => CreateElicitationResponse = () => ({ action: "cancel" });
  readonly #validator = new Validator("v1");
  readonly #end: () => Promise<number | null>;

  /** At the other end of a program, or of any other stream of messages. */
  constructor(to: ChildProcessWithoutNullStreams | { stream: Stream }) {
    const stream = "stream" in to ? to.stream : streamOf(to);
    const tap = new TransformStream<AnyMessage, AnyMessage>({
      transform: (message, controller) => {
        this.frames.push(message);
        this.#validator.received(message);
        controller.enqueue(message);
      },
    });
    const sent = new TransformStream<AnyMessage, AnyMessage>({
      transform: (message, controller) => {
        this.#validator.sent(message);
        controller.enqueue(message);
      },
    });
    void sent.readable.pipeTo(stream.writable).catch(() => undefined);
    const connection = client({ name: "editor" })
      .onNotification("session/update", ({ params }) => void this.accepted.push(params))
      .onRequest("session/request_permission", ({ params, signal }) => {
        this.permissions.push(params);
        const id = String(asObject(params._meta?.["blemees"])["requestId"]);
        signal.addEventListener("abort", () => this.cancelled.push(id));
        return this.onPermission(params);
      })
      .onRequest("elicitation/create", ({ params }) => {
        this.elicitations.push(params);
        return this.onElicitation();
      })
      .connect({ writable: sent.writable, readable: stream.readable.pipeThrough(tap) });
    this.agent = connection.agent;
    if ("stream" in to) {
      this.#end = async () => {
        connection.close();
        return 0;
      };
      return;
    }
    to.stderr.on("data", (chunk) => {
      this.stderr += chunk;
    });
    this.#end = async () => {
      to.stdin.end();
      if (to.exitCode === null && to.signalCode === null) await once(to, "exit");
      return to.exitCode;
    };
  }

  initialize(clientCapabilities = {}) {
    return this.agent.request("initialize", { protocolVersion: 1, clientCapabilities });
  }

  async create(cwd: string): Promise<string> {
    return (await this.agent.request("session/new", { cwd, mcpServers: [] })).sessionId;
  }

  load(sessionId: string, cwd: string) {
    return this.agent.request("session/load", { sessionId, cwd, mcpServers: [] });
  }

  prompt(sessionId: string, text: string) {
    return this.agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  }

  updates(sessionId: string): SessionUpdate[] {
    return this.accepted.flatMap((one) => (one.sessionId === sessionId ? [one.update] : []));
  }

  /** The texts of one kind of chunk, joined. */
  text(sessionId: string, kind = "agent_message_chunk"): string {
    return this.updates(sessionId)
      .flatMap((update) =>
        update.sessionUpdate === kind && "content" in update && !Array.isArray(update.content)
          ? [update.content]
          : [],
      )
      .map((content) => (content?.type === "text" ? content.text : ""))
      .join("");
  }

  async asked(count: number): Promise<void> {
    await vi.waitFor(() => expect(this.permissions).toHaveLength(count), PATIENT);
  }

  /** Every frame of the agent is valid by the published schema, and the SDK accepted every update. */
  expectValid(): void {
    expect(this.#validator.faults).toEqual([]);
    const sent = this.frames.filter((frame) => "method" in frame && frame.method === "session/update");
    expect(this.accepted).toHaveLength(sent.length);
  }

  close(): Promise<number | null> {
    return this.#end();
  }
}

export function streamOf({ stdin, stdout }: ChildProcessWithoutNullStreams): Stream {
  return ndJsonStream(Writable.toWeb(stdin), Readable.toWeb(stdout) as ReadableStream<Uint8Array>);
}

export function select(optionId: string): RequestPermissionResponse {
  return { outcome: { outcome: "selected", optionId } };
}

function never(): Promise<RequestPermissionResponse> {
  return new Promise(() => undefined);
}
