// What the tools return: the same fields under the same names as `sm --json`, without those that an agent does not need.
import * as z from "zod";
import { Action } from "../../protocol/actions.ts";
import { RequestPayload, RequestRow } from "../../protocol/requests.ts";
import { SearchHit } from "../../protocol/search.ts";
import { SessionView } from "../../protocol/views.ts";

/** Objects lose the fields that are not named. */
const Brief = z.object(
  SessionView.pick({
    ...{ session_id: true, name: true, backend: true, cwd: true, parent: true, worktree: true },
    ...{ activity_state: true, failed: true, stalled: true, held: true, turns: true, queued: true },
    ...{ pending_requests: true, cost_usd: true, last_result: true },
  }).shape,
);
const BriefAction = z.object(
  Action.pick({ action_kind: true, summary_text: true, status: true, not_run: true, exit_code: true }).shape,
);
const BriefRequest = z.object({
  ...RequestRow.pick({ request_id: true, session_id: true, request_type: true }).shape,
  payload: z.object(RequestPayload.shape).omit({ details: true }),
});
const BriefHit = z.object(
  SearchHit.pick({ session_id: true, name: true, seq: true, role: true, text: true, outside: true }).shape,
);

export const toBrief = (view: SessionView) => Brief.parse(view);
export const toBriefAction = (action: Action) => BriefAction.parse(action);
export const toBriefRequest = (row: RequestRow) => BriefRequest.parse(row);
export const toBriefHit = (hit: SearchHit) => BriefHit.parse(hit);
