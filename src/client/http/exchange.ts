// One HTTP request over the daemon's Unix socket: what goes wrong becomes a CodedError, with the server's own code
// and message where it gave them. A connection a request: none is stale after the daemon was restarted.
import { type IncomingMessage, request } from "node:http";
import { CodedError, errnoOf, messageOf } from "../../base/coded-error.ts";
import { explainConnectError } from "../discover.ts";

export interface Exchange {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  path: string;
  body?: object;
  headers?: Readonly<Record<string, string>>;
  /** So long the daemon may be silent; 0 is for ever. */
  silenceMs: number;
  signal?: AbortSignal | undefined;
}

/** No reply is larger; a daemon that sends more is broken. */
const MAX_REPLY_BYTES = 256 * 1024 * 1024;

/** Resolves when the status has come; rejects when it tells of an error. */
export async function open(socket: string, order: Exchange): Promise<IncomingMessage> {
  const response = await send(socket, order);
  const status = response.statusCode ?? 0;
  if (status >= 200 && status < 300) return response;
  throw errorOf(status, await readText(socket, response), order);
}

export async function exchangeText(socket: string, order: Exchange): Promise<string> {
  return readText(socket, await open(socket, order));
}

export async function exchangeJson<T>(socket: string, order: Exchange): Promise<T> {
  const text = await exchangeText(socket, order);
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw badReply(order, "is not JSON", cause);
  }
}

/** What an error of a stream that had begun means. */
export function streamError(socket: string, error: unknown): CodedError {
  if (error instanceof CodedError) return error;
  if (error instanceof Error && error.name === "AbortError") {
    return new CodedError("aborted", "aborted by the caller", { cause: error });
  }
  return new CodedError("connection_lost", `the daemon at ${socket} closed the connection`, { cause: error });
}

function send(socket: string, order: Exchange): Promise<IncomingMessage> {
  const { method, path, body, headers, silenceMs, signal } = order;
  const text = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const outgoing = request({
      socketPath: socket,
      method,
      path,
      agent: false,
      headers: {
        host: "localhost",
        ...(text === undefined
          ? {}
          : { "content-type": "application/json", "content-length": Buffer.byteLength(text) }),
        ...headers,
      },
      ...(signal === undefined ? {} : { signal }),
    });
    outgoing.once("response", resolve);
    outgoing.once("error", (error) => reject(explain(socket, error)));
    outgoing.setTimeout(silenceMs, () => {
      const what = `the daemon at ${socket} did not answer ${method} ${path} in ${silenceMs / 1000} s`;
      outgoing.destroy(new CodedError("no_answer", what));
    });
    outgoing.end(text);
  });
}

function explain(socket: string, error: Error): CodedError {
  const errno = errnoOf(error) ?? "";
  if (errno.startsWith("HPE_")) {
    const what = `what listens at ${socket} does not speak HTTP; it may be an older blemeesd: restart it`;
    return new CodedError("not_http", what, { cause: error });
  }
  const isConnect = (error as { syscall?: unknown }).syscall === "connect";
  return isConnect ? explainConnectError(socket, error) : streamError(socket, error);
}

async function readText(socket: string, response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_REPLY_BYTES)
        throw new CodedError("bad_reply", `the daemon's reply has more than ${MAX_REPLY_BYTES} bytes`);
    }
  } catch (error) {
    throw streamError(socket, error);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function errorOf(status: number, text: string, order: Exchange): CodedError {
  try {
    const { error } = JSON.parse(text) as {
      error: { code: string; message: string; data?: Record<string, unknown> };
    };
    if (typeof error.code !== "string" || typeof error.message !== "string")
      return badReply(order, `has status ${status} and no error`);
    return new CodedError(error.code, error.message, error.data === undefined ? {} : { data: error.data });
  } catch (cause) {
    return badReply(order, `has status ${status} and is not JSON (${messageOf(cause)})`, cause);
  }
}

function badReply({ method, path }: Exchange, what: string, cause?: unknown): CodedError {
  return new CodedError("bad_reply", `the daemon's reply to ${method} ${path} ${what}`, { cause });
}
