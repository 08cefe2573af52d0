// The bearer token of the HTTP API: one file that only this user can read. It is never logged.
import { randomBytes } from "node:crypto";
import { lstatSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { CodedError, messageOf } from "../../base/coded-error.ts";

const TOKEN_BYTES = 32;
const TOKEN = /^[\w-]{43,200}$/;

/** The token of the file; undefined when there is no file. Throws when others could have read or put it there. */
export function readToken(file: string): string | undefined {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  const uid = process.getuid?.();
  if (!found.isFile() || (uid !== undefined && found.uid !== uid) || (found.mode & 0o077) !== 0) {
    throw new CodedError(
      "internal",
      `the token file ${file} must be a plain file of yours with mode 0600; remove it, a new one is made`,
    );
  }
  const token = readFileSync(file, "utf8").trim();
  if (TOKEN.test(token)) return token;
  throw new CodedError("internal", `the token file ${file} holds no token; remove it, a new one is made`);
}

/** As `readToken`, but makes one when there is none. */
export function ensureToken(file: string): string {
  const known = readToken(file);
  if (known !== undefined) return known;
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  const draft = `${file}.${process.pid}.new`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    // Written beside and renamed: nobody ever finds half a token.
    writeFileSync(draft, `${token}\n`, { mode: 0o600, flag: "wx" });
    renameSync(draft, file);
  } catch (cause) {
    throw new CodedError("internal", `cannot write the token file ${file}: ${messageOf(cause)}`, { cause });
  }
  return token;
}
