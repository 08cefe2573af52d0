// How the user sees each request of Codex, and what each answer sends to Codex.
import { describe, expect, test } from "vitest";
import { toNativeAnswer, toToolResult } from "../../../src/backends/codex/app-server/answers.ts";
import {
  findPendingAsk,
  noteAnswered,
  toAsk,
  withdraw,
} from "../../../src/backends/codex/app-server/requests.ts";
import { type CodexState, createState } from "../../../src/backends/codex/app-server/state.ts";
import { translate } from "../../../src/backends/codex/app-server/translate.ts";
import type { Ask } from "../../../src/backends/types.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import type { Answer, DECISIONS } from "../../../src/protocol/requests.ts";

const COMMAND = "item/commandExecution/requestApproval";
const FILES = "item/fileChange/requestApproval";
const RIGHTS = "item/permissions/requestApproval";
const INPUT = "item/tool/requestUserInput";
const ELICIT = "mcpServer/elicitation/request";

function fresh(): CodexState {
  return createState({ threadId: "root", options: {}, codexHome: "/h/.codex" });
}

function ask(method: string, params: JsonObject, state = fresh(), id: string | number = 0): Ask {
  const asked = toAsk(state, { id, method, params: { threadId: "root", turnId: "t", ...params } });
  if (!("payload" in asked)) throw new Error(`not asked: ${JSON.stringify(asked)}`);
  return asked;
}

function decisions({ payload }: Ask): string[] {
  return payload.choices.map(({ decision }) => decision);
}

function reply(method: string, params: JsonObject, answer: Answer): unknown {
  return toNativeAnswer({ id: 0, native_id: "n:0", method, params }, answer);
}

function open(state: CodexState, item: JsonObject): void {
  translate(state, { method: "item/started", params: { threadId: "root", turnId: "t", item } });
}

describe("ids", () => {
  test('0 and "0" are two requests, and each is answered with its own id', () => {
    const state = fresh();
    const [number, text] = [ask(INPUT, {}, state, 0), ask(INPUT, {}, state, "0")];
    expect(number.native_id).not.toBe(text.native_id);
    expect(findPendingAsk(state, number.native_id)?.id).toBe(0);
    expect(findPendingAsk(state, text.native_id)?.id).toBe("0");
  });

  test("what Codex resolves is withdrawn, unless we answered it", () => {
    const state = fresh();
    const resolved = (requestId: unknown): unknown =>
      translate(state, { method: "serverRequest/resolved", params: { threadId: "root", requestId } });
    const first = ask(INPUT, {}, state, 0);
    noteAnswered(state, first.native_id);
    expect(resolved(0)).toEqual([]);
    const second = ask(INPUT, {}, state, 1);
    expect(resolved(1)).toMatchObject([{ kind: "withdrawn", native_id: second.native_id }]);
    expect(resolved(1)).toEqual([]);
    expect(findPendingAsk(state, second.native_id)).toBeUndefined();
  });
});

describe("commands", () => {
  const params = { itemId: "i", command: "/bin/sh -c 'a\nb'", cwd: "/w", reason: "why" };

  test("are shown whole, with a title of one line", () => {
    expect(ask(COMMAND, params)).toMatchObject({
      request_type: "command",
      thread_id: "root",
      native_turn_id: "t",
      item_id: "i",
      payload: { title: "shell: /bin/sh -c 'a b'", command: "/bin/sh -c 'a\nb'", cwd: "/w", reason: "why" },
    });
    expect(ask(COMMAND, params)).not.toHaveProperty("path");
  });

  test('"always" is offered only with a rule, and shows what Codex writes', () => {
    expect(decisions(ask(COMMAND, params))).toEqual(["accept", "acceptForSession", "decline", "cancel"]);
    const proposed = { ...params, proposedExecpolicyAmendment: ["touch", 'a "q"'] };
    expect(ask(COMMAND, proposed).payload.choices[2]).toEqual({
      decision: "acceptAlways",
      remembers: ['every command that starts with: touch a "q"'],
      writes: [
        {
          path: "/h/.codex/rules/default.rules",
          content: 'prefix_rule(pattern=["touch", "a \\"q\\""], decision="allow")\n',
        },
      ],
    });
    expect(reply(COMMAND, proposed, { decision: "acceptAlways" })).toEqual({
      decision: { acceptWithExecpolicyAmendment: { execpolicy_amendment: ["touch", 'a "q"'] } },
    });
  });

  test.each(["accept", "acceptForSession", "decline", "cancel"] as const)(
    "%s is sent unchanged",
    (decision) => {
      expect(reply(COMMAND, params, { decision })).toEqual({ decision });
      expect(reply(FILES, {}, { decision })).toEqual({ decision });
    },
  );

  test("a command that is not shown cannot be allowed; one whose item shows it can", () => {
    const { command: _command, ...untold } = params;
    expect(decisions(ask(COMMAND, untold))).toEqual(["decline", "cancel"]);
    const state = fresh();
    open(state, { id: "i", type: "commandExecution", command: "ls", cwd: "/x" });
    expect(ask(COMMAND, { itemId: "i" }, state).payload).toMatchObject({ command: "ls", cwd: "/x" });
  });

  test("access to the network and input to a running command are named", () => {
    const network = { ...params, networkApprovalContext: { host: "h.example", protocol: "https" } };
    expect(ask(COMMAND, network).payload.title).toMatch(/^network access to h\.example: /);
    expect(ask(COMMAND, network).payload.input).toEqual({
      networkApprovalContext: { host: "h.example", protocol: "https" },
    });
    expect(ask(COMMAND, { ...params, kind: "writeStdin" }).payload.title).toMatch(
      /^input to a running command: /,
    );
  });

  test("of a sub-agent carry its path", () => {
    const state = fresh();
    const item = {
      id: "a",
      type: "subAgentActivity",
      kind: "started",
      agentThreadId: "sub",
      agentPath: "/agents/w",
    };
    open(state, item);
    expect(ask(COMMAND, { ...params, threadId: "sub" }, state)).toMatchObject({
      thread_id: "sub",
      path: ["w"],
    });
  });
});

describe("patches", () => {
  const change = { path: "/w/a", kind: { type: "update", move_path: "/w/b" }, diff: "@@" };

  test("are shown from their item, in its current state", () => {
    const state = fresh();
    open(state, { id: "i", type: "fileChange", changes: [{ ...change, diff: "old" }] });
    const params = { threadId: "root", itemId: "i", changes: [change] };
    translate(state, { method: "item/fileChange/patchUpdated", params });
    expect(ask(FILES, { itemId: "i", reason: null, grantRoot: null }, state).payload).toEqual({
      title: "apply_patch: rename /w/a → /w/b",
      changes: [{ path: "/w/a", kind: "update", diff: "@@", move_path: "/w/b" }],
      tool_name: "apply_patch",
      choices: [
        { decision: "accept" },
        { decision: "acceptForSession", remembers: ["changes of these files"] },
        { decision: "decline" },
        { decision: "cancel" },
      ],
    });
  });

  test("a change that is not shown cannot be allowed, and a requested root is shown", () => {
    expect(decisions(ask(FILES, { itemId: "i" }))).toEqual(["decline", "cancel"]);
    expect(ask(FILES, { itemId: "i", grantRoot: "/r" }).payload).toMatchObject({
      title: "apply_patch: write under /r",
      choices: [{ decision: "accept" }, { remembers: ["writing anywhere under /r"] }, {}, {}],
      input: { grantRoot: "/r" },
    });
  });
});

describe("more permissions", () => {
  const permissions = { network: { enabled: true }, fileSystem: null };

  test("are shown exactly, and granted as asked or not at all", () => {
    const asked = ask(RIGHTS, { itemId: "i", cwd: "/w", reason: "r", permissions });
    expect(asked.payload).toMatchObject({
      title: "more permissions: network",
      input: { network: { enabled: true } },
    });
    expect(decisions(asked)).toEqual(["accept", "acceptForSession", "decline"]);
    const granted = { network: { enabled: true } };
    const says = (decision: (typeof DECISIONS)[number]): unknown =>
      reply(RIGHTS, { permissions }, { decision });
    expect(says("accept")).toEqual({ permissions: granted, scope: "turn" });
    expect(says("acceptForSession")).toEqual({ permissions: granted, scope: "session" });
    expect(says("decline")).toEqual({ permissions: {}, scope: "turn" });
    expect(says("cancel")).toEqual({ permissions: {}, scope: "turn" });
  });
});

describe("questions", () => {
  const questions = [
    {
      id: "a",
      header: "H",
      question: "Q?",
      isOther: true,
      isSecret: false,
      options: [{ label: "L", description: "" }],
    },
    { id: "b", header: "", question: "Key?", isOther: false, isSecret: true, options: null },
  ];

  test("keep options, secrecy and the free-text answer", () => {
    expect(ask(INPUT, { itemId: "i", questions }).payload.questions).toEqual([
      { id: "a", header: "H", question: "Q?", options: [{ label: "L" }], allows_other: true },
      { id: "b", question: "Key?", is_secret: true },
    ]);
  });

  test("answers are sent as lists; a refusal is an empty list", () => {
    expect(reply(INPUT, { questions }, { answers: { a: "L", b: ["x", "y"] } })).toEqual({
      answers: { a: { answers: ["L"] }, b: { answers: ["x", "y"] } },
    });
    expect(reply(INPUT, {}, { answers: {} })).toEqual({ answers: {} });
    expect(reply(INPUT, {}, { decision: "decline" })).toEqual({ answers: {} });
    expect(reply(INPUT, {}, { decision: "cancel" })).toEqual({ answers: {} });
  });
});

describe("elicitations", () => {
  const properties = {
    name: { type: "string", title: "Name", description: "of you" },
    age: { type: "integer" },
    ok: { type: "boolean" },
    color: { type: "string", oneOf: [{ const: "r", title: "Red" }] },
    tags: {
      type: "array",
      items: {
        anyOf: [
          { const: "x", title: "X" },
          { const: "y", title: "Y" },
        ],
      },
    },
  };
  const form = {
    mode: "form",
    serverName: "srv",
    message: "Fill in",
    requestedSchema: { type: "object", properties, required: ["name"] },
  };

  test("a form becomes questions", () => {
    const { payload, request_type } = ask(ELICIT, form);
    expect(request_type).toBe("elicitation");
    expect(payload.title).toBe("srv: Fill in");
    expect(payload.questions).toEqual([
      { id: "name", header: "name", question: "Name: of you" },
      { id: "age", header: "age", question: "age (optional)" },
      { id: "ok", header: "ok", question: "ok (optional)", options: [{ label: "true" }, { label: "false" }] },
      { id: "color", header: "color", question: "color (optional)", options: [{ label: "Red" }] },
      {
        id: "tags",
        header: "tags",
        question: "tags (optional)",
        options: [{ label: "X" }, { label: "Y" }],
        multi_select: true,
      },
    ]);
  });

  test("answers have the types of the form; unanswered and unknown fields are left out", () => {
    const answers = { name: "Bo", age: "3", ok: "false", color: "Red", tags: ["X", "Y"], other: "?" };
    expect(reply(ELICIT, form, { answers })).toEqual({
      action: "accept",
      content: { name: "Bo", age: 3, ok: false, color: "r", tags: ["x", "y"] },
      _meta: null,
    });
    expect(reply(ELICIT, form, { answers: { age: "many" } })).toMatchObject({ content: { age: "many" } });
    expect(reply(ELICIT, form, { decision: "decline" })).toEqual({
      action: "decline",
      content: null,
      _meta: null,
    });
  });

  test("a page to visit can be accepted; a form that needs its own screen can only be declined", () => {
    const url = {
      mode: "url",
      serverName: "srv",
      message: "Log in",
      url: "https://x.example",
      elicitationId: "e",
    };
    expect(decisions(ask(ELICIT, url))).toEqual(["accept", "decline"]);
    expect(ask(ELICIT, url).payload.details).toMatchObject({ url: "https://x.example" });
    const nested = { ...form, requestedSchema: { properties: { a: { type: "object" } }, required: ["a"] } };
    expect(decisions(ask(ELICIT, nested))).toEqual(["decline"]);
    expect(decisions(ask(ELICIT, { mode: "openai/userVerification", serverName: "s", title: "t" }))).toEqual([
      "decline",
    ]);
  });

  test("a tool of an MCP server is a request for that tool, with its input and what is remembered", () => {
    const state = fresh();
    open(state, { id: "i", type: "mcpToolCall", server: "srv", tool: "wipe it", arguments: { a: 1 } });
    const _meta = {
      codex_approval_kind: "mcp_tool_call",
      persist: ["session", "always"],
      tool_params: { a: 1 },
    };
    const params = {
      mode: "form",
      serverName: "srv",
      message: "May it?",
      _meta,
      requestedSchema: { properties: {} },
    };
    const asked = ask(ELICIT, params, state);
    expect(asked).toMatchObject({
      request_type: "tool",
      item_id: "i",
      payload: { title: "May it?", tool_name: "mcp__srv__wipe it", input: { a: 1 } },
    });
    expect(asked.payload.choices).toMatchObject([
      { decision: "accept" },
      { decision: "acceptForSession" },
      {
        decision: "acceptAlways",
        writes: [
          {
            path: "/h/.codex/config.toml",
            content: '[mcp_servers.srv.tools."wipe it"]\napproval_mode = "approve"\n',
          },
        ],
      },
      { decision: "decline" },
    ]);
    const shorter = { ...params, _meta: { ..._meta, persist: "session" } };
    expect(decisions(ask(ELICIT, shorter, state))).toEqual(["accept", "acceptForSession", "decline"]);
    expect(reply(ELICIT, params, { decision: "accept" })).toEqual({
      action: "accept",
      content: {},
      _meta: null,
    });
    expect(reply(ELICIT, params, { decision: "acceptAlways" })).toMatchObject({
      _meta: { persist: "always" },
    });
  });
});

describe("the first version of the protocol", () => {
  test("has its own names for decisions", () => {
    const exec = {
      conversationId: "root",
      callId: "c",
      command: ["sh", "-c", "a 'b'"],
      cwd: "/w",
      reason: null,
    };
    const asked = ask("execCommandApproval", { ...exec, threadId: undefined });
    expect(asked).toMatchObject({
      request_type: "command",
      thread_id: "root",
      item_id: "c",
      payload: { command: "sh -c 'a '\\''b'\\'''" },
    });
    const says = (answer: Answer): unknown => reply("execCommandApproval", exec, answer);
    expect(says({ decision: "accept" })).toEqual({ decision: "approved" });
    expect(says({ decision: "acceptForSession" })).toEqual({ decision: "approved_for_session" });
    expect(says({ decision: "cancel" })).toEqual({ decision: "abort" });
    expect(says({ decision: "decline", message: "no" })).toEqual({
      decision: { denied: { rejection: "no" } },
    });
  });

  test("carries its patch itself", () => {
    const fileChanges = { "/a": { type: "add", content: "x" }, "/b": { type: "update", unified_diff: "@@" } };
    expect(ask("applyPatchApproval", { callId: "c", fileChanges }).payload.changes).toEqual([
      { path: "/a", kind: "add", diff: "x" },
      { path: "/b", kind: "update", diff: "@@" },
    ]);
    expect(reply("applyPatchApproval", {}, { decision: "accept" })).toEqual({ decision: "approved" });
  });
});

test("a call of the daemon's tools waits for its result under Codex's id of the call", () => {
  const state = fresh();
  const params = { threadId: "t", callId: "call_1", tool: "agents_look", arguments: { id: "x" } };
  const call = { native_id: "call_1", name: "agents_look", input: { id: "x" } };
  expect(toAsk(state, { id: 0, method: "item/tool/call", params })).toEqual({ call });
  expect(withdraw(state, 0)).toMatchObject([{ kind: "withdrawn", native_id: "call_1" }]);
  expect(toToolResult({ text: "no", isError: true })).toEqual({
    success: false,
    contentItems: [{ type: "inputText", text: "no" }],
  });
});

describe("refusals", () => {
  test.each(["account/chatgptAuthTokens/refresh", "attestation/generate", "currentTime/read", "brand/new"])(
    "%s is refused at once, without asking the user",
    (method) => {
      const state = fresh();
      expect(toAsk(state, { id: 0, method, params: {} })).toEqual({
        refuse: { code: -32601, message: expect.stringMatching(/\w/) },
      });
      expect(state.asks.size).toBe(0);
    },
  );
});
