// Describes the start of a sub-agent in sentences, for dialogs and screens. prompt.ts formats it for the plain terminal.
import type { PermissionPrompt } from "./types.ts";

export interface InvocationText {
  /** The agent, its provider and what it receives; one line each. */
  lines: readonly string[];
  /** The complete text that the agent receives. */
  handoff: string;
}

/** Not sanitized; the caller must reveal control characters. */
export function describeInvocation(invocation: NonNullable<PermissionPrompt["invocation"]>): InvocationText {
  const { agent, provider, model, crossesProvider, receives, handoff, origin } = invocation;
  const where = crossesProvider
    ? `This is sent to another provider: ${provider}.`
    : "The provider stays the same.";
  return {
    lines: [
      `Starts the agent ${agent} with the model ${model} from ${provider}. ${where}`,
      ...(origin === undefined ? [] : [`Defined in ${origin}.`]),
      `It receives: ${receives.join(", ")}. Full text:`,
    ],
    handoff,
  };
}
