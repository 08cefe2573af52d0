// Where agents that outlive the daemon have their run directories.
import type { RunOrder } from "../base/child.ts";
import { toMessage } from "../base/coded-error.ts";
import type { Log } from "../base/log.ts";

export interface RunsHost {
  /** The directory of the run directories. */
  root: string;
  /** The daemon's version, for a later daemon of another one. */
  version: string;
}

export function toRunOrder({ root }: RunsHost, log: Log): RunOrder {
  const unavailable = (error: unknown) => log.warn("run.not_kept", { root, message: toMessage(error) });
  return { root, unavailable };
}
