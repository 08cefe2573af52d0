// What the agent does right now, in a few words. Pure; shared by the terminal UI and the dashboard.
import { formatTool } from "./format.ts";
import type { Entry, View } from "./types.ts";

export interface Doing {
  /** "running", "thinking", "writing" or "waiting for the agent". */
  words: string;
  /** What is running: untrusted text on one line. */
  what?: string;
  since_ms?: number;
}

/** Entries before these are not looked at: what is open is near the end. */
const NEWEST = 100;

/** Undefined if no turn is running, or the turn waits for the user. */
export function describeActivity({ entries, turn, session, requests }: View): Doing | undefined {
  if ((turn === undefined && session?.turn === undefined) || requests.length > 0) return undefined;
  const entry = entries.slice(-NEWEST).findLast(isOpen);
  if (entry === undefined) {
    const since_ms = session?.turn?.started_at_ms ?? turn?.started_at_ms;
    return { words: "waiting for the agent", ...(since_ms === undefined ? {} : { since_ms }) };
  }
  const since = entry.at_ms === undefined ? {} : { since_ms: entry.at_ms };
  if (entry.kind === "tool") return { words: "running", what: formatTool(entry), ...since };
  return { words: entry.kind === "thinking" ? "thinking" : "writing", ...since };
}

type Open = Extract<Entry, { kind: "tool" | "thinking" | "text" }>;

function isOpen(entry: Entry): entry is Open {
  if (entry.kind === "tool") return entry.status === "running";
  return (entry.kind === "thinking" || entry.kind === "text") && entry.isOpen;
}
