// The names of the activity states, without the schemas they come from.
import type { ActivityState } from "../../client/index.ts";

const STATES: Record<ActivityState, true> = {
  working: true,
  thinking: true,
  waiting_input: true,
  waiting_permission: true,
  idle: true,
  stopped: true,
};

export const ACTIVITY_STATE_NAMES = Object.keys(STATES) as readonly ActivityState[];
