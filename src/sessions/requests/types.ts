// Types of the request ledger.
import type { Ask } from "../../backends/types.ts";
import type { Log } from "../../base/log.ts";
import type { Serial } from "../../base/serial.ts";
import type { Answer, RequestRow, ResolutionSource } from "../../protocol/requests.ts";
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

export interface LedgerOptions {
  store: Store;
  publisher: Publisher;
  log: Log;
  /** How long a request waits before policy answers it; 0 is forever. */
  expiryMs: number;
}

export interface RespondOrder {
  session_id: string;
  request_id: string;
  answer: Answer;
  shown_hash?: string;
  source: ResolutionSource;
}

export interface OpenEntry {
  row: RequestRow;
  readonly asker: Asker;
  readonly native_id: string;
  readonly chars: number;
  readonly steps: Serial;
  /** The row is stored, so it may be shown. */
  isShown: boolean;
  timer?: NodeJS.Timeout;
}
