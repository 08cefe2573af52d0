// Posts JSON to a URL and looks only at the status: a few attempts with a timeout each, no redirects, and the body of the
// reply is not read.
import { type ClientRequest, type IncomingMessage, request as plainRequest } from "node:http";
import { request as tlsRequest } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { toMessage } from "./coded-error.ts";

export interface PostOptions {
  timeoutMs: number;
  /** Delays before further attempts. */
  backoffMs: readonly number[];
  /** The program's name and version. */
  userAgent: string;
  signal: AbortSignal;
}

export interface PostOutcome {
  ok: boolean;
  tries: number;
  /** The reason of the last failure. */
  reason?: string;
}

/** Never rejects. */
export async function postJson(url: URL, body: object, options: PostOptions): Promise<PostOutcome> {
  const bytes = Buffer.from(JSON.stringify(body));
  for (let tries = 1; ; tries += 1) {
    const fault = await postOnce(url, bytes, options);
    if (fault === undefined) return { ok: true, tries };
    const waitMs = options.backoffMs[tries - 1];
    if (fault.isFinal || waitMs === undefined || options.signal.aborted) {
      return { ok: false, tries, reason: fault.reason };
    }
    // Rejects only if aborted, which the next attempt reports.
    await sleep(waitMs, undefined, { signal: options.signal, ref: false }).catch(() => undefined);
  }
}

interface Fault {
  reason: string;
  /** Retrying will not help. */
  isFinal: boolean;
}

async function postOnce(url: URL, bytes: Buffer, options: PostOptions): Promise<Fault | undefined> {
  // Not AbortSignal.any and .timeout: Node 20 can garbage-collect them, and the timeout never fires.
  const over = new AbortController();
  const callOff = () => over.abort();
  options.signal.addEventListener("abort", callOff);
  if (options.signal.aborted) callOff();
  const timer = setTimeout(callOff, options.timeoutMs);
  try {
    const status = await send(url, bytes, options.userAgent, over.signal);
    return judge(status);
  } catch (error) {
    if (options.signal.aborted) return { reason: "called off", isFinal: true };
    const reason = over.signal.aborted ? `no answer within ${options.timeoutMs} ms` : toMessage(error);
    return { reason, isFinal: false };
  } finally {
    clearTimeout(timer);
    options.signal.removeEventListener("abort", callOff);
  }
}

function send(url: URL, bytes: Buffer, userAgent: string, signal: AbortSignal): Promise<number> {
  const send = url.protocol === "https:" ? tlsRequest : plainRequest;
  return new Promise((resolve, reject) => {
    const headers = {
      "content-type": "application/json",
      "content-length": bytes.length,
      "user-agent": userAgent,
      connection: "close",
    };
    const call: ClientRequest = send(url, { method: "POST", headers, signal, agent: false });
    call.on("error", reject);
    call.on("response", (response: IncomingMessage) => {
      resolve(response.statusCode ?? 0);
      // Nothing after the status is needed.
      response.on("error", () => undefined);
      response.destroy();
    });
    // An upgrade (101): without a listener there would be no reply at all.
    call.on("upgrade", (response, socket) => {
      socket.destroy();
      resolve(response.statusCode ?? 101);
    });
    call.on("close", () => reject(new Error("the connection was closed")));
    call.end(bytes);
  });
}

function judge(status: number): Fault | undefined {
  if (status >= 200 && status < 300) return undefined;
  if (status >= 300 && status < 400)
    return { reason: `status ${status}: redirects are not followed`, isFinal: true };
  const isFinal = status >= 400 && status < 500 && status !== 408 && status !== 429;
  return { reason: `status ${status}`, isFinal };
}
