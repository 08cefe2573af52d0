// What a stream says of itself: that events are missing, that it is behind, that it is over.
import { type Draft, type Moment, push } from "./draft.ts";
import { closeAll } from "./reduce-turns.ts";
import { numberOf, wordOf } from "./values.ts";

export function reduceSign(
  draft: Draft,
  kind: "gap" | "catching_up" | "closed",
  data: Readonly<Record<string, unknown>>,
  moment: Moment,
): void {
  const { view, memory } = draft;
  if (kind === "gap") push(draft, moment, { kind: "gap", text: gapText(data) });
  if (kind === "catching_up") {
    const last = numberOf(data["last_seq"]);
    // Nothing is lost, so it is worth a word only while it lasts.
    if (last === undefined || last <= view.seq) return;
    memory.catchUpTo = last;
    view.link = { ...view.link, message: "catching up" };
  }
  if (kind === "closed") {
    closeAll(draft, moment.at_ms);
    view.closed = wordOf(data["reason"]) ?? "closed";
  }
  draft.hasChanged = true;
}

function gapText(data: Readonly<Record<string, unknown>>): string {
  const [since, first] = [numberOf(data["since_seq"]), numberOf(data["first_available_seq"])];
  const reason = wordOf(data["reason"]) ?? wordOf(data["gap_reason"]);
  const which =
    since === undefined || first === undefined || first <= since + 1 ? "" : ` ${since + 1} to ${first - 1}`;
  return `events${which} are missing here${reason === undefined ? "" : ` (${reason})`}`;
}
