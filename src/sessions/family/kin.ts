// Ancestry and size limits of session families. Pure.
import { CodedError } from "../../base/coded-error.ts";
import type { SessionRow } from "../../protocol/session.ts";
import { unknownSessionError } from "../core/refusals.ts";
import { indexChildren, listFamily } from "../views/view.ts";

type Kin = Pick<SessionRow, "session_id" | "parent" | "started_at_ms">;

export interface FamilyLimits {
  /** Per session, counting live children only. */
  maxChildren: number;
  /** Generations below a root. */
  maxDepth: number;
  /** Live sessions of a family. */
  maxSize: number;
}

/** It is in memory, or will be because it has work. Stopped ones wait for a client. */
function countsAsLive(
  { session_id, stopped_at_ms, turn, queue = [] }: SessionRow,
  isLoaded: (session_id: string) => boolean,
): boolean {
  if (stopped_at_ms !== undefined) return false;
  return turn !== undefined || queue.length > 0 || isLoaded(session_id);
}

/** All descendants of a session, parents before children, older siblings first. */
export function listDescendants<R extends Kin>(
  session_id: string,
  rows: Iterable<R>,
): { depth: number; row: R }[] {
  const known = new Map<string, R>();
  for (const row of rows) known.set(row.session_id, row);
  const [, ...below] = listFamily(session_id, indexChildren(known.values()));
  return below.flatMap(({ session_id: id, depth }) => {
    const row = known.get(id);
    return row === undefined ? [] : [{ depth, row }];
  });
}

/** The session's ancestors, parent first; ends at a deleted one. */
export function listAncestors<R extends Kin>(start: R, row: (session_id: string) => R | undefined): R[] {
  const line: R[] = [];
  const seen = new Set([start.session_id]);
  for (let id = start.parent; id !== undefined && !seen.has(id); ) {
    seen.add(id);
    const next = row(id);
    if (next === undefined) break;
    line.push(next);
    id = next.parent;
  }
  return line;
}

/** Throws `family_limit` if the session may not have more children, `session_unknown` if it does not exist. */
export function checkSpawn(
  parent_id: string,
  known: ReadonlyMap<string, SessionRow>,
  limits: FamilyLimits,
  isLoaded: (session_id: string) => boolean,
): void {
  const parent = known.get(parent_id);
  if (parent === undefined) throw unknownSessionError(parent_id);
  const line = listAncestors(parent, (id) => known.get(id));
  if (line.length + 1 > limits.maxDepth) {
    throw tooManyError(
      `session ${parent_id} is ${line.length} generations below its root; the limit is ${limits.maxDepth} (max_family_depth). Do the work in this session, or let its parent spawn the session`,
    );
  }
  const root = line.at(-1) ?? parent;
  const all = listDescendants(root.session_id, known.values())
    .map(({ row }) => row)
    .filter((row) => countsAsLive(row, isLoaded));
  const children = all.filter((row) => row.parent === parent_id);
  if (children.length >= limits.maxChildren) {
    throw tooManyError(
      `session ${parent_id} has ${children.length} active children, the limit (max_children); ${advice(children)}`,
    );
  }
  if (all.length + 1 >= limits.maxSize) {
    throw tooManyError(
      `the family of session ${root.session_id} has ${all.length + 1} active sessions, the limit (max_family_size); ${advice(all)}`,
    );
  }
}

/** Suggests an idle session, the longest idle first. */
function advice(rows: readonly SessionRow[]): string {
  const idle = rows
    .filter((row) => row.turn === undefined && (row.queue?.length ?? 0) === 0)
    .sort((a, b) => a.last_active_at_ms - b.last_active_at_ms);
  const [first] = idle;
  if (first === undefined) return "wait for one to finish, or stop one";
  return `stop an idle one, such as ${first.session_id} (\`sm stop ${first.session_id}\`)`;
}

function tooManyError(message: string): CodedError {
  return new CodedError("family_limit", message);
}
