// Finds a program by path, or by name on PATH.
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, join, resolve } from "node:path";

/** The absolute path, or undefined if there is no such executable. */
export async function findProgram(
  bin: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const places = bin.includes("/")
    ? [bin]
    : (env["PATH"] ?? "").split(delimiter).map((dir) => join(dir, bin));
  for (const place of places) {
    const isProgram = await access(place, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isProgram && (await stat(place)).isFile()) return resolve(place);
  }
  return undefined;
}
