// The plan that ExitPlanMode asks about. Since 2.1.325 the request may come without it: then it is in the model's own
// call, or in a file below `plans/` that claude wrote before. Other sessions keep their plans there too, so only a file
// that this session was seen to write counts.
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isObject, type JsonObject } from "../../base/json.ts";
import { stringOf } from "./state.ts";

const TOOL = "ExitPlanMode";
/** A request follows its call at once. */
const MAX_CALLS = 20;
const MAX_BYTES = 256 * 1024;

export class Plans {
  readonly #calls = new Map<string, string>();
  #file: string | undefined;

  /** Learns from the frames that pass. */
  see(frame: JsonObject): void {
    const message = isObject(frame["message"]) ? frame["message"] : {};
    const content: unknown[] = Array.isArray(message["content"]) ? message["content"] : [];
    if (frame["type"] === "assistant") for (const block of content) this.#seeCall(block);
    const result = frame["tool_use_result"];
    if (frame["type"] !== "user" || !isObject(result)) return;
    const path = stringOf(result["filePath"]);
    if (path?.endsWith(".md")) this.#file = path;
  }

  /** What the model said itself in this call. */
  ofCall(tool_use_id: string | undefined): string | undefined {
    return this.#calls.get(tool_use_id ?? "");
  }

  /** The file that the session wrote last, if that is a plan. */
  fileIn(configDir: string): string | undefined {
    return this.#file !== undefined && dirname(this.#file) === join(configDir, "plans")
      ? this.#file
      : undefined;
  }

  #seeCall(block: unknown): void {
    if (!isObject(block) || block["name"] !== TOOL || !isObject(block["input"])) return;
    const id = stringOf(block["id"]);
    const plan = stringOf(block["input"]["plan"]);
    if (id === undefined || plan === undefined) return;
    this.#calls.set(id, plan);
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > MAX_CALLS && oldest !== undefined) this.#calls.delete(oldest);
  }
}

/** Is it ExitPlanMode without its plan? */
export function lacksPlan(body: JsonObject): boolean {
  return (
    body["tool_name"] === TOOL && isObject(body["input"]) && stringOf(body["input"]["plan"]) === undefined
  );
}

/** Undefined when it cannot be read. An agent can put anything there: only a regular file is read, and not for ever. */
export async function readPlan(path: string): Promise<string | undefined> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    try {
      if (!(await file.stat()).isFile()) return undefined;
      const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES + 1), 0, MAX_BYTES + 1, 0);
      const text = buffer.toString("utf8", 0, Math.min(bytesRead, MAX_BYTES));
      return bytesRead > MAX_BYTES ? `${text}\n… (the rest is in ${path})` : text;
    } finally {
      await file.close();
    }
  } catch {
    return undefined; // gone, or not ours to read: the request is shown without it
  }
}
