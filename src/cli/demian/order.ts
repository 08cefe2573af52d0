// Turns flags into a runtime order. Pure.

import { resolve } from "node:path";
import { defined } from "../../base/values.ts";
import { EFFORTS, type Effort } from "../../runtime/providers/effort.ts";
import { SANDBOX_MODES } from "../../runtime/sandbox/types.ts";
import { type Arguments, didYouMean, readNumberFlag, readTextFlag, UsageError } from "../command.ts";

export interface Order {
  cwd: string;
  configPath?: string;
  /** Configuration that overrides all config files. */
  flags: Record<string, unknown>;
  agent?: string;
  provider?: string;
  model?: string;
  effort?: Effort;
  yes: boolean;
  dryRun: boolean;
  transcript?: false;
}

/** `cwd`: the directory in which the program was started. */
export function readOrder(given: Arguments, cwd: string): Order {
  const configPath = readName(given, "config");
  const agent = readName(given, "agent");
  const provider = readName(given, "provider");
  const model = readName(given, "model");
  const effort = readOneOf(given, "effort", EFFORTS);
  return {
    cwd: resolve(cwd, readName(given, "cwd") ?? "."),
    ...(configPath === undefined ? {} : { configPath: resolve(cwd, configPath) }),
    flags: readConfigLayer(given),
    ...defined({ agent, provider, model, effort }),
    yes: given.flags["yes"] === true,
    dryRun: given.flags["dry-run"] === true,
    ...(given.flags["no-transcript"] ? { transcript: false as const } : {}),
  };
}

/** Only flags that were given; config files decide the rest. */
function readConfigLayer(given: Arguments): Record<string, unknown> {
  const maxTurns = readNumberFlag(given, "max-turns", { least: 1, isWhole: true });
  const mode = readOneOf(given, "sandbox", SANDBOX_MODES);
  const streams = readEither(given, "stream", "no-stream");
  const keeps = readEither(given, "persistent-grants", "no-persistent-grants");
  const agentMode = readMode(given);
  const context = {
    ...readContextFlags(given, "main", "main"),
    ...readContextFlags(given, "sub", "subAgent"),
  };
  const trust = {
    ...(given.flags["trust-user-tools"] ? { userTools: true } : {}),
    ...(given.flags["trust-project"] ? { project: true } : {}),
  };
  return {
    ...defined({ maxTurns }),
    ...(mode === undefined ? {} : { sandbox: { mode } }),
    ...(streams === undefined ? {} : { streaming: { enabled: streams } }),
    ...(keeps === undefined ? {} : { persistentGrants: { enabled: keeps } }),
    ...(given.flags["no-transcript"] ? { transcript: { enabled: false } } : {}),
    ...(isEmpty(context) ? {} : { context }),
    ...(isEmpty(trust) ? {} : { trust }),
    ...(agentMode === undefined ? {} : { agentMode: `${agentMode}-agent` }),
  };
}

function readContextFlags(given: Arguments, flag: string, key: string): Record<string, unknown> {
  const maxContextTokens = readNumberFlag(given, `${flag}-max-context-tokens`, { least: 1, isWhole: true });
  const compactAtRatio = readRatio(given, `${flag}-compact-at`);
  const said = defined({ maxContextTokens, compactAtRatio });
  return isEmpty(said) ? {} : { [key]: said };
}

function readMode(given: Arguments): "single" | "multi" | undefined {
  const mode = readOneOf(given, "mode", ["single", "multi"] as const);
  const said = new Set([
    ...(mode === undefined ? [] : [mode]),
    ...(given.flags["single-agent"] ? ["single" as const] : []),
    ...(given.flags["multi-agent"] ? ["multi" as const] : []),
  ]);
  if (said.size > 1) throw new UsageError("give one mode: --mode single or --mode multi");
  return [...said][0];
}

/** Rejects an empty value. */
function readName(given: Arguments, name: string): string | undefined {
  const said = readTextFlag(given, name);
  if (said?.trim() === "") throw new UsageError(`--${name} needs a value`);
  return said;
}

function readOneOf<T extends string>(given: Arguments, name: string, values: readonly T[]): T | undefined {
  const said = readTextFlag(given, name);
  if (said === undefined) return undefined;
  const found = values.find((value) => value === said);
  if (found !== undefined) return found;
  throw new UsageError(
    `--${name} must be one of ${values.join(", ")}, not ${JSON.stringify(said)}${didYouMean(said, values)}`,
  );
}

function readEither(given: Arguments, yes: string, no: string): boolean | undefined {
  const [isOn, isOff] = [given.flags[yes] === true, given.flags[no] === true];
  if (isOn && isOff) throw new UsageError(`give --${yes} or --${no}, not both`);
  return isOn || isOff ? isOn : undefined;
}

function readRatio(given: Arguments, name: string): number | undefined {
  const value = readNumberFlag(given, name);
  if (value === undefined || (value > 0 && value <= 1)) return value;
  throw new UsageError(`--${name} must be greater than 0 and at most 1, not ${value}`);
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0;
}
