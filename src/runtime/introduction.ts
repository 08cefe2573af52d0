// What hooks say at the start of a session, of the main agent's as of a sub-agent's: it becomes part of the system prompt.
import { CodedError } from "../base/coded-error.ts";
import type { HookInput } from "./hooks/types.ts";
import { isExternal } from "./providers/types.ts";
import { hookInput, type Services } from "./services.ts";

/** Empty: they add nothing. Throws `blocked`. */
export async function introduction(services: Services, signal: AbortSignal): Promise<string> {
  const input = hookInput(services, "SessionStart", isExternal(services.provider) ? {} : ours(services));
  const outcome = await services.hooks.dispatch(input, signal);
  if (outcome.blocked) {
    throw new CodedError(
      "blocked",
      `a hook blocks the session: ${outcome.reason ?? "no reason given"}; change the hook, or the session's settings`,
    );
  }
  const patch = outcome.patch as { system?: unknown } | undefined;
  return typeof patch?.system === "string" ? patch.system : "";
}

/** What an agent with a loop of its own does not have: our tools, in our sandbox. */
function ours({ tools, sandbox: { mode, adapter } }: Services): Pick<HookInput, "tools" | "sandbox"> {
  return {
    tools: tools.map(({ name }) => name),
    sandbox: { mode, ...(adapter === undefined ? {} : { adapter }) },
  };
}
