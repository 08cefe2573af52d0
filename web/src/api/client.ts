// The daemon's HTTP API for the page.
import { HttpApi } from "../../../src/client/http/api.ts";
import { type FetchOptions, fetchTransport } from "../../../src/client/http/fetch-transport.ts";
import type { StatusReply } from "../../../src/client/http/types.ts";
import { pollUntilDetected } from "../../../src/client/view/detected.ts";

/** The view reconnects by itself and reports it; only messages and spawns are retried. */
export function createApi(options: FetchOptions): HttpApi {
  const keyedRetry = { initialMs: 300, maxMs: 600, attempts: 2 };
  return new HttpApi(fetchTransport(options), { retry: false, keyedRetry });
}

/** Waits until the daemon has looked for all agents. */
export function readStatus(api: Pick<HttpApi, "status">): Promise<StatusReply> {
  return pollUntilDetected(() => api.status());
}
