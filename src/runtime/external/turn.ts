// One message to an agent with a loop of its own, from the user's words to a report: the same events, hooks and history
// around it as around ours.
import type { UserMessage } from "../messages.ts";
import type { ExternalProvider } from "../providers/types.ts";
import type { Services } from "../services.ts";
import type { TurnReport } from "../session-types.ts";
import { noUsage } from "../usage.ts";

/** Never rejects. */
export function runExternalTurn(
  _services: Services & { readonly provider: ExternalProvider },
  _message: UserMessage,
  _signal: AbortSignal,
): Promise<TurnReport> {
  return Promise.resolve({
    outcome: "failed",
    text: "",
    turns: 0,
    usage: noUsage(),
    message: "not there yet",
  });
}
