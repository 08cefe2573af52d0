// What a conversation works with, and how a message of the queue goes through it.
import type { Backend } from "../backends/types.ts";
import type { Log } from "../base/log.ts";
import type { ResultEvent } from "../protocol/events.ts";
import type { SessionHooks } from "./hooks.ts";
import type { Publisher } from "./publish.ts";
import type { Ledger } from "./requests.ts";
import type { Stream } from "./stream.ts";

export interface ConversationContext {
  backend: Backend;
  stream: Stream;
  publisher: Publisher;
  ledger: Ledger;
  log: Log;
  stderrRate: { lines: number; windowMs: number };
  /** Environment for the agent's process: who it is and how it reaches us. */
  env: Record<string, string>;
  hooks: SessionHooks;
  /** A turn gets this result now: what else belongs into the row is put there before it is stored. */
  turnEnding(result: ResultEvent): void;
  /** What the agent did behind its turns is over. */
  calmed(): void;
  /** A turn has ended, or the agent does not wait for an answer any more. */
  turnEnded(): void;
  /** Somebody is there who will go on talking, so a killed agent is started again at once. */
  keepWarm(): boolean;
}

/** How a message that was stored goes over to the agent. */
export interface Handover {
  /** Its turn begins now; what is put into the row is stored together with that. */
  begun(turn_id: string): void;
  /** Asked last of all: it was called off, or something else goes first, while the agent started. */
  isStale(): boolean;
  /** Nobody's own words: the session is not called by them. */
  isTold?: boolean;
  /** Resolves when that is stored. Throws `store_failed`: then the agent is not given the message. */
  stored(): Promise<void>;
}
