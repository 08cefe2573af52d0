// One request and its response. Failures are CodedErrors, with the daemon's own code and message if it sent them.
import { CodedError, toMessage } from "../../base/coded-error.ts";
import { defined } from "../../base/values.ts";
import type { Incoming, Order, Transport } from "./transport.ts";

/** No valid reply is larger. */
const MAX_REPLY_BYTES = 256 * 1024 * 1024;

/** Resolves with a successful response, whose body is still to be read. */
export async function openResponse(transport: Transport, order: Order): Promise<Incoming> {
  const response = await transport.send(order);
  const { status } = response;
  if (status >= 200 && status < 300) return response;
  throw toError(status, await readText(response), order);
}

export async function exchangeText(transport: Transport, order: Order): Promise<string> {
  return readText(await openResponse(transport, order));
}

export async function exchangeJson<T>(transport: Transport, order: Order): Promise<T> {
  const text = await exchangeText(transport, order);
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw badReply(order, "is not JSON", cause);
  }
}

async function readText({ chunks }: Incoming): Promise<string> {
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > MAX_REPLY_BYTES)
      throw new CodedError("bad_reply", `the daemon's reply is larger than ${MAX_REPLY_BYTES} bytes`);
    parts.push(decoder.decode(chunk, { stream: true }));
  }
  return parts.join("") + decoder.decode();
}

function toError(status: number, text: string, order: Order): CodedError {
  try {
    const { error } = JSON.parse(text) as {
      error: { code: string; message: string; data?: Record<string, unknown> };
    };
    if (typeof error.code !== "string" || typeof error.message !== "string")
      return badReply(order, `has status ${status} and no error code`);
    return new CodedError(error.code, error.message, defined({ data: error.data }));
  } catch (cause) {
    return badReply(order, `has status ${status} and is not JSON (${toMessage(cause)})`, cause);
  }
}

function badReply({ method, path }: Order, problem: string, cause?: unknown): CodedError {
  return new CodedError("bad_reply", `the daemon's reply to ${method} ${path} ${problem}`, { cause });
}
