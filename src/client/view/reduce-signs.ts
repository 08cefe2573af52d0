// Stream status: missing events, catching up, closed.
import { asNumber, asText } from "../../base/values.ts";
import { type Draft, type Moment, push } from "./draft.ts";
import { closeAll } from "./reduce-turns.ts";

export function reduceSign(
  draft: Draft,
  kind: "gap" | "catching_up" | "closed",
  data: Readonly<Record<string, unknown>>,
  moment: Moment,
): void {
  const { view, memory } = draft;
  if (kind === "gap") push(draft, moment, { kind: "gap", text: gapText(data) });
  if (kind === "catching_up") {
    const last = asNumber(data["last_seq"]);
    // Nothing is lost, so it is shown only while it lasts.
    if (last === undefined || last <= view.seq) return;
    memory.catchUpTo = last;
    view.link = { ...view.link, message: "catching up" };
  }
  if (kind === "closed") {
    closeAll(draft, moment.at_ms);
    view.closed = asText(data["reason"]) ?? "closed";
  }
  draft.hasChanged = true;
}

function gapText(data: Readonly<Record<string, unknown>>): string {
  const [since, first] = [asNumber(data["since_seq"]), asNumber(data["first_available_seq"])];
  const reason = asText(data["reason"]) ?? asText(data["gap_reason"]);
  const which =
    since === undefined || first === undefined || first <= since + 1 ? "" : ` ${since + 1} to ${first - 1}`;
  return `events${which} are missing${reason === undefined ? "" : ` (${reason})`}`;
}
