// Shows what a search found: the matches in a text, and the part of it that fits. Pure.
import type { SearchHit, SearchRole } from "../../protocol/search.ts";

export const ROLE_NAMES: Readonly<Record<SearchRole, string>> = { user: "you", agent: "agent", tool: "tool" };

export interface MarkedText {
  text: string;
  marks: readonly (readonly [number, number])[];
}

export interface TextPart {
  text: string;
  isMarked: boolean;
}

/** The hits of each session, in the order of their best ones. */
export function splitBySession(hits: readonly SearchHit[]): SearchHit[][] {
  const groups = new Map<string, SearchHit[]>();
  for (const hit of hits) {
    const group = groups.get(hit.session_id) ?? [];
    groups.set(hit.session_id, group);
    group.push(hit);
  }
  return [...groups.values()];
}

/** Everything before, in and after the matches. */
export function splitMarks({ text, marks }: MarkedText): TextPart[] {
  const parts: TextPart[] = [];
  let at = 0;
  for (const [start, end] of marks) {
    parts.push(
      { text: text.slice(at, start), isMarked: false },
      { text: text.slice(start, end), isMarked: true },
    );
    at = end;
  }
  parts.push({ text: text.slice(at), isMarked: false });
  return parts.filter((part) => part.text !== "");
}

/** The part of the text around its first match, in this many characters. */
export function cutMarked({ text, marks }: Pick<SearchHit, "text" | "marks">, width: number): MarkedText {
  const room = Math.max(10, width);
  if (text.length <= room) return { text, marks };
  const [first = 0] = marks[0] ?? [];
  const start = Math.max(0, Math.min(first - Math.floor(room / 3), text.length - room + 1));
  const head = start > 0 ? "…" : "";
  const end = start + room - head.length;
  const isCut = end < text.length;
  const shown = head + text.slice(start, isCut ? end - 1 : end) + (isCut ? "…" : "");
  const shift = head.length - start;
  const limit = shown.length - (isCut ? 1 : 0);
  return {
    text: shown,
    marks: marks.flatMap(([from, to]): [number, number][] => {
      const inside: [number, number] = [Math.max(head.length, from + shift), Math.min(limit, to + shift)];
      return inside[0] < inside[1] ? [inside] : [];
    }),
  };
}
