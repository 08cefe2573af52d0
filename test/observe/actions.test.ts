// The projection: one action per call, request or turn, in one line each.
import { describe, expect, test } from "vitest";
import { chooseLast, toAction, toActions } from "../../src/observe/actions.ts";
import { describeCall } from "../../src/observe/calls.ts";
import type { EventRow, Row } from "../../src/observe/rows.ts";
import { Action as ActionSchema } from "../../src/protocol/actions.ts";
import { toolRow, turnRow } from "./material.ts";
import { replayClaude, replayCodex } from "./replays.ts";

const events = (rows: readonly Row[]) =>
  rows.filter((row): row is EventRow => row.kind === "tool" || row.kind === "turn");
const newestFirst = (rows: readonly Row[]) => events(rows).reverse();
const lastOf = (rows: readonly Row[]) => toAction(events(rows).reduce((last, row) => chooseLast(last, row)));

test("a call is one action, no matter how many rows it has", () => {
  const actions = toActions(newestFirst(replayCodex("04-command-approval").rows), new Set());
  const ofFirst = actions.filter((action) => action.turn_id === "turn1").reverse();
  expect(ofFirst.map(({ action_kind, status }) => `${action_kind} ${status}`)).toEqual([
    "message success",
    "request success",
    "command success",
    "message success",
    "turn success",
  ]);
  for (const action of actions) expect(ActionSchema.safeParse(action).error).toBeUndefined();
});

test("its duration is from its start to its end", () => {
  const row = toolRow({ event_type: "completed", phase: "post", latency_ms: 400, created_at_ms: 5000 });
  expect(toAction(row)).toMatchObject({ started_at_ms: 4600, ended_at_ms: 5000, status: "success" });
  const running = toAction(toolRow({ event_type: "started", phase: "running", created_at_ms: 5000 }));
  expect(running).toMatchObject({ started_at_ms: 5000, status: "running" });
  expect(running).not.toHaveProperty("ended_at_ms");
});

test("the end of a turn says how long it waited for answers", () => {
  const row = turnRow({ event_type: "completed", waited_ms: 60_000 });
  expect(toAction(row)).toMatchObject({ action_kind: "turn", waited_ms: 60_000 });
});

describe("the last action", () => {
  test("is a tool call, or else a message, but not the end of a successful turn", () => {
    const { rows } = replayClaude("07-tool-bash-allowed");
    expect(lastOf(rows)).toMatchObject({ action_kind: "command", status: "success" });
    const words = rows.filter((row) => row.kind === "turn");
    const last = { action_kind: "message", summary_text: "said: tool said: AA || BB" };
    expect(lastOf(words)).toMatchObject(last);
  });

  test("is the end of the turn if the turn failed", () => {
    const rows = replayCodex("06b-interrupt-command").rows;
    const cut = rows.findIndex((row) => row.kind === "turn" && row.row.event_type === "interrupted");
    expect(lastOf(rows.slice(0, cut + 1))).toMatchObject({ action_kind: "turn", status: "interrupted" });
  });

  test("is the question while one is pending", () => {
    const rows = replayCodex("04-command-approval").rows;
    const at = rows.findIndex((row) => row.kind === "tool" && row.row.event_type === "request_approval");
    expect(lastOf(rows.slice(0, at + 1))).toMatchObject({ action_kind: "request", status: "waiting" });
  });
});

describe("in one line", () => {
  const summary = (over: Parameters<typeof toolRow>[0]) => toAction(toolRow(over)).summary_text;
  const post = { phase: "post" } as const;

  test.each([
    [{ command: "npm test" }, "running `npm test`"],
    [{ ...post, event_type: "completed", command: "npm test", exit_code: 0 }, "ran `npm test`"],
    [{ ...post, event_type: "failed", command: "npm test", exit_code: 1 }, "ran `npm test` (exit 1)"],
    [{ ...post, event_type: "interrupted", command: "sleep 9" }, "ran `sleep 9` (interrupted)"],
    [{ ...post, event_type: "timeout", command: "sleep 9" }, "ran `sleep 9` (timed out)"],
    [
      { ...post, event_type: "cancelled", not_run: "declined", command: "rm x" },
      "asked to run `rm x` (not run: declined)",
    ],
    [
      { ...post, event_type: "timeout", not_run: "expired", command: "rm x" },
      "asked to run `rm x` (not run: no answer in time)",
    ],
    [
      {
        ...post,
        event_type: "interrupted",
        not_run: "interrupted",
        item_type: "tool",
        tool_name: "WebFetch",
      },
      "asked to use WebFetch (not run: interrupted)",
    ],
    [
      { ...post, event_type: "failed", not_run: "daemon_stopped", command: "rm x" },
      "asked to run `rm x` (not run: the daemon stopped)",
    ],
    [
      { ...post, event_type: "failed", error_code: "backend_crashed", command: "make" },
      "ran `make` (the agent died)",
    ],
    [{ command: "/bin/bash -lc 'echo '\\''hi'\\'''" }, "running `echo 'hi'`"],
    [{ command: `/bin/sh -c "grep 'A\\\\|"'^B'"'"` }, "running `grep 'A\\|^B'`"],
    [
      {
        ...post,
        event_type: "completed",
        item_type: "fileChange",
        file_path: "/p/src/a.ts",
        cwd: "/p",
        change_kind: "update",
        diff_summary: "+3 -1",
      },
      "edited src/a.ts (+3 -1)",
    ],
    ...(
      [
        ["add", "creating", "created", "create"],
        ["overwrite", "overwriting", "overwrote", "overwrite"],
        ["update", "editing", "edited", "edit"],
        ["delete", "deleting", "deleted", "delete"],
        ["write", "writing", "wrote", "write"],
        [undefined, "changing", "changed", "change"],
      ] as const
    ).flatMap(([change_kind, running, done, asked]) => {
      const file = { item_type: "fileChange", file_path: "a", ...(change_kind && { change_kind }) } as const;
      return [
        [file, `${running} a`],
        [{ ...file, ...post, event_type: "completed" }, `${done} a`],
        [
          { ...file, ...post, event_type: "cancelled", not_run: "declined" },
          `asked to ${asked} a (not run: declined)`,
        ],
      ] as const;
    }),
    [
      { item_type: "tool", tool_name: "Read", raw_payload_json: '{"input":{"file_path":"/x/y"}}' },
      "using Read: /x/y",
    ],
    [{ item_type: "tool", tool_name: "Read", raw_payload_json: "{broken" }, "using Read"],
    [
      {
        item_type: "tool",
        tool_name: "delegate_agent",
        raw_payload_json: '{"input":{"agent":"reviewer","task":"look"}}',
      },
      "using delegate_agent: reviewer",
    ],
    [
      {
        request_id: "r",
        event_type: "request_approval",
        phase: "pre",
        raw_payload_json: '{"title":"Bash: rm -rf build"}',
      },
      "asked: Bash: rm -rf build",
    ],
    [
      {
        ...post,
        request_id: "r",
        event_type: "approval_decision",
        approval_decision: "decline",
        raw_payload_json: '{"title":"Bash: x"}',
      },
      "asked: Bash: x (declined)",
    ],
    [
      {
        ...post,
        request_id: "r",
        event_type: "timeout",
        approval_decision: "decline",
        raw_payload_json: '{"title":"Bash: x"}',
      },
      "asked: Bash: x (no answer)",
    ],
  ] as const)("%o is %s", (over, text) => {
    expect(summary(over)).toBe(text);
  });

  test("messages and how turns end", () => {
    const texts = [
      turnRow({ event_type: "message", raw_payload_json: '{"text":"I am\\ndone."}' }),
      turnRow({ event_type: "started" }),
      turnRow({ event_type: "completed", duration_ms: 12_300 }),
      turnRow({ event_type: "failed", error_code: "auth_failed", error_message: "log in" }),
    ].map((row) => toAction(row).summary_text);
    expect(texts).toEqual([
      "said: I am done.",
      "started a turn",
      "finished the turn",
      "the turn failed: auth_failed: log in",
    ]);
  });
});

describe("the subject of a call", () => {
  test.each([
    ["Bash", { command: "ls" }, { item_type: "commandExecution", command: "ls" }],
    ["shell", ["bash", "-lc", "ls"], { item_type: "commandExecution", command: "bash -lc ls" }],
    ["shell", null, { item_type: "commandExecution" }],
    ["bash", { command: "ls" }, { item_type: "commandExecution", command: "ls" }],
    [
      "write_file",
      { path: "a", content: "x\ny" },
      { item_type: "fileChange", file_path: "a", change_kind: "write", diff_summary: "+2" },
    ],
    [
      "edit_file",
      { path: "a", oldString: "a\nb", newString: "a\nc" },
      { item_type: "fileChange", file_path: "a", change_kind: "update", diff_summary: "+1 -1" },
    ],
    [
      "Write",
      { file_path: "/a", content: "x\ny" },
      { item_type: "fileChange", file_path: "/a", change_kind: "write", diff_summary: "+2" },
    ],
    [
      "Edit",
      { file_path: "/a", old_string: "a\nb\nc", new_string: "a\nB\nB2\nc" },
      { item_type: "fileChange", file_path: "/a", change_kind: "update", diff_summary: "+2 -1" },
    ],
    [
      "MultiEdit",
      {
        file_path: "/a",
        edits: [
          { old_string: "a", new_string: "" },
          { old_string: "", new_string: "b\nc\n" },
        ],
      },
      { item_type: "fileChange", file_path: "/a", change_kind: "update", diff_summary: "+2 -1" },
    ],
    [
      "NotebookEdit",
      { notebook_path: "/n.ipynb", new_source: "1" },
      { item_type: "fileChange", file_path: "/n.ipynb", change_kind: "update", diff_summary: "+1" },
    ],
    [
      "apply_patch",
      {
        changes: [
          { path: "/a", kind: { type: "update" }, diff: "@@ -1,2 +1,3 @@\n-old\n+new\n+more\n same\n" },
          { path: "/b", kind: { type: "delete" }, diff: "gone\n" },
        ],
      },
      { item_type: "fileChange", file_path: "/a", diff_summary: "+2 -2 in 2 files" },
    ],
    ["apply_patch", { changes: [] }, { item_type: "fileChange" }],
    ["Grep", { pattern: "x" }, { item_type: "tool" }],
    ["Edit", "nonsense", { item_type: "fileChange", change_kind: "update", diff_summary: "+0 -0" }],
  ])("%s %j", (name, input, call) => {
    expect(describeCall(name, input)).toEqual({ tool_name: name, ...call });
  });
});
