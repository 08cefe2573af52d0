// Images of a message that is being written: what is taken of pasted, dropped and chosen files, and the message with them.
// The type is read from the bytes: agents refuse a message whose image is not what it says.
import { sanitizeLine } from "../../../src/base/sanitize.ts";
import type { UserMessage } from "../../../src/protocol/content.ts";

export interface Picture {
  name: string;
  media_type: string;
  /** Base64. */
  data: string;
  bytes: number;
}

/** Part of what a `File` has. */
export type ImageFile = Pick<File, "name" | "size" | "arrayBuffer">;

export const MAX_PICTURES = 10;
/** What the models of most agents accept. */
const MAX_BYTES = 5_000_000;
/** Base64 adds a third, and a frame has at most 16 MiB by default. */
const MAX_SUM = 11_000_000;
/** As many reasons are shown; the others are counted. */
const MAX_PROBLEMS = 3;
const MAX_NAME = 80;

const SIGNATURES: readonly [media_type: string, at: number, bytes: string][] = [
  ["image/png", 0, "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", 0, "\xff\xd8\xff"],
  ["image/gif", 0, "GIF8"],
  ["image/webp", 8, "WEBP"],
];

/** The files that fit beside those that the message has, and why the others do not. */
export async function readPictures(
  files: readonly ImageFile[],
  has: readonly Picture[],
): Promise<{ pictures: Picture[]; problem: string }> {
  const pictures: Picture[] = [];
  const problems: string[] = [];
  let sum = has.reduce((total, { bytes }) => total + bytes, 0);
  for (const file of files) {
    const name = cutName(file.name);
    if (has.length + pictures.length >= MAX_PICTURES) {
      problems.push(`${name}: a message takes up to ${MAX_PICTURES} images.`);
    } else if (file.size > MAX_BYTES) {
      problems.push(
        `${name} has ${toMegabytes(file.size)} MB; an image may have up to ${toMegabytes(MAX_BYTES)}.`,
      );
    } else if (sum + file.size > MAX_SUM) {
      problems.push(`${name}: the images of a message may have up to ${toMegabytes(MAX_SUM)} MB together.`);
    } else {
      const picture = await readPicture(file, name);
      if (typeof picture === "string") problems.push(picture);
      else {
        sum += picture.bytes;
        pictures.push(picture);
      }
    }
  }
  const more = problems.length - MAX_PROBLEMS;
  const shown = problems.slice(0, MAX_PROBLEMS);
  return {
    pictures,
    problem: [...shown, ...(more > 0 ? [`${more} more files were left out.`] : [])].join(" "),
  };
}

/** The text alone if there are no images: as `sm send` sends it. */
export function toInput(
  text: string,
  pictures: readonly Picture[],
): { text: string } | { message: UserMessage } {
  if (pictures.length === 0) return { text };
  const words = text.trim() === "" ? [] : [{ type: "text", text }];
  const blocks = pictures.map(({ media_type, data }) => ({
    type: "image",
    source: { type: "base64", media_type, data },
  }));
  return { message: { role: "user", content: [...words, ...blocks] } };
}

async function readPicture(file: ImageFile, name: string): Promise<Picture | string> {
  let bytes: Uint8Array;
  try {
    bytes = new Uint8Array(await file.arrayBuffer());
  } catch {
    // A directory, or a file that was removed.
    return `${name} cannot be read.`;
  }
  const media_type = findType(bytes);
  if (media_type === undefined)
    return `${name} is not a PNG, JPEG, GIF or WebP image. To point the agent at a file, write @ and its path.`;
  return { name, media_type, data: encodeBase64(bytes), bytes: bytes.length };
}

function findType(bytes: Uint8Array): string | undefined {
  const head = String.fromCharCode(...bytes.subarray(0, 16));
  return SIGNATURES.find(([, at, signature]) => head.startsWith(signature, at))?.[0];
}

function encodeBase64(bytes: Uint8Array): string {
  const parts: string[] = [];
  // In pieces: the arguments of a call are limited. Spreading the bytes would take ten times as long.
  for (let at = 0; at < bytes.length; at += 0x8000)
    parts.push(Reflect.apply(String.fromCharCode, null, bytes.subarray(at, at + 0x8000)));
  return btoa(parts.join(""));
}

function cutName(name: string): string {
  const line = sanitizeLine(name) || "The image";
  return line.length > MAX_NAME ? `${line.slice(0, MAX_NAME)}…` : line;
}

function toMegabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(bytes % 1_000_000 === 0 ? 0 : 1);
}
