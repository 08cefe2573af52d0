// `demian doctor`: checks everything a session needs and suggests fixes.

import { defined } from "../../base/values.ts";
import type { RuntimeOrder } from "../../runtime/session-types.ts";
import { type Check, showChecks } from "../checks.ts";
import { type Arguments, UsageError } from "../command.ts";
import type { DemianContext } from "./command.ts";
import { checkLoaded } from "./doctor/agents.ts";
import { checkConfig } from "./doctor/config.ts";
import { checkLogins } from "./doctor/logins.ts";
import { checkNode, checkRipgrep, checkSandbox, checkState } from "./doctor/machine.ts";
import { runPolicies } from "./doctor/policies.ts";
import { checkProviders } from "./doctor/providers.ts";
import { readOrder } from "./order.ts";

export async function runDoctor(given: Arguments, context: DemianContext): Promise<number> {
  const [word] = given.words;
  if (word === "policies") return runPolicies(given, context);
  if (word !== undefined)
    throw new UsageError(`doctor: unknown argument ${JSON.stringify(word)}; did you mean policies?`);
  for (const flag of ["upgrade-namespaces", "write"]) {
    if (given.flags[flag]) throw new UsageError(`--${flag} works only with doctor policies`);
  }
  return showChecks(await runChecks(given, context), context);
}

/** Skips the checks that need a configuration if it cannot be read. */
async function runChecks(given: Arguments, context: DemianContext): Promise<Check[]> {
  const { env } = context.io;
  const { cwd, configPath, flags } = readOrder(given, context.io.cwd);
  const order = {
    cwd,
    env,
    ...defined({ configPath }),
    ...(Object.keys(flags).length === 0 ? {} : { flags }),
  };
  const { checks, config } = await checkConfig(order);
  const reported = checks.map(({ text }) => text);
  const rest = await Promise.all([
    ...(config === undefined
      ? []
      : [
          checkProviders(config, env),
          checkLogins(config, env),
          checkRuntime(order, context, reported),
          checkSandbox(config.sandbox, cwd, env),
        ]),
    checkRipgrep(cwd, env),
    checkState(env),
  ]);
  return [checkNode(), ...checks, ...rest.flat()].filter(isNotRepeated);
}

/** Drops a problem that another check already reports with the name of the provider. */
function isNotRepeated({ text }: Check, _at: number, all: readonly Check[]): boolean {
  return !all.some((other) => other.text.endsWith(`: ${text}`));
}

async function checkRuntime(
  order: RuntimeOrder,
  context: DemianContext,
  reported: readonly string[],
): Promise<Check[]> {
  const runtime = await context.createRuntime(order);
  try {
    return checkLoaded(runtime, reported);
  } finally {
    await runtime.close();
  }
}
