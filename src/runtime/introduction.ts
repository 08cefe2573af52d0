// What hooks say at the start of a session, of the main agent's as of a sub-agent's: it becomes part of the system prompt.
import { CodedError } from "../base/coded-error.ts";
import { hookInput, type Services } from "./services.ts";

/** The system prompt with what hooks add to it. Throws `blocked`. */
export async function introduced(services: Services, signal: AbortSignal): Promise<string> {
  const { sandbox, tools, systemPrompt } = services;
  const input = hookInput(services, "SessionStart", {
    tools: tools.map(({ name }) => name),
    sandbox: { mode: sandbox.mode, ...(sandbox.adapter === undefined ? {} : { adapter: sandbox.adapter }) },
  });
  const outcome = await services.hooks.dispatch(input, signal);
  if (outcome.blocked) {
    throw new CodedError(
      "blocked",
      `a hook blocks the session: ${outcome.reason ?? "no reason given"}; change the hook, or the session's settings`,
    );
  }
  const patch = outcome.patch as { system?: unknown } | undefined;
  return typeof patch?.system === "string" ? `${systemPrompt}\n\n${patch.system}` : systemPrompt;
}
