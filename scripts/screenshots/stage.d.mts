export interface OpenStage {
  cwd: string;
  env: Readonly<Record<string, string>>;
  http: { ask(method: string, path: string, body?: object): Promise<string> };
  /** The sessions' ids by their names. */
  ids: ReadonlyMap<string, string>;
  /** A script for a page, run before its own scripts: it sets the simulated clock. */
  pageClock(): string;
  close(): Promise<void>;
}

/** With an empty list: a daemon without sessions. */
export function openStage(scenes?: readonly never[]): Promise<OpenStage>;
