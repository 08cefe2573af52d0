// Types of the request ledger.
import type { Ask } from "../../backends/types.ts";
import type { Log } from "../../base/log.ts";
import type { Serial } from "../../base/serial.ts";
import type { Answer, AnsweredBy, RequestRow, ResolutionSource } from "../../protocol/requests.ts";
import type { SessionRow } from "../../protocol/session.ts";
import type { Store } from "../../store/types.ts";
import type { Publisher } from "../stream/publish.ts";
import type { Stream } from "../stream/stream.ts";

/** One run of an agent, as the ledger sees it. */
export interface Asker {
  readonly stream: Stream;
  readonly generation: string;
  /** False if it no longer waits for this request. */
  answer(native_id: string, answer: Answer): Promise<boolean>;
  /** The pending requests of this session have changed. */
  changed(): void;
}

/** What an adopted agent did with its requests before. */
export interface AdoptedAsks {
  /** Unanswered. */
  readonly asks: ReadonlyMap<string, Ask>;
  /** No longer waiting, and why. */
  readonly withdrawals: ReadonlyMap<string, string>;
  /** It has the answer. */
  readonly answered: ReadonlySet<string>;
}

/** Answers requests instead of a person (policy/policy.ts). */
export interface PolicyPort {
  /** False: no rule can apply, so the request is shown at once. */
  mayDecide(row: RequestRow): boolean;
  /** Undefined: a person is asked. Never rejects; bounded in time. */
  decide(row: RequestRow, session: SessionRow): Promise<Ruling | undefined>;
  /** Why the rules file cannot be used, once for each fault. */
  takeFault(): string | undefined;
}

export interface Ruling {
  answer: Answer;
  rule_id: string;
  /** The answer was not stored, so that the rule was not used. */
  release(): void;
}

/** Records answers before they are sent (audit/audit.ts). */
export interface AuditPort {
  /** Resolves when the answer is recorded, or cannot be. Never rejects. */
  recordAnswer(row: RequestRow): Promise<void>;
}

export interface LedgerOptions {
  store: Store;
  publisher: Publisher;
  log: Log;
  /** How long a request waits before policy answers it; 0 is forever. */
  expiryMs: number;
  policy?: PolicyPort | undefined;
  audit?: AuditPort | undefined;
}

export interface RespondOrder {
  session_id: string;
  request_id: string;
  answer: Answer;
  shown_hash?: string;
  /** According to the client. */
  source: ResolutionSource;
  /** According to the kernel. Absent for callers in this process. */
  answered_by?: AnsweredBy;
}

export interface OpenEntry {
  row: RequestRow;
  readonly asker: Asker;
  readonly native_id: string;
  readonly chars: number;
  readonly steps: Serial;
  /** The row is stored, so it may be shown. */
  isShown: boolean;
  /** The notice that it was asked, if that is still to be stored and sent, before the next one. */
  owed?: object | undefined;
  timer?: NodeJS.Timeout;
}
