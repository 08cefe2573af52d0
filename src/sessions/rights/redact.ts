// What an agent sees of sessions outside its subtree: names and states, no contents.
import { defined } from "../../base/values.ts";
import type { InputRecord } from "../../protocol/queue.ts";
import type { SessionSummary } from "../../protocol/session.ts";
import type { SessionView } from "../../protocol/views.ts";
import { createUsage } from "../core/usage.ts";
import type { Relation } from "./operations.ts";

/** Its ancestors and siblings work on the same task: it also sees how their last turn ended. */
const RELATED: ReadonlySet<Relation> = new Set(["parent", "above", "sibling"]);

export function redactView(view: SessionView, relations: readonly Relation[]): SessionView {
  const { session_id, backend, provider, name, parent, children, managed } = view;
  const { activity_state, failed, attached, running, stalled, pending_requests, queued } = view;
  const { started_at_ms, last_active_at_ms, last_event_at_ms, stopped_at_ms, archived_at_ms, turns } = view;
  const isRelated = relations.length > 0 && relations.every((relation) => RELATED.has(relation));
  return {
    ...{ session_id, backend, provider, children, managed, activity_state, attached, running, stalled },
    ...{ pending_requests, queued, turns, started_at_ms, last_active_at_ms },
    ...defined({ name, parent, failed, last_event_at_ms, stopped_at_ms, archived_at_ms }),
    ...defined({ last_result: isRelated ? view.last_result : undefined }),
    family_pending_requests: view.family_pending_requests,
    usage: createUsage().cumulative_usage,
    context_tokens: 0,
    last_seq: 0,
  };
}

/** Whether the message was read, and how its turn ended. */
export function redactInput(input: InputRecord | undefined): InputRecord | undefined {
  if (input === undefined) return undefined;
  const { message_id, kind, state, queued_at_ms, outcome } = input;
  return { message_id, kind, state, queued_at_ms, ...defined({ outcome }) };
}

export function redactSummary(summary: SessionSummary): SessionSummary {
  const { session_id, backend, attached, activity_state, turn_active } = summary;
  const { started_at_ms, last_active_at_ms, pending_requests } = summary;
  return {
    ...{ session_id, backend, attached },
    ...defined({ activity_state, turn_active, started_at_ms, last_active_at_ms, pending_requests }),
  };
}
