// `demian doctor`: looks at everything a session needs and says what to do about what is not right.
import { sanitizeLine } from "../../base/sanitize.ts";
import type { RuntimeOrder } from "../../runtime/session-types.ts";
import { type Arguments, UsageError } from "../command.ts";
import { table } from "../output.ts";
import type { Context } from "./command.ts";
import { checkLoaded } from "./doctor/agents.ts";
import type { Check } from "./doctor/check.ts";
import { checkConfig } from "./doctor/config.ts";
import { checkLogins } from "./doctor/logins.ts";
import { checkNode, checkRipgrep, checkSandbox, checkState } from "./doctor/machine.ts";
import { runPolicies } from "./doctor/policies.ts";
import { checkProviders } from "./doctor/providers.ts";
import { orderOf } from "./order.ts";

const GLYPHS: Record<Check["status"], string> = { ok: "✓", warn: "!", fail: "✗" };
const STYLES = { ok: undefined, warn: "yellow", fail: "red" } as const;

export async function runDoctor(given: Arguments, context: Context): Promise<number> {
  const [word] = given.words;
  if (word === "policies") return runPolicies(given, context);
  if (word !== undefined)
    throw new UsageError(`doctor knows no ${JSON.stringify(word)}; did you mean policies?`);
  for (const flag of ["upgrade-namespaces", "write"]) {
    if (given.flags[flag]) throw new UsageError(`--${flag} belongs to doctor policies`);
  }
  const checks = await allChecks(given, context);
  const isWell = checks.every(({ status }) => status !== "fail");
  if (context.isJson) await context.output.json({ ok: isWell, checks });
  else await showChecks(checks, context);
  return isWell ? 0 : 1;
}

/** What needs a configuration is left out when there is none that can be read. */
async function allChecks(given: Arguments, context: Context): Promise<Check[]> {
  const { env } = context.io;
  const { cwd, configPath, flags } = orderOf(given, context.io.cwd);
  const order = {
    cwd,
    env,
    ...(configPath === undefined ? {} : { configPath }),
    ...(Object.keys(flags).length === 0 ? {} : { flags }),
  };
  const { checks, config } = await checkConfig(order);
  const told = checks.map(({ text }) => text);
  const rest = await Promise.all([
    ...(config === undefined
      ? []
      : [
          checkProviders(config, env),
          checkLogins(config, env),
          loadedChecks(order, context, told),
          checkSandbox(config.sandbox, cwd, env),
        ]),
    checkRipgrep(cwd, env),
    checkState(env),
  ]);
  return [checkNode(), ...checks, ...rest.flat()].filter(isTold);
}

/** What a provider lacks is also what its program or its login lacks: said once, by the one that says for whom. */
function isTold({ text }: Check, _at: number, all: readonly Check[]): boolean {
  return !all.some((other) => other.text.endsWith(`: ${text}`));
}

async function loadedChecks(
  order: RuntimeOrder,
  context: Context,
  told: readonly string[],
): Promise<Check[]> {
  const runtime = await context.createRuntime(order);
  try {
    return checkLoaded(runtime, told);
  } finally {
    await runtime.close();
  }
}

async function showChecks(checks: readonly Check[], { output }: Context): Promise<void> {
  const rows = checks.map(({ status, name, text, todo }) => [
    `${GLYPHS[status]} ${name}`,
    sanitizeLine(todo === undefined ? text : `${text}; ${todo}`),
  ]);
  for (const [at, line] of table(rows, Number.POSITIVE_INFINITY).entries()) {
    const style = STYLES[checks[at]?.status ?? "ok"];
    if (style === undefined) await output.line(line);
    else await output.styledLine(style, line);
  }
}
