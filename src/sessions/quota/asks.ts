// Asks a person, through the ledger, whether a session waits for a limit. A request ends with the daemon; the next one asks
// again, because the session still waits for the answer.
import type { Ask } from "../../backends/types.ts";
import { makeId } from "../../base/id.ts";
import type { QuotaWait } from "../../protocol/quota.ts";
import type { QuotaOrder } from "../core/quota.ts";
import type { Ledger } from "../requests/ledger.ts";
import type { Asker } from "../requests/types.ts";
import type { Session } from "../session.ts";

interface Open {
  asker: Asker;
  native_id: string;
  session: Session;
}

export class QuotaAsks {
  readonly #ledger: Ledger;
  readonly #tell: (session_id: string, order: QuotaOrder) => void;
  readonly #open = new Map<string, Open>();

  constructor(ledger: Ledger, tell: (session_id: string, order: QuotaOrder) => void) {
    this.#ledger = ledger;
    this.#tell = tell;
  }

  /** Exactly these sessions are asked about. */
  update(asking: readonly Session[]): void {
    const wanted = new Set(asking);
    for (const [session_id, { asker, native_id, session }] of this.#open) {
      if (wanted.has(session)) continue;
      this.#open.delete(session_id);
      this.#ledger.withdrawn(asker, native_id, "the session no longer waits for the limit");
    }
    for (const session of wanted) if (!this.#open.has(session.row.session_id)) this.#ask(session);
  }

  #ask(session: Session): void {
    const { session_id, quota_wait } = session.row;
    if (quota_wait === undefined) return;
    const native_id = makeId("quota");
    const asker: Asker = {
      stream: session.stream,
      generation: native_id,
      answer: async (_id, answer) => {
        // Not by a withdrawal, which has removed it.
        if (this.#open.get(session_id)?.native_id !== native_id) return false;
        const isAccepted = "decision" in answer && answer.decision === "accept";
        this.#tell(session_id, { do: isAccepted ? "agree" : "decline" });
        return true;
      },
      changed: () => undefined,
    };
    this.#open.set(session_id, { asker, native_id, session });
    this.#ledger.ask(asker, toAsk(native_id, quota_wait));
  }
}

function toAsk(native_id: string, { until_ms, window, message }: QuotaWait): Ask {
  const which = window === undefined ? "a limit of its account" : `the ${window} limit of its account`;
  return {
    native_id,
    request_type: "quota",
    payload: {
      title: `wait for ${which}, until ${new Date(until_ms).toISOString()}`,
      reason: `The turn ended because of the limit: ${message}`,
      choices: [
        {
          decision: "accept",
          remembers: [
            "the session delivers the message after the reset, now and whenever it reaches a limit",
          ],
        },
        { decision: "decline", remembers: ["the session does not wait for limits; the message has failed"] },
      ],
    },
  };
}
