// The daemon's HTTP API for the page.
import { RESTART_BACKOFF } from "../../../src/client/backoff.ts";
import { HttpApi } from "../../../src/client/http/api.ts";
import { type FetchOptions, fetchTransport } from "../../../src/client/http/fetch-transport.ts";
import type { StatusReply } from "../../../src/client/http/types.ts";
import { pollUntilDetected } from "../../../src/client/view/detected.ts";

/** For what the user does: messages and answers survive a restart of the daemon. */
export function createApi(options: FetchOptions): HttpApi {
  return new HttpApi(fetchTransport(options), { retry: RESTART_BACKOFF });
}

/** For views, which reconnect and report it themselves (`src/client/view/source.ts`). */
export function createViewApi(options: FetchOptions): HttpApi {
  return new HttpApi(fetchTransport(options), { retry: false });
}

/** Waits until the daemon has looked for all agents. */
export function readStatus(api: Pick<HttpApi, "status">): Promise<StatusReply> {
  return pollUntilDetected(() => api.status());
}
