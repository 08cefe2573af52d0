// What a session may do, on one scale for all agents, so that a child can be compared with its parent. Each backend maps its
// options to it (backends/<x>/rights.ts). Options that are not set count as ordinary: the user's own configuration decides.

/**
 * approvals: 0 asks, 1 does not. mode: 0 changes nothing, 1 asks before changes, 2 changes files without asking, 3 everything.
 * sandbox: 0 read-only, 1 the workspace, 2 everything. network: 0 as its sandbox has it, 1 open.
 */
export const LEVELS = ["approvals", "mode", "sandbox", "network"] as const;
export type LevelName = (typeof LEVELS)[number];

export interface Level {
  readonly level: number;
  /** The option that sets it. */
  readonly option: string;
}

export interface SessionRights {
  readonly levels: Readonly<Record<LevelName, Level>>;
  /** Directories it may change, by the option that names them. Without `cwd`: also the daemon's. */
  readonly roots: readonly { path: string; option: string }[];
  /** Options that run code or load configuration, with their values. */
  readonly code: Readonly<Record<string, unknown>>;
  /** What it cannot use, such as tools. */
  readonly denies: readonly string[];
}

/** The levels of options that are not set. */
export const ORDINARY = { approvals: 0, mode: 1, sandbox: 1, network: 0 } as const;

export function listRoots(
  options: Readonly<Record<string, unknown>>,
  names: readonly string[],
): SessionRights["roots"] {
  return names.flatMap((option) =>
    [options[option] ?? []].flat().map((path) => ({ path: String(path), option })),
  );
}

export function pickCode(
  options: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Record<string, unknown> {
  return Object.fromEntries(
    names.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
  );
}
