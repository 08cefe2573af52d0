// `HttpApi.wait`: a long wait as several short ones, so that a dead connection is noticed.
import { withDeadline } from "./deadline.ts";
import { toPath, withQuery } from "./paths.ts";
import { type RetryOptions, retry } from "./retry.ts";
import type { Order } from "./transport.ts";
import type { WaitOptions, WaitReply } from "./types.ts";

const PIECE_S = 25;

export interface WaitPort {
  session_id: string;
  /** The daemon may be silent this much longer than a piece takes. */
  silenceMs: number;
  send(order: Order): Promise<WaitReply>;
  retry: RetryOptions;
}

export async function waitInPieces(port: WaitPort, options: WaitOptions): Promise<WaitReply> {
  const { until = ["idle", "blocked"], message_id, timeoutMs, signal } = options;
  const endMs = timeoutMs === undefined ? Number.POSITIVE_INFINITY : Date.now() + timeoutMs;
  for (;;) {
    const leftMs = Math.max(0, endMs - Date.now());
    const timeout_s = Math.min(PIECE_S, Math.ceil(leftMs) / 1000);
    const query = { until: until.join(","), message_id, timeout_s };
    const path = withQuery(toPath(port.session_id, "wait"), query);
    const order = { method: "GET", path, silenceMs: port.silenceMs + PIECE_S * 1000, signal } as const;
    const reply = await (timeoutMs === undefined
      ? retry(() => port.send(order), { ...port.retry, signal })
      : withDeadline(leftMs, signal, (sending, searching) =>
          retry(() => port.send({ ...order, signal: sending }), { ...port.retry, signal: searching }),
        ));
    if (reply.reason !== "timeout" || Date.now() >= endMs) return reply;
  }
}
