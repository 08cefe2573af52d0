// What a person reads before an agent starts another one, in sentences: for a client's dialog and for our own screen.
// prompt.ts has it as lines of a terminal.
import type { PermissionPrompt } from "./types.ts";

export interface InvocationText {
  /** Which agent starts, where that leads, and what it gets; each on one line. */
  lines: readonly string[];
  /** All that it is given, word for word. */
  handoff: string;
}

/** As it stands: whoever draws it reveals what hides in it. */
export function invocationText(invocation: NonNullable<PermissionPrompt["invocation"]>): InvocationText {
  const { agent, provider, model, crossesProvider, receives, handoff, origin } = invocation;
  const where = crossesProvider
    ? `This leaves for another provider: ${provider}.`
    : `It stays with the provider ${provider}.`;
  return {
    lines: [
      `The agent ${agent} starts, with the model ${model} of ${provider}. ${where}`,
      ...(origin === undefined ? [] : [`It comes from ${origin}.`]),
      `It receives: ${receives.join(", ")}. Word for word:`,
    ],
    handoff,
  };
}
