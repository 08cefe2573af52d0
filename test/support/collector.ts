// A fake OpenTelemetry collector: keeps the spans that it was sent.
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

export interface SentSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  status: { code: number; message?: string };
  attributes: { key: string; value: Record<string, string | number> }[];
}

export interface Collector {
  url: string;
  /** As they came; a span may come twice. */
  spans: SentSpan[];
  headers: IncomingHttpHeaders[];
  /** The status of its replies. */
  status: number;
  close(): Promise<void>;
}

export async function startCollector(): Promise<Collector> {
  const server = createServer((incoming, outgoing) => {
    let text = "";
    incoming.on("data", (chunk) => {
      text += chunk;
    });
    incoming.on("end", () => {
      collector.headers.push(incoming.headers);
      const isRight = incoming.url === "/v1/traces" && collector.status === 200;
      if (isRight) collector.spans.push(...JSON.parse(text).resourceSpans[0].scopeSpans[0].spans);
      outgoing.writeHead(isRight ? 200 : collector.status);
      outgoing.end("{}");
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const collector: Collector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: [],
    headers: [],
    status: 200,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return collector;
}

export function read({ attributes }: SentSpan, key: string): string | number | undefined {
  const value = attributes.find((one) => one.key === key)?.value;
  return value === undefined ? undefined : Object.values(value)[0];
}

/** The sum of a number over spans, each counted once. */
export function sum(spans: readonly SentSpan[], key: string): number {
  const once = new Map(spans.map((span) => [span.spanId, span]));
  return [...once.values()].reduce((total, span) => total + Number(read(span, key) ?? 0), 0);
}
