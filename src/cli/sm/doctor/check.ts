// What a check of `sm doctor` is given and what it finds.

export interface Patient {
  env: Readonly<Record<string, string | undefined>>;
  version: string;
  /** As given on the command line or by the environment; undefined: the default. */
  socket: string | undefined;
  /** The script of our own agent. */
  demianProgram: string;
  signal: AbortSignal;
}

export interface Check {
  name: string;
  status: "ok" | "warn" | "fail";
  /** What was found. */
  text: string;
  /** What to do about it. */
  todo?: string;
}
