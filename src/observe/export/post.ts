// Sends spans to a collector: OTLP over HTTP, JSON encoding. Runs in the worker thread.
import { toTraces } from "./spans.ts";
import type { Unsent } from "./unsent.ts";

export interface ExportOrder {
  url: string;
  headers: Readonly<Record<string, string>>;
  version: string;
  hasContent: boolean;
  providers: Readonly<Record<string, string>>;
  limit: number;
  timeoutMs: number;
}

export interface Exported {
  spans: number;
  hasMore: boolean;
}

/** Throws unless the collector has accepted them. */
export async function postSpans(order: ExportOrder, { rows }: Unsent, signal: AbortSignal): Promise<void> {
  const response = await fetch(order.url, {
    method: "POST",
    headers: { ...order.headers, "content-type": "application/json" },
    body: JSON.stringify(toTraces(rows, order)),
    redirect: "error",
    signal: AbortSignal.any([signal, AbortSignal.timeout(order.timeoutMs)]),
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`the collector answered ${response.status}`);
}
