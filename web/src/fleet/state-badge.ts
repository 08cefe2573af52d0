// The badge of a session's state: a sign, a word, a colour.
import { html, type TemplateResult } from "lit";
import type { SessionView } from "../../../src/protocol/views.ts";
import { type IconName, icon } from "../icons.ts";

interface Look {
  word: string;
  icon: IconName;
  tone: "wait" | "work" | "muse" | "bad" | "none";
}

const LOOKS: Record<SessionView["activity_state"], Look> = {
  waiting_permission: { word: "Approve?", icon: "hand", tone: "wait" },
  waiting_input: { word: "Asks you", icon: "question", tone: "wait" },
  working: { word: "Working", icon: "work", tone: "work" },
  thinking: { word: "Thinking", icon: "think", tone: "muse" },
  idle: { word: "Idle", icon: "idle", tone: "none" },
  stopped: { word: "Stopped", icon: "stopped", tone: "none" },
};
const STALLED: Look = { word: "Stalled", icon: "stalled", tone: "bad" };
const FAILED: Look = { word: "Failed", icon: "stalled", tone: "bad" };

export function lookOf(session: SessionView): Look {
  if (session.stalled) return STALLED;
  const isOver = session.activity_state === "idle" || session.activity_state === "stopped";
  return isOver && session.last_result?.error !== undefined ? FAILED : LOOKS[session.activity_state];
}

export function stateBadge(session: SessionView): TemplateResult {
  const look = lookOf(session);
  return html`<span class="badge" data-tone=${look.tone}>${icon(look.icon)}${look.word}</span>`;
}
