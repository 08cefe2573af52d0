// Images for the next message: from a pasted path, or the clipboard. Each has a label in the text of the message; without its
// label it is not sent.
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { CodedError } from "../../base/coded-error.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { createImagePart, loadImagePart } from "../../runtime/images.ts";
import type { UserContentPart } from "../../runtime/messages.ts";
import type { Runtime } from "../../runtime/session-types.ts";
import { type Env, getHomeDir } from "../../runtime/state-dir.ts";
import { readClipboardImage } from "./clipboard.ts";

const MAX_IMAGES = 20;
const MAX_NAME = 60;

export class Attachments {
  readonly #runtime: Pick<Runtime, "cwd" | "config">;
  readonly #env: Env;
  readonly #parts = new Map<string, UserContentPart>();
  #count = 0;

  constructor(runtime: Pick<Runtime, "cwd" | "config">, env: Env) {
    this.#runtime = runtime;
    this.#env = env;
  }

  /** `path`: as pasted; absent: the clipboard. Returns the label. Throws `bad_image`, `no_clipboard`. */
  async add(path: string | undefined): Promise<string> {
    if (this.#parts.size >= MAX_IMAGES)
      throw new CodedError("bad_image", `a message takes up to ${MAX_IMAGES} images; send it first`);
    const { cwd, config } = this.#runtime;
    const limits = config.multimodal;
    const file = path === undefined ? undefined : readPastedPath(path, getHomeDir(this.#env));
    const part =
      file === undefined
        ? createImagePart(await readClipboardImage(this.#env, limits.maxImageBytes), limits)
        : await loadImagePart(file, { cwd, ...limits });
    this.#count += 1;
    const name = file === undefined ? "clipboard" : sanitizeLine(basename(file)).slice(-MAX_NAME);
    const label = `[image ${this.#count}: ${name}]`;
    this.#parts.set(label, part);
    return label;
  }

  /** Those whose label is in the text. The others are dropped. */
  take(text: string): UserContentPart[] {
    const parts = [...this.#parts].flatMap(([label, part]) => (text.includes(label) ? [part] : []));
    if (parts.length > 0) this.#parts.clear();
    return parts;
  }
}

/** A dropped or pasted path may be quoted, escaped for a shell, or a file URL. */
export function readPastedPath(text: string, home: string): string {
  const trimmed = text.trim();
  const quoted = /^'([^']*)'$|^"([^"]*)"$/.exec(trimmed);
  const path = quoted?.[1] ?? quoted?.[2] ?? trimmed.replace(/\\(.)/g, "$1");
  if (/^file:\/\//i.test(path)) {
    try {
      return fileURLToPath(path);
    } catch {
      return path;
    }
  }
  return path.replace(/^~(?=\/)/, home);
}
