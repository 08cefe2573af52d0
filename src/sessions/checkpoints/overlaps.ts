// Notices that two live sessions have changed the same file: in one directory, where one may undo what the other did, or in
// worktrees of one repository, which will conflict when they are merged. Pure, but for what it remembers.
import { type RawPath, toShownPath } from "../../git/index.ts";
import type { NoticeEvent } from "../../protocol/events.ts";
import { toNotice } from "../../protocol/notices.ts";

/** What a turn changed. */
export interface TurnFiles {
  session_id: string;
  root: string;
  /** The same for all worktrees of a repository. */
  commonDir: string;
  paths: readonly RawPath[];
}

export interface Overlap {
  /** The session whose turn ended, and the one that changed the files before. */
  session_id: string;
  other: string;
  paths: string[];
  isSameDirectory: boolean;
}

interface Changed {
  root: string;
  paths: Set<RawPath>;
}

/** A turn that rewrites everything says nothing about who works on what. */
const MAX_PATHS = 2_000;

export class Overlaps {
  readonly #repositories = new Map<string, Map<string, Changed>>();
  /** What was reported, by the pair of sessions. */
  readonly #reported = new Map<string, Set<RawPath>>();

  /** The files that this turn and a live session have both changed, each pair and file once. */
  take(
    { session_id, root, commonDir, paths }: TurnFiles,
    isLive: (session_id: string) => boolean,
  ): Overlap[] {
    if (paths.length === 0 || paths.length > MAX_PATHS) return [];
    const sessions = this.#repositories.get(commonDir) ?? new Map<string, Changed>();
    this.#repositories.set(commonDir, sessions);
    const overlaps: Overlap[] = [];
    for (const [other, changed] of sessions) {
      if (other === session_id) continue;
      if (!isLive(other)) {
        sessions.delete(other);
        continue;
      }
      const known = this.#reportedFor(session_id, other);
      const fresh = paths.filter((path) => changed.paths.has(path) && !known.has(path));
      if (fresh.length === 0) continue;
      for (const path of fresh) known.add(path);
      const shown = fresh.map((path) => toShownPath(path).path);
      overlaps.push({ session_id, other, paths: shown, isSameDirectory: changed.root === root });
    }
    const own = sessions.get(session_id);
    const all = new Set([...(own?.root === root ? own.paths : []), ...paths]);
    sessions.set(session_id, { root, paths: new Set([...all].slice(-MAX_PATHS)) });
    return overlaps;
  }

  /** The session was deleted. */
  forget(session_id: string): void {
    for (const [commonDir, sessions] of this.#repositories) {
      sessions.delete(session_id);
      if (sessions.size === 0) this.#repositories.delete(commonDir);
    }
    for (const pair of this.#reported.keys()) {
      if (pair.split(" ").includes(session_id)) this.#reported.delete(pair);
    }
  }

  #reportedFor(one: string, other: string): Set<RawPath> {
    const pair = [one, other].sort().join(" "); // ids contain no spaces
    const known = this.#reported.get(pair) ?? new Set();
    this.#reported.set(pair, known);
    return known;
  }
}

const MAX_SHOWN = 20;

export interface OverlapNames {
  /** The session that the notice is about, and the other one. */
  session_id: string;
  name: string;
  other: string;
  otherName: string;
}

export function toOverlapNotice(
  backend: string,
  { session_id, name, other, otherName }: OverlapNames,
  { paths, isSameDirectory }: Pick<Overlap, "paths" | "isSameDirectory">,
): NoticeEvent {
  const [first = ""] = paths;
  const files = paths.length === 1 ? first : `${first} and ${paths.length - 1} more`;
  const where = isSameDirectory ? "in the same directory" : "in their worktrees";
  return toNotice(backend, "same_file_changed", {
    level: "warn",
    text: `${name} and ${otherName} have both changed ${files}, ${where}`,
    data: {
      ...{ session_ids: [session_id, other], paths: paths.slice(0, MAX_SHOWN), count: paths.length },
      same_directory: isSameDirectory,
    },
  });
}
