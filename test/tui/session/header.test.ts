// The header: the state of the session and the time of its turn.
import { expect, test } from "vitest";
import { pending } from "../../client/request-rows.ts";
import { aView } from "../../client/session-views.ts";
import { liveView, Player } from "../support/ui.ts";

const header = (player: Player): string => player.screen().split("\n").slice(0, 2).join("\n");

test("a failed session is not merely idle; a pending request comes first", () => {
  const session = aView({ name: "fixer", failed: true });
  expect(header(new Player({ view: liveView({ session }) }))).toMatch(/^✗ failed {2}fixer/);
  const asking = aView({ failed: true, activity_state: "waiting_permission", pending_requests: 1 });
  const view = liveView({ session: asking, requests: [pending()] });
  expect(header(new Player({ view }))).toMatch(/^\? waiting_permission/);
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
