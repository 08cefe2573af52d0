import { expect, test } from "vitest";
import { formatInfo, formatSessions } from "../../../src/cli/wire/reply.ts";
import { formatAge } from "../../../src/client/view/format.ts";

const NOW = 1_000_000_000;

test("sessions are a table, with the newest values of each row", () => {
  const lines = formatSessions(
    [
      {
        session_id: "s1",
        backend: "demo",
        attached: true,
        cwd: "/w",
        title: "fix\nit",
        last_seq: 4,
        turn_active: true,
        last_active_at_ms: NOW - 5_000,
      },
      {
        session_id: "older",
        backend: "claude",
        attached: false,
        mtime_ms: NOW - 7_200_000,
        preview: "hello",
      },
    ],
    Number.POSITIVE_INFINITY,
    NOW,
  );
  expect(lines).toEqual([
    "SESSION  BACKEND  STATE    ACTIVE  CWD  TITLE",
    "s1       demo     working  5s ago  /w   fix it",
    "older    claude   on disk  2h ago  -    hello",
  ]);
});

test("session info leaves out what is not known", () => {
  const lines = formatInfo(
    {
      type: "blemeesd.session_info_reply",
      session_id: "s1",
      backend: "demo",
      native_session_id: "s1",
      turns: 0,
      last_turn_usage: {},
      cumulative_usage: {},
      context_tokens: 0,
      attached: false,
      subprocess_running: false,
      last_seq: 0,
    },
    80,
  );
  expect(lines.map((line) => line.split(/\s\s+/)[0])).toEqual([
    "session",
    "backend",
    "state",
    "turns",
    "tokens",
    "context",
    "last seq",
  ]);
});

test.each([
  [0, "0s"],
  [59_000, "59s"],
  [60_000, "1m"],
  [3_600_000, "1h"],
  [200_000_000, "2d"],
])("%i ms is %s", (ms, text) => {
  expect(formatAge(ms)).toBe(text);
});
