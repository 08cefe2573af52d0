// Text detection, and conversion that writes the same bytes back.
import { ToolError } from "./types.ts";

const PROBE_BYTES = 8000;

/** The same rule as git. */
export function isBinary(bytes: Buffer): boolean {
  return bytes.subarray(0, PROBE_BYTES).includes(0);
}

export function createBinaryError(shown: string, bytes: Buffer): ToolError {
  const isUtf16 = bytes.length >= 2 && (bytes.readUInt16LE(0) === 0xfeff || bytes.readUInt16BE(0) === 0xfeff);
  const what = isUtf16 ? "is UTF-16; only UTF-8 text is supported" : "is binary, not text";
  return new ToolError("binary", `${shown} ${what}; use bash to inspect it (file, xxd, iconv)`);
}

/** Lossless: written back it gives the same bytes. Throws `binary` or `not_utf8`. */
export function decodeText(shown: string, bytes: Buffer): string {
  if (isBinary(bytes)) throw createBinaryError(shown, bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    const advice = "editing it here would damage it; use bash (iconv, sed)";
    throw new ToolError("not_utf8", `${shown} is not valid UTF-8 text; ${advice}`);
  }
}

/** A lone surrogate would be written as a different character than the user was shown. Throws `invalid_text`. */
export function checkSurrogates(text: string): void {
  if (!/\p{Surrogate}/u.test(text)) return;
  throw new ToolError("invalid_text", "the text contains a lone surrogate; send the whole character");
}
