// Images of a user message: a URL is passed on, a file becomes a data URL.
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { resolve } from "node:path";
import { CodedError, readErrno, toMessage } from "../base/coded-error.ts";
import type { ImageDetail, UserContentPart } from "./messages.ts";

export interface ImageOrder {
  /** Base of relative paths. The user names the file, so it may be anywhere. */
  cwd: string;
  maxImageBytes: number;
  detail: ImageDetail;
}

/** The formats all models accept, by their first bytes. */
const KINDS: readonly { type: string; fits(bytes: Buffer): boolean }[] = [
  {
    type: "image/png",
    fits: (bytes) => bytes.subarray(0, 8).equals(Buffer.from("\x89PNG\r\n\x1a\n", "latin1")),
  },
  { type: "image/jpeg", fits: (bytes) => bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff])) },
  { type: "image/gif", fits: (bytes) => /^GIF8[79]a/.test(bytes.toString("latin1", 0, 6)) },
  { type: "image/webp", fits: (bytes) => /^RIFF....WEBP/s.test(bytes.toString("latin1", 0, 12)) },
];
const KIND_NAMES = "PNG, JPEG, GIF or WebP";

/** Throws `bad_image`. */
export async function loadImagePart(pathOrUrl: string, order: ImageOrder): Promise<UserContentPart> {
  const url = isAddress(pathOrUrl) ? checkAddress(pathOrUrl) : await readDataUrl(pathOrUrl, order);
  return { type: "image_url", image_url: { url, detail: order.detail } };
}

/** Image bytes from an embedding program. Throws `bad_image`. */
export function createImagePart(bytes: Buffer, order: Omit<ImageOrder, "cwd">): UserContentPart {
  if (bytes.length > order.maxImageBytes) throw tooLargeError("the image", bytes.length, order.maxImageBytes);
  return { type: "image_url", image_url: { url: toDataUrl(bytes, "the image"), detail: order.detail } };
}

function isAddress(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
}

function checkAddress(text: string): string {
  if (/^https?:\/\//i.test(text) && URL.canParse(text)) return text;
  throw new CodedError("bad_image", `${text}: an image must be an http:// or https:// URL or a file path`);
}

async function readDataUrl(path: string, { cwd, maxImageBytes }: ImageOrder): Promise<string> {
  const full = resolve(cwd, path);
  let file: FileHandle;
  try {
    // Must not block on a named pipe.
    file = await open(full, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    const home = path.startsWith("~") ? '; "~" is expanded by your shell: remove the quotes' : "";
    const what = readErrno(cause) === "ENOENT" ? "no such file" : toMessage(cause);
    throw new CodedError("bad_image", `cannot read the image ${full}: ${what}${home}`, { cause });
  }
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new CodedError("bad_image", `${full} is not a regular file`);
    if (stat.size > maxImageBytes) throw tooLargeError(full, stat.size, maxImageBytes);
    const bytes = Buffer.alloc(stat.size);
    const { bytesRead } = await file.read(bytes, 0, stat.size, 0);
    return toDataUrl(bytes.subarray(0, bytesRead), full);
  } finally {
    await file.close();
  }
}

function toDataUrl(bytes: Buffer, name: string): string {
  const kind = KINDS.find(({ fits }) => fits(bytes));
  if (kind === undefined)
    throw new CodedError("bad_image", `${name} is not a ${KIND_NAMES} image; convert it first`);
  return `data:${kind.type};base64,${bytes.toString("base64")}`;
}

function tooLargeError(name: string, bytes: number, maxBytes: number): CodedError {
  return new CodedError(
    "bad_image",
    `${name} has ${bytes} bytes; the limit is ${maxBytes}. Make it smaller, or raise multimodal.maxImageBytes`,
  );
}
