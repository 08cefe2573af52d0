// What "for this session" remembers of an ACP agent's request: exactly what the card shows.
import { describe, expect, test } from "vitest";
import { toReply } from "../../../src/backends/acp/requests.ts";
import type { AcpReport, AcpState } from "../../../src/backends/acp/state.ts";
import { translate } from "../../../src/backends/acp/translate.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import type { RequestPayload } from "../../../src/protocol/requests.ts";
import { running, update } from "./frames.ts";

/** One call: what the agent sends before it asks, and the request itself. */
interface Call {
  before?: JsonObject;
  asked: JsonObject;
}

let lastId = 0;

/** The request that the user gets; undefined if it was allowed without asking. */
function request(state: AcpState, { before, asked }: Call): Extract<AcpReport, { kind: "ask" }> | undefined {
  lastId += 1;
  const toolCallId = `call_${lastId}`;
  if (before !== undefined) translate(state, update({ sessionUpdate: "tool_call", toolCallId, ...before }));
  const options = [
    { optionId: "once", kind: "allow_once" },
    { optionId: "always", kind: "allow_always" },
    { optionId: "no", kind: "reject_once" },
  ];
  const params = { sessionId: "s", toolCall: { toolCallId, ...asked }, options };
  const method = "session/request_permission";
  const reports = translate(state, { kind: "request", id: lastId, method, params });
  return reports.find((report) => report.kind === "ask");
}

/** Whether the second is asked after the first was allowed for the session. */
function isAskedAgain(first: Call, second: Call): boolean {
  const state = running({});
  const asked = request(state, first);
  expect(asked?.ask.payload.choices.map(({ decision }) => decision)).toContain("acceptForSession");
  toReply(state, asked?.ask.native_id ?? "", { decision: "acceptForSession" });
  return request(state, second) !== undefined;
}

function payloadOf(call: Call): RequestPayload | undefined {
  return request(running({}), call)?.ask.payload;
}

const ls = { kind: "execute", title: "ls", rawInput: { command: "ls" } };
const early = (rawInput: object) => ({ before: { kind: "execute", title: "bash", rawInput }, asked: ls });
const diff = (path: string, newText: string) => [{ type: "diff", path, oldText: "a\n", newText }];
const write = (path: string, text: string): Call => ({
  before: { kind: "edit", title: "write", rawInput: { filePath: path, content: text } },
  asked: { kind: "edit", title: path, rawInput: { filepath: path, diff: "+" }, content: diff(path, text) },
});

describe("the same request is not asked again", () => {
  test.each<[string, Call, Call]>([
    ["a command", { asked: ls }, { asked: ls }],
    ["a command whose input came before", early({ command: "ls", cwd: "/p" }), { asked: ls }],
    ["and the other way round", { asked: ls }, early({ command: "ls", cwd: "/p" })],
    [
      "a command with another description and another time limit",
      early({ command: "ls", description: "look", timeout: 1 }),
      early({ command: "ls", description: "look again", timeout: 2 }),
    ],
    [
      "a command that codex-acp asks for",
      { asked: { ...ls, rawInput: { command: "ls", cwd: "/p" } } },
      { asked: { ...ls, rawInput: { command: "ls", cwd: "/p" } } },
    ],
    ["a change", write("/p/a", "b\n"), write("/p/a", "b\n")],
    ["a change whose input came before", write("/p/a", "b\n"), { asked: write("/p/a", "b\n").asked }],
    [
      "a change of codex-acp, which names the files and sends the diff before",
      {
        before: { kind: "edit", title: "Editing files", content: diff("/p/a", "b\n") },
        asked: { kind: "edit", title: "Edit files", locations: [{ path: "/p/a" }] },
      },
      {
        before: { kind: "edit", title: "Editing files", content: diff("/p/a", "b\n") },
        asked: { kind: "edit", title: "Edit files", locations: [{ path: "/p/a" }] },
      },
    ],
    [
      "a place outside of the project",
      {
        before: { kind: "read", title: "read", rawInput: {} },
        asked: { kind: "other", title: "/etc", rawInput: { filepath: "/etc/a", parentDir: "/etc" } },
      },
      {
        before: { kind: "read", title: "read", rawInput: {} },
        asked: { kind: "other", title: "/etc", rawInput: { filepath: "/etc/a", parentDir: "/etc" } },
      },
    ],
  ])("%s", (_name, first, second) => {
    expect(isAskedAgain(first, second)).toBe(false);
  });
});

describe("a request with a different card is asked", () => {
  test.each<[string, Call, Call]>([
    ["another command", { asked: ls }, { asked: { ...ls, title: "ls -a", rawInput: { command: "ls -a" } } }],
    [
      "the same words as other arguments",
      { asked: { ...ls, rawInput: { command: ["rm", "a b"] } } },
      { asked: { ...ls, rawInput: { command: ["rm", "a", "b"] } } },
    ],
    ["the same command elsewhere", { asked: ls }, early({ command: "ls", cwd: "/" })],
    ["the same command in the directory of opencode", { asked: ls }, early({ command: "ls", workdir: "/" })],
    ["the same command of another tool", { asked: ls }, { asked: { ...ls, name: "remote_shell" } }],
    [
      "the same command with more rights",
      { asked: ls },
      { asked: { ...ls, rawInput: { command: "ls", sandbox: "none" } } },
    ],
    [
      "network access for the same command",
      { asked: ls },
      { asked: { ...ls, title: "ssh network access to example.org" } },
    ],
    [
      "network access for the same command to a host whose name contains it",
      { asked: ls },
      { asked: { ...ls, title: "ssh network access to tools.example.org" } },
    ],
    ["another path", write("/p/a", "b\n"), write("/p/b", "b\n")],
    ["another change of the same file", write("/p/a", "b\n"), write("/p/a", "c\n")],
    [
      "an option that no diff shows",
      write("/p/a", "b\n"),
      { asked: { ...write("/p/a", "b\n").asked, rawInput: { filepath: "/p/a", diff: "+", all: true } } },
    ],
    [
      "another input of the same tool",
      { asked: { kind: "fetch", title: "fetch", rawInput: { url: "http://a/" } } },
      { asked: { kind: "fetch", title: "fetch", rawInput: { url: "http://b/" } } },
    ],
    [
      "an input that came before and says more",
      { asked: { kind: "other", title: "x", rawInput: { path: "/a" } } },
      {
        before: { kind: "other", title: "x", rawInput: { mode: "delete" } },
        asked: { kind: "other", title: "x", rawInput: { path: "/a" } },
      },
    ],
  ])("%s", (_name, first, second) => {
    expect(isAskedAgain(first, second)).toBe(true);
  });
});

test("the card shows the directory in which the command runs", () => {
  expect(payloadOf({ asked: ls })?.cwd).toBe("/p");
  expect(payloadOf(early({ command: "ls", cwd: "/q" }))?.cwd).toBe("/q");
  expect(payloadOf(early({ command: "ls", workdir: "sub" }))?.cwd).toBe("/p/sub");
});

test("a command allowed to demian's main agent is not asked again for its sub-agent", () => {
  const state = running();
  const bash = { kind: "execute", rawInput: { command: "ls" } };
  const asked = request(state, { asked: { ...bash, title: "bash: ls" } });
  toReply(state, asked?.ask.native_id ?? "", { decision: "acceptForSession" });
  const below = { ...bash, title: "reviewer › bash: ls", _meta: { demian: { agentPath: ["reviewer"] } } };
  expect(request(state, { asked: below })).toBeUndefined();
  expect(request(state, { asked: { ...below, _meta: {} } })).toBeDefined();
});
