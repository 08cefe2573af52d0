// One message to whoever is to answer it: a model that we ask ourselves, or an agent with a loop of its own.
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
