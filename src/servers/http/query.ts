// Values of query strings and headers: texts that mean numbers, truth values and lists.
import * as z from "zod";
import { CodedError } from "../../base/coded-error.ts";
import { explainIssues } from "../../base/schema.ts";

/** Digits and a sign, nothing else: `Number` would also take 0x10, 1e3 and blanks. */
export function wholeNumber(min: number, max: number): z.ZodType<number, unknown> {
  return numberIn(/^-?\d+$/, z.int().min(min).max(max));
}

/** Seconds, also parts of one. */
export function seconds(max: number): z.ZodType<number, unknown> {
  return numberIn(/^\d+(?:\.\d+)?$/, z.number().min(0).max(max));
}

function numberIn(digits: RegExp, schema: z.ZodNumber): z.ZodType<number, unknown> {
  return z.preprocess(
    (text) => (typeof text === "string" && digits.test(text) ? Number(text) : text),
    schema,
  );
}

export const Cursor = wholeNumber(0, Number.MAX_SAFE_INTEGER);

export const Flag = z.enum(["true", "false", "1", "0"]).transform((text) => text === "true" || text === "1");

/** `a,b` */
export function listOf<const T extends readonly [string, ...string[]]>(words: T) {
  return z
    .string()
    .transform((text) => text.split(","))
    .pipe(z.array(z.enum(words)));
}

/** An empty value counts as absent; a name that stands there twice is a fault. */
export function readQuery(search: string): Record<string, string> {
  const values: Record<string, string> = Object.create(null);
  for (const [name, value] of new URLSearchParams(search)) {
    if (value === "") continue;
    if (name in values) throw new CodedError("invalid_message", `query: /${name}: stands there twice`);
    values[name] = value;
  }
  return { ...values };
}

/** Checks what came against its schema; `where` is named in the fault. */
export function checkPart<T>(schema: z.ZodType<T>, value: unknown, where: string): T {
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data;
  throw new CodedError("invalid_message", `${where}: ${explainIssues(checked.error.issues)}`);
}
