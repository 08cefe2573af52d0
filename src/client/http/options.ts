// How a client of the HTTP API behaves.
import type { Backoff } from "../backoff.ts";
import type { RetryOptions } from "./retry.ts";

export interface HttpApiOptions {
  /** The session whose agent makes the calls: sessions it spawns become its children. */
  session_id?: string;
  /** How to reconnect to a daemon that goes away; false disables retries. */
  retry?: Backoff | false;
  /** Retry also if no daemon answers the first attempt: for a client that has seen one. */
  expectsDaemon?: boolean;
  onRetry?: RetryOptions["onRetry"];
}
