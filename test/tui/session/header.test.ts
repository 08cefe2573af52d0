// The header: the state of the session and the time of its turn.
import { expect, test } from "vitest";
import type { Entry } from "../../../src/client/view/types.ts";
import { pending } from "../../client/request-rows.ts";
import { aView } from "../../client/session-views.ts";
import { liveView, Player, toolEntry } from "../support/ui.ts";

const header = (player: Player): string => player.screen().split("\n").slice(0, 2).join("\n");

test("a failed session is not merely idle; a pending request comes first", () => {
  const session = aView({ name: "fixer", failed: true });
  expect(header(new Player({ view: liveView({ session }) }))).toMatch(/^✗ failed {2}fixer/);
  const asking = aView({ failed: true, activity_state: "waiting_permission", pending_requests: 1 });
  const view = liveView({ session: asking, requests: [pending()] });
  expect(header(new Player({ view }))).toMatch(/^\? needs approval/);
});

test("the clock of a turn stops while a request is pending", () => {
  const player = new Player();
  const since = player.now_ms - 90_000;
  const session = aView({ activity_state: "working", turn: { turn_id: "t", started_at_ms: since } });
  player.view({ session, turn: { started_at_ms: since } });
  expect(header(player)).toContain("1:30");
  const waits = { totalMs: 0, open: ["req_1"], sinceMs: since + 5_000 };
  player.view({ turn: { started_at_ms: since, waits } });
  expect(header(player)).toContain("0:05");
});

test("above the composer is what the agent does, and it turns each second", () => {
  const running = (title: string): Entry => {
    const tool = { ...toolEntry("t1"), at_ms: 1_000_000 - 7_000 };
    return tool.kind === "tool" ? { ...tool, status: "running", title } : tool;
  };
  const player = new Player({
    view: liveView({ turn: { started_at_ms: 990_000 }, entries: [running("npm test")] }),
  });
  const rule = (): string | undefined =>
    player
      .screen()
      .split("\n")
      .find((row) => row.startsWith("─ chat"));
  expect(rule()).toMatch(/^─ chat · ◐ running Bash: npm test 0:07 ─+$/);
  player.event({ kind: "tick", at_ms: player.now_ms + 1_000 });
  expect(rule()).toMatch(/^─ chat · ◓ running Bash: npm test 0:08 ─+$/);
  player.view({ entries: [running("x".repeat(200))] });
  expect(rule()).toHaveLength(80);
  expect(rule()).toMatch(/x… 0:07 ─+$/);
  const { turn: _over, ...rest } = player.ui.view;
  player.event({ kind: "view", view: rest, at_ms: player.now_ms });
  expect(rule()).toMatch(/^─ chat ─+$/);
});
