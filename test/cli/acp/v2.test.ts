// The draft v2 of the protocol: `sm acp --v2` against the real daemon and its demo agent, and updates of v1 in its terms.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AnyMessage } from "@agentclientprotocol/sdk";
import { type ClientContext, client, type SessionUpdate } from "@agentclientprotocol/sdk/experimental/v2";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { HttpClient } from "../../../src/client/index.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { PATIENT } from "../../support/patience.ts";
import { BuiltProgram } from "../built-program.ts";
import { Editor, streamOf } from "./editor.ts";
import { Validator } from "./validator.ts";

let program: BuiltProgram;
let daemon: TestDaemon;
let cwd: string;

beforeAll(async () => {
  program = new BuiltProgram("sm");
  cwd = realpathSync(mkdtempSync(join(tmpdir(), "acp2-")));
  daemon = await startDaemon();
});
afterAll(async () => {
  await daemon.close();
  program.remove();
  rmSync(cwd, { recursive: true, force: true });
});

class EditorV2 {
  readonly agent: ClientContext;
  readonly validator = new Validator("v2");
  readonly updates: SessionUpdate[] = [];
  readonly asked: string[] = [];
  readonly cancelled: string[] = [];
  readonly #end: () => void;

  constructor() {
    const child = program.start(daemon.socket, ["acp", "--v2", "--agent", "demo"]);
    const stream = streamOf(child);
    const tap = (take: (message: AnyMessage) => void) =>
      new TransformStream<AnyMessage, AnyMessage>({
        transform: (message, controller) => {
          take(message);
          controller.enqueue(message);
        },
      });
    const sent = tap((message) => this.validator.sent(message));
    void sent.readable.pipeTo(stream.writable).catch(() => undefined);
    const readable = stream.readable.pipeThrough(tap((message) => this.validator.received(message)));
    this.agent = client({ name: "editor" })
      .onNotification("session/update", ({ params }) => void this.updates.push(params.update))
      .onRequest("session/request_permission", ({ params, signal }) => {
        this.asked.push(params.title);
        return new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            this.cancelled.push(params.title);
            resolve({ outcome: { outcome: "cancelled" } });
          });
        });
      })
      .connect({ writable: sent.writable, readable }).agent;
    this.#end = () => child.stdin.end();
  }

  async initialize() {
    return this.agent.request("initialize", {
      protocolVersion: 2,
      info: { name: "editor", version: "1" },
      capabilities: {},
    });
  }

  prompt(sessionId: string, text: string) {
    return this.agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  }

  text(kind: string): string {
    return this.updates
      .map((update) => {
        const { sessionUpdate, content } = update as { sessionUpdate: string; content?: { text?: string } };
        return sessionUpdate === kind ? (content?.text ?? "") : "";
      })
      .join("");
  }

  get states(): unknown[] {
    return this.updates.filter(({ sessionUpdate }) => sessionUpdate === "state_update");
  }

  close(): void {
    this.#end();
  }
}

const IDLE = { sessionUpdate: "state_update", state: "idle", stopReason: "end_turn" };

test("a prompt is acknowledged, states follow, and a second editor resumes with the history", async () => {
  const one = new EditorV2();
  expect(await one.initialize()).toMatchObject({ protocolVersion: 2, info: { name: "blemees" } });
  const { sessionId, configOptions } = await one.agent.request("session/new", { cwd });
  expect(configOptions).toMatchObject([{ configId: "agent", currentValue: "demo" }]);
  const { messageId } = await one.prompt(sessionId, "approve");
  await vi.waitFor(() => expect(one.asked).toEqual(["rm -rf build"]), PATIENT);
  await vi.waitFor(() => expect(one.states.at(-1)).toMatchObject({ state: "requires_action" }), PATIENT);
  expect(one.updates).toContainEqual(
    expect.objectContaining({ sessionUpdate: "user_message_chunk", messageId }),
  );

  const two = new EditorV2();
  await two.initialize();
  await two.agent.request("session/resume", { sessionId, cwd, replayFrom: { type: "start" } });
  expect(two.text("user_message_chunk")).toBe("approve");
  await vi.waitFor(() => expect(two.asked).toHaveLength(1), PATIENT);

  const http = new HttpClient({ socket: daemon.socket });
  const [row] = await http.allRequests({ session_id: sessionId });
  await http.respond(sessionId, row?.request_id ?? "", { decision: "accept" });
  for (const editor of [one, two]) {
    await vi.waitFor(() => expect(editor.states.at(-1)).toEqual(IDLE), PATIENT);
    expect(editor.cancelled).toEqual(["rm -rf build"]);
    expect(editor.text("agent_message_chunk")).toMatch(/It was allowed/);
  }
  // The same ids in both, so that a text is one message however it was read.
  const ids = ({ updates }: EditorV2) =>
    updates.flatMap((update) => ("messageId" in update ? [update.messageId] : []));
  expect(ids(two)).toEqual(ids(one));

  const three = new EditorV2();
  await three.initialize();
  await three.agent.request("session/resume", { sessionId, cwd });
  expect(three.updates).toEqual([{ sessionUpdate: "state_update", state: "idle" }]);
  for (const editor of [one, two, three]) {
    expect(editor.validator.faults).toEqual([]);
    editor.close();
  }
});

test("an editor that speaks v1 is not affected by the flag, and v2 without it falls back to v1", async () => {
  const editor = new Editor(program.start(daemon.socket, ["acp", "--v2", "--agent", "demo"]));
  expect(await editor.initialize()).toMatchObject({ protocolVersion: 1 });
  const id = await editor.create(cwd);
  expect(await editor.prompt(id, "hello")).toEqual({ stopReason: "end_turn" });
  editor.expectValid();
  await editor.close();
  const plain = new Editor(program.start(daemon.socket, ["acp", "--agent", "demo"]));
  const asked = { protocolVersion: 2, clientInfo: { name: "editor", version: "1" } };
  expect(await plain.agent.request("initialize", asked)).toMatchObject({ protocolVersion: 1 });
  await plain.close();
});
