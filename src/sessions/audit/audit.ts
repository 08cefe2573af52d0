// The audit: every answer before it reaches an agent, and every change of the policy, as a chain of lines in the state
// directory. It has no texts of answers, because they may be secrets.

import { ChainWriter } from "../../base/chain/writer.ts";
import { toMessage } from "../../base/coded-error.ts";
import type { Log } from "../../base/log.ts";
import { defined } from "../../base/values.ts";
import type { RequestRow } from "../../protocol/requests.ts";
import type { PolicyChange } from "../policy/policy.ts";
import type { AuditPort } from "../requests/types.ts";

export const AUDIT_NAME = "audit";
/** About 70,000 answers. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;

export class Audit implements AuditPort {
  readonly dir: string;
  readonly #log: Log;
  #chain: ChainWriter | undefined;
  #isClosed = false;

  constructor(dir: string, log: Log) {
    this.dir = dir;
    this.#log = log;
  }

  async recordAnswer(row: RequestRow): Promise<void> {
    const { session_id, request_id, backend, request_type, payload, shown_hash, answer } = row;
    const { decision, option } =
      answer === undefined || "answers" in answer ? { decision: "answers", option: undefined } : answer;
    this.#append({
      kind: "answer",
      ...{ session_id, request_id, backend, request_type },
      title: payload.title,
      ...{ shown_hash, decision },
      ...defined({
        option,
        source: row.resolution_source,
        rule_id: row.rule_id,
        answered_by: row.answered_by,
      }),
    });
  }

  /** `by`: who changed it; undefined if the file was edited. */
  recordPolicy(change: PolicyChange, by: string | undefined): void {
    this.#append({ kind: "policy", ...change, ...defined({ by }) });
  }

  close(): void {
    this.#isClosed = true;
    this.#chain?.close();
    this.#chain = undefined;
  }

  /** A failure is logged and does not stop the answer: the ledger has it. */
  #append(entry: Record<string, unknown>): void {
    if (this.#isClosed) return;
    try {
      this.#chain ??= new ChainWriter({
        ...{ dir: this.dir, name: AUDIT_NAME, maxBytes: MAX_FILE_BYTES },
        gap: (why) => this.#log.error("audit.gap", { why }),
      });
      this.#chain.append(entry);
    } catch (error) {
      this.#log.error("audit.failed", { kind: entry["kind"], message: toMessage(error) });
    }
  }
}
