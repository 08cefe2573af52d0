// Sends one message to the agent that answers it: a model we call ourselves, or an external agent with its own loop.
import { runTurn } from "./agent-loop.ts";
import { runExternalTurn } from "./external/turn.ts";
import type { UserMessage } from "./messages.ts";
import type { ModelMemory } from "./model-request.ts";
import { isExternal } from "./providers/types.ts";
import type { Services } from "./services.ts";
import type { TurnReport } from "./session-types.ts";

/** Never rejects. */
export function execute(
  services: Services,
  message: UserMessage,
  memory: ModelMemory,
  signal: AbortSignal,
): Promise<TurnReport> {
  const { provider } = services;
  if (isExternal(provider)) return runExternalTurn({ ...services, provider }, message, signal);
  return runTurn({ ...services, provider }, message, memory, signal);
}
