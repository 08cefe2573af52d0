// What a session may do, on one scale for all agents, so that a child can be compared with its parent. Each backend maps its
// options to it (backends/<x>/rights.ts). Options that are not set count as ordinary: the user's own configuration decides.

/**
 * approvals, what happens to an action that is not allowed: 0 it and most others are asked, 1 asked, 2 refused, 3 done
 * within the agent's sandbox, 4 done.
 * mode: 0 changes nothing, 1 asks before changes, 2 changes files without asking, 3 everything.
 * sandbox, for what is not asked: 0 read-only, 1 the workspace, 2 none. network: 0 as its sandbox has it, 1 open.
 */
export const LEVELS = ["approvals", "mode", "sandbox", "network"] as const;
export type LevelName = (typeof LEVELS)[number];

export interface Level {
  readonly level: number;
  /** The option that sets it. */
  readonly option: string;
  /** What a child may have, if more: the session has it too, but asks before it uses it. */
  readonly limit?: number;
  /** How to have less, if the option is not set. */
  readonly remedy?: string;
  /** By an option of the session, not by the user's configuration of the agent. */
  readonly isSet?: boolean;
}

export interface Denied {
  readonly what: string;
  /** The option that denies it. */
  readonly option: string;
}

export interface SessionRights {
  readonly levels: Readonly<Record<LevelName, Level>>;
  /** Directories it may change, by the option that names them. Without `cwd`: also the daemon's. */
  readonly roots: readonly { path: string; option: string }[];
  /** Options that run code, load configuration or are unknown, with their values. To leave one out may give rights too. */
  readonly code: Readonly<Record<string, unknown>>;
  /** The same, but they only add something. */
  readonly additions: Readonly<Record<string, unknown>>;
  /** What it cannot use, such as tools. */
  readonly denies: readonly Denied[];
}

/** The levels of options that are not set. */
export const ORDINARY = { approvals: 1, mode: 1, sandbox: 1, network: 0 } as const;
export const WIDEST = { approvals: 4, mode: 3, sandbox: 2, network: 1 } as const;
export const REFUSES = 2;
export const WITHIN_SANDBOX = 3;

export function listRoots(
  options: Readonly<Record<string, unknown>>,
  names: readonly string[],
): SessionRights["roots"] {
  return names.flatMap((option) =>
    [options[option] ?? []].flat().map((path) => ({ path: String(path), option })),
  );
}

/** The options that are set, except those that are rated otherwise or give no rights. */
export function omitOptions(
  options: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(options).filter(([name, value]) => value !== undefined && !known.has(name)),
  );
}
