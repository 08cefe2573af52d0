// Finds the plan of an ExitPlanMode request. Since 2.1.325 the request may come without it: then the plan is in the
// model's call, or in a file below `plans/` that claude wrote before. Other sessions keep plans there too, so only a file
// that this session wrote counts.

import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isObject, type JsonObject } from "../../base/json.ts";
import { asObject, asObjects, asString } from "../../base/values.ts";

const TOOL = "ExitPlanMode";
/** A request follows its call closely. */
const MAX_CALLS = 20;
const MAX_BYTES = 256 * 1024;

/** What is known about plans. Plain data. */
export interface PlansState {
  /** By call. */
  readonly calls: Map<string, string>;
  file: string | undefined;
}

export class Plans {
  readonly state: PlansState;

  constructor(state: PlansState = { calls: new Map(), file: undefined }) {
    this.state = state;
  }

  /** Learns from every frame. */
  see(frame: JsonObject): void {
    if (frame["type"] === "assistant") {
      for (const block of asObjects(asObject(frame["message"])["content"])) this.#seeCall(block);
    }
    const result = frame["tool_use_result"];
    if (frame["type"] !== "user" || !isObject(result)) return;
    const path = asString(result["filePath"]);
    if (path?.endsWith(".md")) this.state.file = path;
  }

  /** The plan in the model's call. */
  findByCall(tool_use_id: string | undefined): string | undefined {
    return this.state.calls.get(tool_use_id ?? "");
  }

  /** The file that the session wrote last, if it is a plan. */
  findFile(configDir: string): string | undefined {
    const { file } = this.state;
    return file !== undefined && dirname(file) === join(configDir, "plans") ? file : undefined;
  }

  #seeCall(block: JsonObject): void {
    if (block["name"] !== TOOL || !isObject(block["input"])) return;
    const id = asString(block["id"]);
    const plan = asString(block["input"]["plan"]);
    if (id === undefined || plan === undefined) return;
    const { calls } = this.state;
    calls.set(id, plan);
    const [oldest] = calls.keys();
    if (calls.size > MAX_CALLS && oldest !== undefined) calls.delete(oldest);
  }
}

/** Whether this is ExitPlanMode without its plan. */
export function lacksPlan(body: JsonObject): boolean {
  return (
    body["tool_name"] === TOOL && isObject(body["input"]) && asString(body["input"]["plan"]) === undefined
  );
}

/** Undefined if it cannot be read. An agent can put anything there, so only a regular file of limited size is read. */
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
    return undefined; // gone or unreadable: the request is shown without it
  }
}
