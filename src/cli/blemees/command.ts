// What a command of blemees (sm) gets besides its arguments.
import type { HttpClient } from "../../client/index.ts";
import type { Command as ProgramCommand } from "../program.ts";
import type { RequestContext } from "../requests.ts";

export interface BlemeesContext extends RequestContext {
  version: string;
  /** The daemon's socket, if given. */
  socket: string | undefined;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  /** The script of blemeesd, to start it. */
  daemonProgram: string;
  /** The script of demian, for the doctor. */
  demianProgram: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Starts the daemon if needed and allowed. `isPatient`: reconnects until Ctrl-C. */
  connect(how?: { isPatient: boolean }): Promise<HttpClient>;
}

export type BlemeesCommand = ProgramCommand<BlemeesContext>;
