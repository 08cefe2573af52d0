// Every notice that any translator makes of the recorded traffic is in the table of protocol/notices.ts, with the data
// listed there, or is one of the few that only one agent has.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { AgentEvent, NoticeEvent } from "../../src/protocol/events.ts";
import { convertNotice } from "../../src/protocol/notice-history.ts";
import { toNotice, UNKNOWN_PREFIXES } from "../../src/protocol/notices.ts";
import { readSources } from "../docs/sources.ts";
import { findNoticeFault } from "../support/notice-fault.ts";
import { ROOT } from "../support/root.ts";
import * as frames from "./acp/frames.ts";
import * as acp from "./acp/traces.ts";
import * as claude from "./claude/traces.ts";
import * as codex from "./codex/translate-traces.ts";
import { readLines } from "./recorded.ts";

const MCP = join(ROOT, "test/fixtures/codex-mcp");
const notices = (events: readonly AgentEvent[]): NoticeEvent[] =>
  events.filter((event) => event.type === "agent.notice");
const ofReports = (reports: readonly { kind: string; event?: AgentEvent }[]): NoticeEvent[] =>
  notices(reports.flatMap(({ event }) => event ?? []));

const recorded: Record<string, NoticeEvent[]> = {
  claude: claude
    .readTraces()
    .flatMap((trace) => ofReports(claude.replay(trace, claude.stateFor(trace, { native_events: true })))),
  codex: codex
    .readTraces()
    .flatMap((trace) => ofReports(codex.replay(trace).flatMap((one) => ("report" in one ? one.report : [])))),
  "codex mcp-server": readdirSync(MCP)
    .filter((file) => file.endsWith(".agent.jsonl"))
    .flatMap((file) => ofReports(readLines(join(MCP, file)) as { kind: string; event?: AgentEvent }[])),
  acp: acp
    .readTraces()
    .flatMap((trace) => ofReports(acp.replay(trace).flatMap((one) => ("report" in one ? one.report : [])))),
};

describe("the recorded traffic", () => {
  test.each(Object.entries(recorded))("%s uses only categories that are in the table", (_name, made) => {
    expect(made.length).toBeGreaterThan(8);
    expect([...new Set(made.flatMap((notice) => findNoticeFault(notice) ?? []))]).toEqual([]);
  });

  test("has the same category for what several agents report", () => {
    const by = (category: string) =>
      Object.entries(recorded).flatMap(([name, made]) =>
        made.some((notice) => notice.category === category) ? [name] : [],
      );
    expect(by("model_retry")).toEqual(["claude", "codex", "acp"]);
    expect(by("subagent_finished")).toEqual(["claude", "codex"]);
    expect(by("compacted")).toEqual(["claude", "codex"]);
    expect(by("tool_output")).toEqual(expect.arrayContaining(["codex", "codex mcp-server"]));
  });
});

test("demian's own events use them too, and keep their own name only if no other agent has one", () => {
  const extra: JsonObject[] = [
    {
      type: "provider.retry",
      provider: "p",
      attempt: 1,
      maxAttempts: 3,
      delayMs: 10,
      reason: "429",
      status: 429,
    },
    {
      type: "context.compacted",
      beforeTokens: 9,
      afterTokens: 3,
      dropped: 1,
      kept: 1,
      summaryTokens: 1,
      manual: true,
    },
    {
      type: "permission.denied",
      callId: "c",
      targetType: "tool",
      targetName: "bash",
      by: "rule",
      reason: "no",
    },
    { type: "permission.denied", callId: "c", targetType: "tool", targetName: "bash", by: "user" },
    { type: "warning", message: "careful" },
    { type: "hook.fired", hook: "h", event: "e", decision: "warn" },
  ];
  const made = ofReports(
    frames.play(
      frames.running(),
      extra.map((event) => frames.told(event)),
    ),
  );
  expect(made.flatMap((notice) => findNoticeFault(notice) ?? [])).toEqual([]);
  expect(made.map(({ category }) => category)).toEqual([
    "model_retry",
    "compacted",
    "permission_denied",
    "demian_permission_denied",
    "agent_notice",
    "demian_hook_fired",
  ]);
  expect(made[0]?.data).toMatchObject({ code: "rate_limited", http_status: 429, retry_after_ms: 10 });
});

describe("the checker", () => {
  test.each([
    ["an undefined category", "codex_output_delta", {}],
    ["data of another shape", "tool_output", { item_id: "a", text: "b" }],
    ["missing data", "tool_output", undefined],
    ["vendor detail beside `native`", "compacted", { compact_metadata: {} }],
    ["a failure that is not in the table", "model_retry", { code: "server_error" }],
  ])("finds %s", (_what, category, data) => {
    expect(findNoticeFault({ category, ...(data === undefined ? {} : { data }) })).toContain(category);
  });

  test("accepts what only one agent has", () => {
    for (const prefix of UNKNOWN_PREFIXES)
      expect(findNoticeFault({ category: `${prefix}x` })).toBeUndefined();
    expect(
      findNoticeFault(toNotice("x", "tool_output", { data: { tool_use_id: "a", text: "b" } })),
    ).toBeUndefined();
  });
});

test("no backend makes a notice by hand: `toNotice` checks its category and data when it is compiled", () => {
  const backends = readSources(ROOT, "src/backends", [".ts"]);
  expect(backends.length).toBeGreaterThan(80);
  const byHand = backends.filter(({ text }) => text.includes('type: "agent.notice"'));
  expect(byHand.map(({ path }) => path)).toEqual([]);
});

describe("an older history", () => {
  test.each([
    ["codex_output_delta", { item_id: "t", text: "x" }, "tool_output", { tool_use_id: "t", text: "x" }],
    ["acp_output_delta", { tool_use_id: "t", text: "x" }, "tool_output", { tool_use_id: "t", text: "x" }],
    ["codex_patch_updated", { item_id: "t", changes: [] }, "tool_input", { tool_use_id: "t", changes: [] }],
    [
      "acp_late_result",
      { tool_use_id: "t", status: "failed" },
      "late_result",
      { tool_use_id: "t", is_error: true },
    ],
    [
      "system_api_retry",
      { attempt: 1, max_retries: 2, error_status: 529, error: "overloaded" },
      "model_retry",
      { attempt: 1, max_attempts: 2, http_status: 529, native_code: "overloaded" },
    ],
    ["system_compact_boundary", { a: 1 }, "compacted", { native: { a: 1 } }],
    ["plan", { plan: [] }, "plan", { plan: [] }],
  ])("%s is read with today's names", (category, data: JsonObject, now, then) => {
    const frame = { type: "agent.notice", category, data };
    expect(convertNotice(frame)).toEqual({ ...frame, category: now, data: then });
  });

  test("without data is valid", () => {
    expect(convertNotice({ category: "codex_output_delta" })).toMatchObject({ category: "tool_output" });
  });
});
