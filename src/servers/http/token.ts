// The bearer token of the HTTP API, in a file that only this user can read. Never logged.
import { randomBytes } from "node:crypto";
import { lstatSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { CodedError, toMessage } from "../../base/coded-error.ts";

const TOKEN_BYTES = 32;
const TOKEN = /^[\w-]{43,200}$/;

/** Reads the token; undefined if there is no file. Throws if others could have read or written it. */
export function readToken(file: string): string | undefined {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  const uid = process.getuid?.();
  if (!found.isFile() || (uid !== undefined && found.uid !== uid) || (found.mode & 0o077) !== 0) {
    throw new CodedError(
      "internal",
      `the token file ${file} must be a regular file that you own, with mode 0600; remove it to create a new one`,
    );
  }
  const token = readFileSync(file, "utf8").trim();
  if (TOKEN.test(token)) return token;
  throw new CodedError("internal", `the token file ${file} contains no token; remove it to create a new one`);
}

/** Like `readToken`, but creates a token if there is none. */
export function ensureToken(file: string): string {
  const known = readToken(file);
  if (known !== undefined) return known;
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  const draft = `${file}.${process.pid}.new`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    // Written to another file and renamed, so that no reader sees a partial token.
    writeFileSync(draft, `${token}\n`, { mode: 0o600, flag: "wx" });
    renameSync(draft, file);
  } catch (cause) {
    throw new CodedError("internal", `cannot write the token file ${file}: ${toMessage(cause)}`, { cause });
  }
  return token;
}
