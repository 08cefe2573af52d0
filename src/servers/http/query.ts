// Parses query strings and headers: numbers, booleans and lists from text.
import * as z from "zod";
import { CodedError } from "../../base/coded-error.ts";
import { explainIssues } from "../../base/schema.ts";

/** Digits and a sign only: `Number` would also accept 0x10, 1e3 and whitespace. */
export function defineWholeNumber(min: number, max: number): z.ZodType<number, unknown> {
  return numberIn(/^-?\d+$/, z.int().min(min).max(max));
}

/** Seconds, with an optional fraction. */
export function defineSeconds(max: number): z.ZodType<number, unknown> {
  return numberIn(/^\d+(?:\.\d+)?$/, z.number().min(0).max(max));
}

function numberIn(digits: RegExp, schema: z.ZodNumber): z.ZodType<number, unknown> {
  return z.preprocess(
    (text) => (typeof text === "string" && digits.test(text) ? Number(text) : text),
    schema,
  );
}

export const Cursor = defineWholeNumber(0, Number.MAX_SAFE_INTEGER);

export const Flag = z.enum(["true", "false", "1", "0"]).transform((text) => text === "true" || text === "1");

/** `a,b` of these words. */
export function defineCommaList<const T extends readonly [string, ...string[]]>(words: T) {
  return defineList(z.enum(words));
}

/** `a,b` */
export function defineList<T extends z.ZodType<string, string>>(word: T) {
  return z
    .string()
    .transform((text) => text.split(","))
    .pipe(z.array(word));
}

/** An amount of money. */
export function defineAmount(): z.ZodType<number, unknown> {
  return numberIn(/^\d+(?:\.\d+)?$/, z.number().min(0));
}

/** Empty values count as absent; duplicate names are an error. */
export function readQuery(search: string): Record<string, string> {
  const values: Record<string, string> = Object.create(null);
  for (const [name, value] of new URLSearchParams(search)) {
    if (value === "") continue;
    if (name in values) throw new CodedError("invalid_message", `query: /${name}: duplicate parameter`);
    values[name] = value;
  }
  return { ...values };
}

/** Validates a value; `where` prefixes the error message. */
export function checkPart<T>(schema: z.ZodType<T>, value: unknown, where: string): T {
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data;
  throw new CodedError("invalid_message", `${where}: ${explainIssues(checked.error.issues)}`);
}
