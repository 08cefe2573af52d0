// The badge of a session's state: icon, label, color.
import { html, type TemplateResult } from "lit";
import { formatState } from "../../../src/client/view/format.ts";
import type { SessionView } from "../../../src/protocol/views.ts";
import { type IconName, icon } from "../icons.ts";

interface Look {
  word: string;
  icon: IconName;
  tone: "wait" | "work" | "muse" | "bad" | "none";
}

const LOOKS: Record<SessionView["activity_state"], Omit<Look, "word">> = {
  waiting_permission: { icon: "hand", tone: "wait" },
  waiting_input: { icon: "question", tone: "wait" },
  working: { icon: "work", tone: "work" },
  thinking: { icon: "think", tone: "muse" },
  idle: { icon: "idle", tone: "none" },
  stopped: { icon: "stopped", tone: "none" },
  starting: { icon: "work", tone: "work" },
};
const TROUBLE = { icon: "stalled", tone: "bad" } as const;

/** An idle session whose turn failed shows `failed`, so that it is not overlooked. */
export function getLook(session: SessionView): Look {
  const isOver = session.activity_state === "idle" || session.activity_state === "stopped";
  const isAsking = session.pending_requests > 0;
  if (isOver && !isAsking && session.failed) return { ...TROUBLE, word: "failed" };
  const look = isOver && isAsking ? LOOKS.waiting_permission : LOOKS[session.activity_state];
  return { ...(session.stalled ? TROUBLE : look), word: formatState(session) };
}

export function stateBadge(session: SessionView): TemplateResult {
  const look = getLook(session);
  return html`<span class="badge" data-tone=${look.tone}>${icon(look.icon)}${look.word}</span>`;
}
