// `sm acp` against the real daemon and its demo agent: the verbs of an editor, two editors on one session, and a daemon
// that is killed meanwhile.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { HttpClient } from "../../../src/client/index.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { PATIENT } from "../../support/patience.ts";
import { BuiltProgram } from "../built-program.ts";
import { Editor, select } from "./editor.ts";

let program: BuiltProgram;
let daemon: TestDaemon;
let http: HttpClient;
let cwd: string;
const editors: Editor[] = [];

beforeAll(() => {
  program = new BuiltProgram("sm");
});
afterAll(() => program.remove());
beforeEach(async () => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), "acp-")));
  daemon = await startDaemon();
  http = new HttpClient({ socket: daemon.socket });
});
afterEach(async () => {
  await Promise.all(editors.splice(0).map((editor) => editor.close()));
  await daemon.close();
  rmSync(cwd, { recursive: true, force: true });
});

async function openEditor(capabilities = {}): Promise<Editor> {
  const editor = new Editor(program.start(daemon.socket, ["acp", "--agent", "demo"]));
  editors.push(editor);
  await editor.initialize(capabilities);
  return editor;
}

test("says what it can do, and chooses the agent before the first prompt", async () => {
  const editor = new Editor(program.start(daemon.socket, ["acp", "--agent", "demo"]));
  editors.push(editor);
  expect(await editor.initialize()).toMatchObject({
    protocolVersion: 1,
    agentInfo: { name: "blemees" },
    agentCapabilities: {
      loadSession: true,
      sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
    },
  });
  const { sessionId, configOptions } = await editor.agent.request("session/new", { cwd, mcpServers: [] });
  expect(configOptions).toMatchObject([
    { id: "agent", currentValue: "demo", options: [{ value: "claude" }, { value: "demo" }] },
  ]);
  const choose = (value: string) =>
    editor.agent.request("session/set_config_option", { sessionId, configId: "agent", value });
  expect((await choose("claude")).configOptions).toMatchObject([{ currentValue: "claude" }]);
  expect((await choose("demo")).configOptions).toMatchObject([{ currentValue: "demo" }]);
  await expect(choose("nobody")).rejects.toMatchObject({
    code: -32602,
    message: /no agent "nobody"; installed: /,
  });
  expect(await editor.prompt(sessionId, "hello")).toEqual({ stopReason: "end_turn" });
  expect(await http.session(sessionId)).toMatchObject({ backend: "demo", cwd });
  await expect(choose("claude")).rejects.toMatchObject({
    message: /cannot be changed after its first prompt/,
  });
  editor.expectValid();
});

test("a prompt streams its answer and its tool calls, and ends with the turn", async () => {
  const editor = await openEditor();
  const id = await editor.create(cwd);
  expect(await editor.prompt(id, "use a tool")).toEqual({ stopReason: "end_turn" });
  expect(editor.text(id)).toMatch(/The demo clock says/);
  const calls = editor.updates(id).filter(({ sessionUpdate }) => sessionUpdate.startsWith("tool_call"));
  expect(calls).toMatchObject([
    { sessionUpdate: "tool_call", name: "demo_clock", status: "in_progress" },
    { sessionUpdate: "tool_call_update", status: "completed" },
  ]);
  // Its own message is not repeated to the editor that sent it.
  expect(editor.text(id, "user_message_chunk")).toBe("");
  editor.expectValid();
});

test("lists sessions, loads one with its history, resumes one without, detaches and deletes", async () => {
  const first = await openEditor();
  const id = await first.create(cwd);
  await first.prompt(id, "hello");
  await first.agent.request("session/close", { sessionId: id });
  expect(await http.session(id)).toMatchObject({ activity_state: "idle" });

  const second = await openEditor();
  const { sessions } = await second.agent.request("session/list", { cwd });
  expect(sessions).toMatchObject([
    { sessionId: id, cwd, _meta: { blemees: { agent: "demo", state: "idle" } } },
  ]);
  expect((await second.agent.request("session/list", { cwd: "/nowhere" })).sessions).toEqual([]);
  await second.load(id, cwd);
  expect(second.text(id, "user_message_chunk")).toBe("hello");
  expect(second.text(id)).toBe(first.text(id));

  const third = await openEditor();
  await third.agent.request("session/resume", { sessionId: id, cwd });
  expect(third.updates(id)).toEqual([]);
  await third.prompt(id, "hello again");
  expect(third.text(id)).not.toBe("");
  await vi.waitFor(() => expect(second.text(id, "user_message_chunk")).toBe("hellohello again"), PATIENT);

  await third.agent.request("session/delete", { sessionId: id });
  await expect(http.session(id)).rejects.toMatchObject({ code: "session_unknown" });
  await expect(second.load(id, cwd)).rejects.toMatchObject({ code: -32002 });
});

test("bad input is refused with a sentence, and changes nothing", async () => {
  const editor = await openEditor();
  const id = await editor.create(cwd);
  const prompt = (blocks: object[]) =>
    editor.agent.request("session/prompt", { sessionId: id, prompt: blocks as never });
  await expect(prompt([])).rejects.toMatchObject({ code: -32602, message: /the prompt is empty/ });
  await expect(prompt([{ type: "audio", data: "", mimeType: "audio/wav" }])).rejects.toMatchObject({
    code: -32602,
    message: /blocks of type "audio" are not supported/,
  });
  await expect(editor.create("relative")).rejects.toMatchObject({ message: /absolute path/ });
  await expect(editor.prompt("unknown", "hello")).rejects.toMatchObject({ code: -32002 });
  expect(await http.session(id)).toMatchObject({ turns: 0, queued: 0 });
});

test("a new session can be loaded by another editor before its first prompt, and is put away if nobody writes to it", async () => {
  const one = await openEditor();
  const id = await one.create(cwd);
  const two = await openEditor();
  await two.load(id, cwd);
  await one.close();
  await vi.waitFor(async () => expect(await http.sessions({ archived: false })).toEqual([]), PATIENT);
  expect(await two.prompt(id, "hello")).toEqual({ stopReason: "end_turn" });
  expect(await http.sessions({ archived: false })).toMatchObject([{ session_id: id, turns: 1 }]);
});

test("a session begun in the shell goes on in the editor, and back", async () => {
  const ran = await program.run(daemon.socket, ["spawn", "demo", "--name", "shared", "--wait", "hello"]);
  expect(ran.code).toBe(0);
  const [view] = await http.sessions({ name: "shared" });
  const id = view?.session_id ?? "";
  const editor = await openEditor();
  await editor.load(id, cwd);
  expect(await editor.prompt(id, "use a tool")).toEqual({ stopReason: "end_turn" });
  expect(await program.run(daemon.socket, ["send", "shared", "--wait", "hello"])).toMatchObject({ code: 0 });
  await vi.waitFor(() => expect(editor.text(id, "user_message_chunk")).toBe("hellohello"), PATIENT);
});

describe("permissions", () => {
  test("go to all editors; the first answer counts, and the question is taken back from the other", async () => {
    const [one, two] = [await openEditor(), await openEditor()];
    const id = await one.create(cwd);
    const ended = one.prompt(id, "approve");
    await one.asked(1);
    await two.load(id, cwd);
    await two.asked(1);
    const [asked] = two.permissions;
    expect(asked).toMatchObject({ sessionId: id, toolCall: { title: "rm -rf build", kind: "execute" } });
    expect(asked?.options.map(({ optionId, kind }) => [optionId, kind])).toEqual(
      expect.arrayContaining([
        ["accept", "allow_once"],
        ["decline", "reject_once"],
      ]),
    );
    const [pending] = await http.allRequests({ session_id: id });
    await http.respond(id, pending?.request_id ?? "", { decision: "accept" });
    expect(await ended).toEqual({ stopReason: "end_turn" });
    await vi.waitFor(() => {
      expect(one.cancelled).toEqual([pending?.request_id]);
      expect(two.cancelled).toEqual([pending?.request_id]);
    }, PATIENT);
    expect(one.text(id)).toMatch(/It was allowed/);
    one.expectValid();
  });

  test("an editor's answer is stored with its choice", async () => {
    const editor = await openEditor();
    editor.onPermission = async () => select("decline");
    const id = await editor.create(cwd);
    await editor.prompt(id, "approve");
    const [row] = await http.allRequests({ session_id: id, include_settled: true });
    expect(row).toMatchObject({ status: "resolved", answer: { decision: "decline" } });
  });

  test("an option that was not offered answers nothing", async () => {
    const editor = await openEditor();
    editor.onPermission = async () => select("acceptEverything");
    const id = await editor.create(cwd);
    const ended = editor.prompt(id, "approve");
    await editor.asked(1);
    expect(await http.allRequests({ session_id: id })).toMatchObject([{ status: "pending" }]);
    await editor.agent.notify("session/cancel", { sessionId: id });
    expect(await ended).toEqual({ stopReason: "cancelled" });
    expect(await http.allRequests({ session_id: id })).toEqual([]);
  });
});

describe("questions", () => {
  test("are a form, where the editor has forms", async () => {
    const editor = await openEditor({ elicitation: { form: {} } });
    editor.onElicitation = () => ({ action: "accept", content: { answer: "Blue" } });
    const id = await editor.create(cwd);
    expect(await editor.prompt(id, "ask me a question")).toEqual({ stopReason: "end_turn" });
    expect(editor.elicitations).toMatchObject([
      {
        mode: "form",
        sessionId: id,
        message: expect.stringMatching(/^Which color do you like\?/),
        requestedSchema: { properties: { answer: { enum: ["Red", "Blue"] } }, required: ["answer"] },
      },
    ]);
    const [row] = await http.allRequests({ session_id: id, include_settled: true });
    expect(row).toMatchObject({ status: "resolved", answer: { answers: { answer: "Blue" } } });
  });

  test("are buttons elsewhere, if one of some options is wanted", async () => {
    const editor = await openEditor();
    editor.onPermission = async ({ options }) => select(options[1]?.optionId ?? "");
    const id = await editor.create(cwd);
    await editor.prompt(id, "ask me a question");
    expect(editor.permissions[0]?.options.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["Red", "Blue", "Decline"]),
    );
    const [row] = await http.allRequests({ session_id: id, include_settled: true });
    expect(row?.answer).toEqual({ answers: { answer: "Blue" } });
  });
});

test("a daemon that is killed in the middle of a turn costs nothing: no gap, no duplicate, one result", async () => {
  const [one, two] = [await openEditor(), await openEditor()];
  const id = await one.create(cwd);
  const ended = one.prompt(id, "approve");
  await one.asked(1);
  await two.load(id, cwd);
  await two.asked(1);
  const { home } = daemon;
  await daemon.kill("SIGKILL");
  daemon = await startDaemon({ home });
  http = new HttpClient({ socket: daemon.socket });
  // Asked before the kill, answered after it, by the other editor: once.
  const [row] = await http.allRequests({ session_id: id });
  expect(row).toMatchObject({ status: "pending" });
  await http.respond(id, row?.request_id ?? "", { decision: "accept" });
  expect(await ended).toEqual({ stopReason: "end_turn" });
  await vi.waitFor(() => expect(two.text(id)).toBe(one.text(id)), PATIENT);
  expect(one.text(id).match(/It was allowed/g)).toHaveLength(1);
  const three = await openEditor();
  await three.load(id, cwd);
  expect(three.text(id)).toBe(one.text(id));
});

test("closing the editor leaves the session and its turn running", async () => {
  const editor = await openEditor();
  const id = await editor.create(cwd);
  void editor.prompt(id, "approve").catch(() => undefined);
  await editor.asked(1);
  expect(await editor.close()).toBe(0);
  expect(await http.session(id)).toMatchObject({ activity_state: "waiting_permission" });
});
