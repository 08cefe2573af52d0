// Hooks around one user message: on the message, the answer and the end of the turn.
import type { UserMessage } from "./messages.ts";
import { readUserText } from "./messages.ts";
import { buildHookInput, type Services } from "./services.ts";

/** The turn ended before it started. */
export interface RefusedTurn {
  outcome: "aborted" | "blocked";
  message: string;
}

/** Time limit for hooks that check an answer after the turn was aborted. */
const GUARD_MS = 1000;

/** Emits the message and adds it to the history as hooks leave it, unless one blocks it. */
export async function submitMessage(
  services: Services,
  message: UserMessage,
  signal: AbortSignal,
): Promise<RefusedTurn | undefined> {
  const text = readUserText(message);
  emitMessage(services, message);
  // A handoff is not the user's text, and what the user approved is sent exactly as shown.
  if (services.subAgent !== undefined) {
    if (signal.aborted) return endAborted();
    services.history.begin(message);
    return undefined;
  }
  const { blocked, reason, kept } = await passHooks(services, message, text, signal);
  if (signal.aborted) return endAborted();
  if (blocked) return endBlocked(reason);
  services.history.begin(kept, services.takeNotes?.());
  return undefined;
}

/** Adds the messages that were sent for the running turn, as hooks leave them; one that they block is reported. */
export async function takeSteers(services: Services, signal: AbortSignal): Promise<void> {
  // A sub-agent works on its handoff only.
  const steers = services.subAgent === undefined ? services.steers : undefined;
  for (let message = steers?.take(); message !== undefined; message = steers?.take()) {
    emitMessage(services, message);
    const { blocked, reason, kept } = await passHooks(services, message, readUserText(message), signal);
    if (blocked) services.emit({ type: "warning", message: `the message is ${endBlocked(reason).message}` });
    else services.history.push(kept);
  }
}

function emitMessage(services: Services, message: UserMessage): void {
  const images = typeof message.content === "string" ? 0 : message.content.filter(isImage).length;
  services.emit({
    type: "user.message",
    text: readUserText(message),
    ...(images === 0 ? {} : { images }),
  });
}

async function passHooks(
  services: Services,
  message: UserMessage,
  prompt: string,
  signal: AbortSignal,
): Promise<{ blocked: boolean; reason: string | undefined; kept: UserMessage }> {
  const input = buildHookInput(services, "UserPromptSubmit", { prompt });
  const { blocked, reason, patch } = await services.hooks.dispatch(input, signal);
  const { prompt: patched } = (patch ?? {}) as { prompt?: unknown };
  return { blocked, reason, kept: typeof patched === "string" ? withText(message, patched) : message };
}

export interface GuardedAnswer {
  /** Safe to keep and show. */
  text: string;
  blocked: boolean;
  reason: string | undefined;
}

/** Returns the answer as hooks leave it. */
export async function guardAnswer(
  services: Services,
  text: string,
  signal: AbortSignal,
): Promise<GuardedAnswer> {
  const input = buildHookInput(services, "AfterModelResponse", { text });
  const look = (limit: AbortSignal) => services.hooks.dispatch(input, limit);
  const first = await look(signal);
  // A partial answer is kept too, so it is checked too.
  const outcome = first.blocked && signal.aborted ? await look(AbortSignal.timeout(GUARD_MS)) : first;
  const patch = outcome.patch as { text?: unknown } | undefined;
  // Text a hook could not check is not kept.
  const kept = outcome.blocked ? "" : typeof patch?.text === "string" ? patch.text : text;
  return { text: kept, blocked: outcome.blocked && !signal.aborted, reason: outcome.reason };
}

/** Undefined: the turn may end. Otherwise the message that makes the agent continue. */
export async function refuseToStop(
  services: Services,
  text: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  // A sub-agent that finishes does not stop the session.
  if (services.subAgent !== undefined) return undefined;
  const outcome = await services.hooks.dispatch(
    buildHookInput(services, "Stop", { text, reason: "end_turn" }),
    signal,
  );
  if (!outcome.blocked || signal.aborted) return undefined;
  return outcome.reason ?? "Continue: a hook blocked the end of the turn.";
}

/** Message of a turn that reached its request limit. */
export function explainTurnLimit({ limits, subAgent }: Services): string {
  const more =
    subAgent === undefined
      ? "send another message to continue, or raise maxTurns"
      : "delegate the rest to continue, or raise delegation.subInvocationMaxTurns";
  return `stopped after ${limits.maxTurns} model requests; ${more}`;
}

export function endAborted(): RefusedTurn {
  return { outcome: "aborted", message: "aborted" };
}

export function endBlocked(reason: string | undefined): RefusedTurn {
  return { outcome: "blocked", message: `blocked by a hook: ${reason ?? "no reason given"}` };
}

function isImage(part: { type: string }): boolean {
  return part.type === "image_url";
}

function withText(message: UserMessage, text: string): UserMessage {
  if (typeof message.content === "string") return { ...message, content: text };
  return { ...message, content: [{ type: "text", text }, ...message.content.filter(isImage)] };
}
