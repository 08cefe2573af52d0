// What the session table needs, and what it is asked for.
import type { Backend } from "../backends/types.ts";
import type { Log } from "../base/log.ts";
import type { InputRecord } from "../protocol/queue.ts";
import type { SessionWorktree } from "../protocol/worktrees.ts";
import type { Store } from "../store/types.ts";
import type { AgentParts } from "./agent/agent.ts";
import type { Extras } from "./agent/extras.ts";
import type { CloseCondition } from "./core/jobs.ts";
import type { Rates } from "./core/spending.ts";
import type { SessionHooks } from "./hooks.ts";
import type { QuotaPort } from "./quota/desk.ts";
import type { Ledger } from "./requests/ledger.ts";
import type { Session } from "./session.ts";
import type { Publisher } from "./stream/publish.ts";

export interface TableOptions {
  backends: readonly Backend[];
  store: Store;
  publisher: Publisher;
  ledger: Ledger;
  log: Log;
  /** Recovery is done; no session is loaded before. */
  ready: Promise<void>;
  limits: { maxSessions: number; maxSessionsPerClient: number };
  ringSize: number;
  stderrRate: { lines: number; windowMs: number };
  env: Record<string, string>;
  /** Directory for input recordings; absent: none. */
  traceDir?: string | undefined;
  /** Absent: there are no tools. */
  callTool?: AgentParts["callTool"] | undefined;
  /** What agents get besides their options. Absent: nothing. */
  extras?: Extras | undefined;
  /** Before an agent starts in the worktree of its session. */
  prepareWorktree?(worktree: SessionWorktree): Promise<void>;
  hooks?: SessionHooks;
  /** Absent: no session waits for a limit. */
  quota?: QuotaPort | undefined;
  ratesOf?(backend: string): Rates;
  inputChanged?(session_id: string, input: InputRecord): void;
}

export interface RemoveOrder {
  /** Evaluated when the job runs: the owner may have changed. */
  if?: CloseCondition;
  /** Called after it is closed, before the id is free again. */
  afterwards?: () => Promise<void>;
  /** Nothing of it is left in the store. */
  isForgotten?: boolean;
}

export interface CreateOrder {
  /** Throws if a new session is not allowed. */
  check(): void;
  /** Frames of a conversation that it continues. */
  past?: readonly object[] | undefined;
}

export interface Obtained<T> {
  session: Session;
  opening: Promise<T>;
  /** It was loaded or created for this. */
  isNew: boolean;
}
