// Text that hooks add at the start of a session, for the main agent or a sub-agent. It becomes part of the system
// prompt.

import { CodedError } from "../base/coded-error.ts";
import { defined } from "../base/values.ts";
import type { HookInput } from "./hooks/types.ts";
import { isExternal } from "./providers/types.ts";
import { buildHookInput, type Services } from "./services.ts";

/** Empty: nothing to add. Throws `blocked`. */
export async function collectIntroduction(services: Services, signal: AbortSignal): Promise<string> {
  const input = buildHookInput(
    services,
    "SessionStart",
    isExternal(services.provider) ? {} : describeOurTools(services),
  );
  const outcome = await services.hooks.dispatch(input, signal);
  if (outcome.blocked) {
    throw new CodedError(
      "blocked",
      `a hook blocked the session: ${outcome.reason ?? "no reason given"}; change the hook or the session's settings`,
    );
  }
  const patch = outcome.patch as { system?: unknown } | undefined;
  return typeof patch?.system === "string" ? patch.system : "";
}

/** External agents do not use our tools or our sandbox. */
function describeOurTools({
  tools,
  sandbox: { mode, adapter },
}: Services): Pick<HookInput, "tools" | "sandbox"> {
  return {
    tools: tools.map(({ name }) => name),
    sandbox: { mode, ...defined({ adapter }) },
  };
}
