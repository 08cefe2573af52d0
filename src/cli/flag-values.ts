// The values of flags, read as what they are meant to be.
import { type Arguments, UsageError } from "./command.ts";

export function textFlag({ flags }: Pick<Arguments, "flags">, name: string): string | undefined {
  const said = flags[name];
  return typeof said === "string" ? said : undefined;
}

export function numberFlag(
  given: Pick<Arguments, "flags">,
  name: string,
  { least = 0, isWhole = false }: { least?: number; isWhole?: boolean } = {},
): number | undefined {
  const said = textFlag(given, name);
  if (said === undefined) return undefined;
  const value = Number(said);
  if (said.trim() !== "" && value >= least && (!isWhole || Number.isInteger(value))) return value;
  throw new UsageError(
    `--${name} is a ${isWhole ? "whole " : ""}number of at least ${least}, not ${JSON.stringify(said)}`,
  );
}
