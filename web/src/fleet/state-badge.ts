// The badge of a session's state: icon, label, color.
import { html, type TemplateResult } from "lit";
import { findShownState, formatState, type ShownState } from "../../../src/client/view/format.ts";
import type { SessionView } from "../../../src/protocol/views.ts";
import { type IconName, icon } from "../icons.ts";

interface Look {
  word: string;
  icon: IconName;
  tone: "wait" | "work" | "muse" | "bad" | "none";
}

const TROUBLE = { icon: "stalled", tone: "bad" } as const;
const LOOKS: Record<ShownState, Omit<Look, "word">> = {
  waiting_permission: { icon: "hand", tone: "wait" },
  waiting_input: { icon: "question", tone: "wait" },
  working: { icon: "work", tone: "work" },
  thinking: { icon: "think", tone: "muse" },
  idle: { icon: "idle", tone: "none" },
  stopped: { icon: "stopped", tone: "none" },
  waiting_quota: { icon: "idle", tone: "wait" },
  starting: { icon: "work", tone: "work" },
  stalled: TROUBLE,
  held: TROUBLE,
  failed: TROUBLE,
};

export function getLook(session: SessionView): Look {
  return { ...LOOKS[findShownState(session)], word: formatState(session) };
}

export function stateBadge(session: SessionView): TemplateResult {
  const look = getLook(session);
  return html`<span class="badge" data-tone=${look.tone}>${icon(look.icon)}${look.word}</span>`;
}
