// Finds a program by path, or by name on PATH.
import { stat } from "node:fs/promises";
import { delimiter, join, resolve } from "node:path";
import { isExecutable } from "./executable.ts";

/** The absolute path, or undefined if there is no such executable. */
export async function findProgram(
  bin: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const places = bin.includes("/")
    ? [bin]
    : (env["PATH"] ?? "").split(delimiter).map((dir) => join(dir, bin));
  for (const place of places) {
    if ((await isExecutable(place)) && (await stat(place)).isFile()) return resolve(place);
  }
  return undefined;
}
