import stringWidth from "string-width";
import { describe, expect, test } from "vitest";
import {
  buildTree,
  formatAction,
  formatProjects,
  formatSessionSheet,
  formatSessionTable,
  formatSessionTree,
} from "../../../src/cli/blemees/session-lines.ts";
import type { SessionView } from "../../../src/client/index.ts";
import { anAction, aView } from "../../client/session-views.ts";

const NOW = 3_600_000;
const texts = (lines: { text: string }[]) => lines.map(({ text }) => text);

describe("the table", () => {
  const worker = aView({
    session_id: "w1",
    name: "fixer",
    provider: "codex-app",
    activity_state: "waiting_permission",
    pending_requests: 1,
    family_pending_requests: 3,
    cost_usd: 0.1234,
    turn: { turn_id: "t", started_at_ms: NOW - 9_000 },
    usage: { input_tokens: 12_000, output_tokens: 500, cache_read_input_tokens: 90_000 },
    project: "/srv/app",
    started_at_ms: NOW - 120_000,
    last_active_at_ms: NOW - 90_000,
    last_event_at_ms: NOW - 5_000,
    last_action: anAction({ summary_text: "ran npm test", status: "failed", exit_code: 1 }),
  });

  test("has id, name, agent, state, age, activity, cost, pending requests, project and the last action", () => {
    expect(texts(formatSessionTable([worker], Infinity, NOW))).toEqual([
      "SESSION  NAME   AGENT      STATE           AGE  ACTIVE  TOKENS  COST   PENDING     PROJECT  LAST ACTION",
      "w1       fixer  codex-app  needs approval  2m   5s      12.5k   $0.12  1 +2 below  app      ✗ ran npm test",
    ]);
  });

  test("can be grouped by project, in the order of the sessions", () => {
    const views = ["/srv/app", "/srv/b", "/srv/app", undefined].map((project, n) =>
      aView({ session_id: `s${n}`, ...(project === undefined ? {} : { project }) }),
    );
    const lines = texts(formatProjects(views, Infinity, NOW)).map((line) => line.split("  ")[0]);
    expect(lines).toEqual(["SESSION", "/srv/app", "s0", "s2", "/srv/b", "s1", "no project", "s3"]);
  });

  test("is cut to the screen, and an agent's text stays in its cell", () => {
    const sly = {
      ...worker,
      name: "a\u001b[2J\nb",
      last_action: anAction({ summary_text: "x\ny".repeat(99) }),
    };
    const lines = texts(formatSessionTable([sly], 80, NOW));
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      expect(line.length).toBeLessThanOrEqual(80);
      expect(line).not.toContain("\u001b");
      expect(line).not.toContain("\n");
    }
  });

  test("on a narrow screen the name is shortened before the state", () => {
    const idle = aView({ session_id: "5a01f0d8", name: "n".repeat(30), provider: "claude" });
    const [header, line] = texts(formatSessionTable([idle], 40, NOW));
    expect(header).toContain("STATE");
    expect(line).toMatch(/^5a01f0d8 {2}n{6,16}… {2}claude {2}idle/);
    const asking = { ...idle, activity_state: "waiting_permission" } as const;
    expect(texts(formatSessionTable([asking], 40, NOW))[1]).toContain("needs approv");
    expect(texts(formatSessionTable([idle], 80, NOW))[1]).toContain(`${"n".repeat(24)}…`);
  });

  test.each([
    [{ pending_requests: 1 }, "yellow"],
    [{ stalled: true }, "yellow"],
    [{ activity_state: "stopped" }, "dim"],
    [{ failed: true }, "red"],
    [{ activity_state: "stopped", failed: true }, "red"],
    [{}, undefined],
  ] as const)("a session with %j is highlighted as %s", (fields, style) => {
    expect(formatSessionTable([aView(fields as object)], 80, NOW)[1]?.style).toBe(style);
  });

  test.each([
    [{ activity_state: "stopped", failed: true }, "failed"],
    [{ activity_state: "starting" }, "starting"],
  ] as const)("a session with %j has the state %s", (fields, state) => {
    expect(formatSessionTable([aView(fields)], 80, NOW)[1]?.text.split(/\s{2,}/)).toContain(state);
  });

  test("its columns are aligned whatever script the names use", () => {
    const names = ["plain", "修復テスト", "🛠️ tools", "e\u0301te\u0301", "👩‍👩‍👧 family"];
    const views = names.map((name, at) => aView({ session_id: `s${at}`, name, activity_state: "idle" }));
    const lines = texts(formatSessionTable(views, 120, NOW));
    const at = lines.map((line) => stringWidth(line.slice(0, line.search(/ idle | STATE /))));
    expect(new Set(at).size).toBe(1);
  });

  test("a wide name is cut to its column, and no row is wider than the screen", () => {
    const views = [aView({ session_id: "s", name: "修".repeat(40) })];
    const lines = texts(formatSessionTable(views, 60, NOW));
    for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(60);
    expect(lines[1]).toMatch(/修… +demo +idle/);
  });
});

describe("the tree", () => {
  const child = (session_id: string, parent: string | undefined, started_at_ms: number) =>
    aView({ session_id, started_at_ms, ...(parent === undefined ? {} : { parent }) });
  const family = [
    child("grandchild", "first", 3),
    child("second", "root", 2),
    child("root", undefined, 0),
    child("first", "root", 1),
    child("lost", "elsewhere", 9),
  ];

  test("has parents above their children, the oldest first, in whatever order they come", () => {
    expect(
      texts(formatSessionTree(family, Infinity, NOW)).map((line) => line.split(" -")[0]?.trimEnd()),
    ).toEqual([
      expect.stringMatching(/^SESSION/),
      "root",
      "├─ first",
      "│  └─ grandchild",
      "└─ second",
      "lost",
    ]);
  });

  test("leaves no session out, not even in a cycle", () => {
    const ring = [child("a", "b", 1), child("b", "a", 2)];
    expect(buildTree(ring).map(({ view }) => view.session_id)).toEqual(["a", "b"]);
  });
});

test.each([
  [{}, "✓ ran npm test"],
  [{ status: "running" }, "▸ ran npm test"],
  [{ status: "timeout", ended_at_ms: 65_000 }, "✗ ran npm test (1m)"],
  [{ status: "interrupted" }, "■ ran npm test"],
  [{ ended_at_ms: 3_000 }, "✓ ran npm test (3s)"],
  [{ action_kind: "request", ended_at_ms: 9_000 }, "✓ ran npm test (waited 9s)"],
  [{ action_kind: "turn", ended_at_ms: 9_000, waited_ms: 8_500 }, "✓ ran npm test"],
  [{ action_kind: "turn", ended_at_ms: 9_000, waited_ms: 5_000 }, "✓ ran npm test (4s)"],
  [{ status: "failed", not_run: "agent_died" }, "■ ran npm test"],
] as const)("an action with %j reads %j", (fields, text) => {
  expect(formatAction(anAction(fields))).toBe(text);
});

const MONEY = { limit_of: "max_cost_usd", limit: 5, used: 1.5, reserved: 1 } as const;
const TURNS = { limit_of: "max_turns", limit: 9, used: 9, reserved: 0, holder: "lead" } as const;

test("the cost has a bar for the limit that is used up most, and says what is not known", () => {
  const text = (more: Partial<SessionView>) =>
    formatSessionTable([aView(more)], Infinity, NOW).map((line) => line.text)[1];
  // Not as if it were free.
  expect(text({ cost_usd: 0.002 })).toContain("<$0.01");
  expect(text({ cost_usd: 1.5, budgets: [MONEY] })).toContain("$1.50 ▓▓░░░░░░ 30%");
  expect(text({ cost_usd: 1.5, budgets: [MONEY, TURNS] })).toContain("$1.50 ▓▓▓▓▓▓▓▓ 100%");
  const unknown = aView({ budgets: [{ ...MONEY, is_unpriced: true }] });
  expect(text(unknown)).toContain("▓▓░░░░░░ ≥30%");
  expect(formatSessionSheet(unknown, Infinity, NOW).join("\n")).toContain(
    "at least $1.50 of $5.00, $1.00 set aside for descendants, some turns have no known price",
  );
});

test("a session's details contain only what is known", () => {
  const lines = formatSessionSheet(
    aView({ cost_usd: 1.5, budgets: [MONEY, TURNS], cwd: "/w", usage: { input_tokens: 7 } }),
    Infinity,
    NOW,
  );
  expect(lines).toEqual(
    expect.arrayContaining([
      "cost        $1.50",
      "budget      ▓▓░░░░░░ $1.50 of $5.00, $1.00 set aside for descendants",
      "            ▓▓▓▓▓▓▓▓ 9 of 9 turns, shared with lead",
      "cwd         /w",
      "tokens      7 in, 0 out",
    ]),
  );
  expect(lines.join("\n")).not.toMatch(/undefined|NaN|parent|queued/);
});
