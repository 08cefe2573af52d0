// What hooks have to say around one user message, whoever answers it: to the message, to the answer, to the end.
import type { UserMessage } from "./messages.ts";
import { textOfUser } from "./messages.ts";
import { hookInput, type Services } from "./services.ts";

/** The turn is over before it began. */
export interface Refused {
  outcome: "aborted" | "blocked";
  message: string;
}

/** How long hooks may look at what was said when the turn was aborted. */
const GUARD_MS = 1000;

/** The message is told, and joins the history as hooks leave it, unless one refuses it. */
export async function submitMessage(
  services: Services,
  message: UserMessage,
  signal: AbortSignal,
): Promise<Refused | undefined> {
  const text = textOfUser(message);
  const images = typeof message.content === "string" ? 0 : message.content.filter(isImage).length;
  services.emit({ type: "user.message", text, ...(images === 0 ? {} : { images }) });
  // A handoff is not what the user wrote, and what a person allowed is sent as it was shown.
  if (services.subAgent !== undefined) {
    if (signal.aborted) return aborted();
    services.history.begin(message);
    return undefined;
  }
  const outcome = await services.hooks.dispatch(
    hookInput(services, "UserPromptSubmit", { prompt: text }),
    signal,
  );
  if (signal.aborted) return aborted();
  if (outcome.blocked) return blocked(outcome.reason);
  const patch = outcome.patch as { prompt?: unknown } | undefined;
  services.history.begin(typeof patch?.prompt === "string" ? withText(message, patch.prompt) : message);
  return undefined;
}

export interface Guarded {
  /** What may be kept and shown. */
  text: string;
  blocked: boolean;
  reason: string | undefined;
}

/** An answer as hooks leave it. */
export async function guardAnswer(services: Services, text: string, signal: AbortSignal): Promise<Guarded> {
  const input = hookInput(services, "AfterModelResponse", { text });
  const look = (limit: AbortSignal) => services.hooks.dispatch(input, limit);
  const first = await look(signal);
  // Half an answer is kept too, so it is looked at too.
  const outcome = first.blocked && signal.aborted ? await look(AbortSignal.timeout(GUARD_MS)) : first;
  const patch = outcome.patch as { text?: unknown } | undefined;
  // What a guard could not look at is not kept.
  const kept = outcome.blocked ? "" : typeof patch?.text === "string" ? patch.text : text;
  return { text: kept, blocked: outcome.blocked && !signal.aborted, reason: outcome.reason };
}

/** Undefined: it may end here. Else what the agent is told, for it is to go on. */
export async function refuseToStop(
  services: Services,
  text: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  // A sub-agent that is done has not stopped the session.
  if (services.subAgent !== undefined) return undefined;
  const outcome = await services.hooks.dispatch(
    hookInput(services, "Stop", { text, reason: "end_turn" }),
    signal,
  );
  if (!outcome.blocked || signal.aborted) return undefined;
  return outcome.reason ?? "Go on: a hook does not let you stop yet.";
}

/** Why a turn ends that asked its model too often. */
export function outOfTurns({ limits, subAgent }: Services): string {
  const more =
    subAgent === undefined
      ? "send another message to go on, or raise maxTurns"
      : "delegate the rest to go on, or raise delegation.subInvocationMaxTurns";
  return `stopped after ${limits.maxTurns} requests to the model; ${more}`;
}

export function aborted(): Refused {
  return { outcome: "aborted", message: "aborted" };
}

export function blocked(reason: string | undefined): Refused {
  return { outcome: "blocked", message: `a hook blocked it: ${reason ?? "no reason given"}` };
}

function isImage(part: { type: string }): boolean {
  return part.type === "image_url";
}

function withText(message: UserMessage, text: string): UserMessage {
  if (typeof message.content === "string") return { ...message, content: text };
  return { ...message, content: [{ type: "text", text }, ...message.content.filter(isImage)] };
}
