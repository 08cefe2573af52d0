// What the checks of `sm doctor` get.

export interface CheckContext {
  env: Readonly<Record<string, string | undefined>>;
  version: string;
  /** From the flag or the environment; undefined: the default. */
  socket: string | undefined;
  /** The script of demian. */
  demianProgram: string;
  signal: AbortSignal;
}
