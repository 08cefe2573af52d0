// Looks up a model's context window in the vendor's model list. Failures are ignored: the name is used instead.
import { readStart } from "./chunks.ts";
import { findWindow } from "./context-window.ts";
import type { Fetch } from "./guarded-fetch.ts";

const MAX_LIST_CHARS = 8 * 1024 * 1024;

export interface ModelListOptions {
  send: Fetch;
  url: string;
  headers: Readonly<Record<string, string>>;
  model: string;
  signal: AbortSignal;
}

/** Never rejects. */
export async function fetchContextWindow({
  send,
  url,
  headers,
  model,
  signal,
}: ModelListOptions): Promise<number | undefined> {
  try {
    const response = await send(url, { method: "GET", headers, signal });
    const text = await readStart(response.body, MAX_LIST_CHARS);
    return response.ok ? findWindow(JSON.parse(text), model) : undefined;
  } catch {
    return undefined; // The next request reports what is wrong.
  }
}
