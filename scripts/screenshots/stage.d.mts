export interface OpenStage {
  cwd: string;
  env: Readonly<Record<string, string>>;
  http: { ask(method: string, path: string, body?: object): Promise<string> };
  /** The sessions' ids by their names. */
  ids: ReadonlyMap<string, string>;
  /** What the clock of the stage says. */
  nowMs(): number;
  close(): Promise<void>;
}

/** With an empty list: a daemon without sessions. */
export function openStage(scenes?: readonly never[]): Promise<OpenStage>;
