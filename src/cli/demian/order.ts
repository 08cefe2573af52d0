// From flags to what the runtime is asked for. Pure: nothing is read, nothing is opened.
import { resolve } from "node:path";
import { SANDBOX_MODES } from "../../runtime/sandbox/types.ts";
import { type Arguments, didYouMean, UsageError } from "../command.ts";
import { numberFlag, textFlag } from "../flag-values.ts";

export interface Order {
  cwd: string;
  configPath?: string;
  /** A piece of configuration, the strongest layer. */
  flags: Record<string, unknown>;
  agent?: string;
  provider?: string;
  model?: string;
  yes: boolean;
  dryRun: boolean;
  transcript?: false;
}

/** `cwd`: where the program was started. */
export function orderOf(given: Arguments, cwd: string): Order {
  const configPath = named(given, "config");
  const agent = named(given, "agent");
  const provider = named(given, "provider");
  const model = named(given, "model");
  return {
    cwd: resolve(cwd, named(given, "cwd") ?? "."),
    ...(configPath === undefined ? {} : { configPath: resolve(cwd, configPath) }),
    flags: layerOf(given),
    ...(agent === undefined ? {} : { agent }),
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
    yes: given.flags["yes"] === true,
    dryRun: given.flags["dry-run"] === true,
    ...(given.flags["no-transcript"] ? { transcript: false as const } : {}),
  };
}

/** Only what was said: everything else is for the config files to say. What has no effect yet, the runtime tells. */
function layerOf(given: Arguments): Record<string, unknown> {
  const maxTurns = numberFlag(given, "max-turns", { least: 1, isWhole: true });
  const mode = oneOf(given, "sandbox", SANDBOX_MODES);
  const streams = either(given, "stream", "no-stream");
  const keeps = either(given, "persistent-grants", "no-persistent-grants");
  const agentMode = modeOf(given);
  const context = { ...contextOf(given, "main", "main"), ...contextOf(given, "sub", "subAgent") };
  const trust = {
    ...(given.flags["trust-user-tools"] ? { userTools: true } : {}),
    ...(given.flags["trust-project"] ? { project: true } : {}),
  };
  return {
    ...(maxTurns === undefined ? {} : { maxTurns }),
    ...(mode === undefined ? {} : { sandbox: { mode } }),
    ...(streams === undefined ? {} : { streaming: { enabled: streams } }),
    ...(keeps === undefined ? {} : { persistentGrants: { enabled: keeps } }),
    ...(given.flags["no-transcript"] ? { transcript: { enabled: false } } : {}),
    ...(isEmpty(context) ? {} : { context }),
    ...(isEmpty(trust) ? {} : { trust }),
    ...(agentMode === undefined ? {} : { agentMode: `${agentMode}-agent` }),
  };
}

function contextOf(given: Arguments, flag: string, key: string): Record<string, unknown> {
  const maxContextTokens = numberFlag(given, `${flag}-max-context-tokens`, { least: 1, isWhole: true });
  const compactAtRatio = ratio(given, `${flag}-compact-at`);
  const said = {
    ...(maxContextTokens === undefined ? {} : { maxContextTokens }),
    ...(compactAtRatio === undefined ? {} : { compactAtRatio }),
  };
  return isEmpty(said) ? {} : { [key]: said };
}

function modeOf(given: Arguments): "single" | "multi" | undefined {
  const mode = oneOf(given, "mode", ["single", "multi"] as const);
  const said = new Set([
    ...(mode === undefined ? [] : [mode]),
    ...(given.flags["single-agent"] ? ["single" as const] : []),
    ...(given.flags["multi-agent"] ? ["multi" as const] : []),
  ]);
  if (said.size > 1) throw new UsageError("give one mode: --mode single or --mode multi");
  return [...said][0];
}

/** A text that is not empty. */
function named(given: Arguments, name: string): string | undefined {
  const said = textFlag(given, name);
  if (said?.trim() === "") throw new UsageError(`--${name} needs a value`);
  return said;
}

function oneOf<T extends string>(given: Arguments, name: string, values: readonly T[]): T | undefined {
  const said = textFlag(given, name);
  if (said === undefined) return undefined;
  const found = values.find((value) => value === said);
  if (found !== undefined) return found;
  throw new UsageError(
    `--${name} is ${values.join(", ")}, not ${JSON.stringify(said)}${didYouMean(said, values)}`,
  );
}

function either(given: Arguments, yes: string, no: string): boolean | undefined {
  const [isOn, isOff] = [given.flags[yes] === true, given.flags[no] === true];
  if (isOn && isOff) throw new UsageError(`give --${yes} or --${no}, not both`);
  return isOn || isOff ? isOn : undefined;
}

function ratio(given: Arguments, name: string): number | undefined {
  const value = numberFlag(given, name);
  if (value === undefined || (value > 0 && value <= 1)) return value;
  throw new UsageError(`--${name} is a number above 0 and at most 1, not ${value}`);
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0;
}
