// The input and output of the checks of `sm doctor`.

export interface CheckContext {
  env: Readonly<Record<string, string | undefined>>;
  version: string;
  /** From the flag or the environment; undefined: the default. */
  socket: string | undefined;
  /** The script of demian. */
  demianProgram: string;
  signal: AbortSignal;
}

export interface Check {
  name: string;
  status: "ok" | "warn" | "fail";
  text: string;
  /** How to fix it. */
  todo?: string;
}
