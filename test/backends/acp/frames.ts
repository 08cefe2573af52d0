// A session of the translator in the middle of a turn, and frames that an agent may send into it.
import { readSettings } from "../../../src/backends/acp/settings.ts";
import { type AcpReport, type AcpState, createState } from "../../../src/backends/acp/state.ts";
import { beginTurn, type Frame, translate } from "../../../src/backends/acp/translate.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import type { AgentEvent } from "../../../src/protocol/events.ts";

/** demian's description of itself. */
export const DEMIAN: JsonObject = { agentCapabilities: { _meta: { demian: {} } } };

export function running(agent: JsonObject = DEMIAN, options = {}): AcpState {
  const parts = { backend: "demian", sessionId: "s", cwd: "/p", options, agent, isNew: true };
  const state = createState({ ...parts, settings: readSettings({}) });
  beginTurn(state);
  return state;
}

export function update(body: JsonObject): Frame {
  return { kind: "notification", method: "session/update", params: { sessionId: "s", update: body } };
}

/** demian's extensions of ACP. */
export function told(event: JsonObject, more: JsonObject = {}): Frame {
  return { kind: "notification", method: "_demian/event", params: { sessionId: "s", event, ...more } };
}

export function play(state: AcpState, frames: Frame[]): AcpReport[] {
  return frames.flatMap((frame) => translate(state, frame));
}

export function eventsOf(reports: AcpReport[]): AgentEvent[] {
  return reports.flatMap((report) => (report.kind === "event" ? [report.event] : []));
}
