// What a session needs, and what it returns.
import type { InputRecord } from "../protocol/queue.ts";
import type { Store } from "../store/types.ts";
import type { AgentParts } from "./agent/agent.ts";
import type { Rates } from "./core/spending.ts";
import type { SessionHooks } from "./hooks.ts";
import type { QuotaPort } from "./quota/desk.ts";
import type { Ledger } from "./requests/ledger.ts";
import type { Publisher } from "./stream/publish.ts";

export interface SessionContext
  extends Pick<
    AgentParts,
    "backend" | "log" | "stderrRate" | "env" | "withRoom" | "prepareWorktree" | "extras" | "callTool"
  > {
  store: Store;
  publisher: Publisher;
  ledger: Ledger;
  hooks: SessionHooks;
  quota?: QuotaPort | undefined;
  ringSize: number;
  /** Queues no longer deliver. */
  isQuiet(): boolean;
  /** The agent is left to the next daemon: nothing that happens to it or is asked of it has an effect here. */
  isAbandoned(): boolean;
  /** How a backend counts, and its prices. */
  ratesOf?(backend: string): Rates;
  /** A queued message has changed state. */
  inputChanged(session_id: string, input: InputRecord): void;
  /** Directory for input recordings; absent: none. */
  traceDir?: string | undefined;
}

export interface Receipt {
  input: InputRecord;
  position: number;
  repeated: boolean;
  note?: string;
}
