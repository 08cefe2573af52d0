// The states that sessions can be filtered by, without loading the schemas.
import type { FilterState } from "../../client/index.ts";

const STATES: Record<FilterState, true> = {
  working: true,
  thinking: true,
  waiting_input: true,
  waiting_permission: true,
  idle: true,
  stopped: true,
  starting: true,
  failed: true,
};

export const ACTIVITY_STATE_NAMES = Object.keys(STATES) as readonly FilterState[];
