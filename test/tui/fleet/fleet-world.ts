// Lists of sessions for tests of the screen of all sessions.
import { applyChanges, createFleet, type Fleet } from "../../../src/client/view/fleet.ts";
import type { SessionView } from "../../../src/client/view/types.ts";
import {
  FIRST_STATE,
  type FleetEffect,
  type FleetState,
  onKey,
  setFleet,
} from "../../../src/tui/fleet/state.ts";
import { aView } from "../../client/session-views.ts";

export const NOW_MS = 1_000_000_000;
export const CONTEXT = { page: 5, cwd: "/home/me" };

export function aFleet(...sessions: Partial<SessionView>[]): Fleet {
  return applyChanges(createFleet(), [
    { kind: "sessions", sessions: sessions.map((fields) => aView({ started_at_ms: NOW_MS, ...fields })) },
    { kind: "link", state: "live" },
  ]);
}

export function aList(...sessions: Partial<SessionView>[]): FleetState {
  return setFleet(FIRST_STATE, aFleet(...sessions));
}

export const TURN = { turn_id: "t1", started_at_ms: NOW_MS };

/** Types single characters as text, longer strings as chords. */
export function press(
  state: FleetState,
  ...keys: string[]
): { state: FleetState; effects: readonly FleetEffect[] } {
  let step: { state: FleetState; effects: readonly FleetEffect[] } = { state, effects: [] };
  for (const key of keys) {
    const input =
      key.length === 1 ? ({ kind: "text", text: key } as const) : ({ kind: "key", chord: key } as const);
    step = onKey(step.state, input, CONTEXT);
  }
  return step;
}
