// HTTP over the daemon's Unix socket. Each request opens a new connection, so none is stale after a restart.
import { type IncomingMessage, request } from "node:http";
import { CodedError, readErrno } from "../../base/coded-error.ts";
import { defined } from "../../base/values.ts";
import { explainConnectError } from "../discover.ts";
import type { Order, Transport } from "./transport.ts";

export function createUnixTransport(socket: string): Transport {
  return {
    async send(order) {
      const response = await sendRequest(socket, order);
      return {
        status: response.statusCode ?? 0,
        chunks: readChunks(socket, response),
        close: () => response.destroy(),
      };
    },
  };
}

function sendRequest(socket: string, order: Order): Promise<IncomingMessage> {
  const { method, path, body, headers, silenceMs = 0, signal } = order;
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
      ...defined({ signal }),
    });
    outgoing.once("response", resolve);
    outgoing.once("error", (error) => reject(explainError(socket, error)));
    outgoing.setTimeout(silenceMs, () => {
      const message = `the daemon at ${socket} did not answer ${method} ${path} within ${silenceMs / 1000} s`;
      outgoing.destroy(new CodedError("no_answer", message));
    });
    outgoing.end(text);
  });
}

async function* readChunks(socket: string, response: IncomingMessage): AsyncGenerator<Buffer, void> {
  try {
    yield* response as AsyncIterable<Buffer>;
  } catch (error) {
    throw explainCut(socket, error);
  }
}

function explainError(socket: string, error: Error): CodedError {
  if (readErrno(error)?.startsWith("HPE_")) {
    if (isShutdownFrame(error)) return new CodedError("daemon_shutdown", "the daemon is shutting down");
    const message = `the server at ${socket} does not speak HTTP; if it is an older blemeesd, restart it`;
    return new CodedError("not_http", message, { cause: error });
  }
  const isConnect = (error as { syscall?: unknown }).syscall === "connect";
  return isConnect ? explainConnectError(socket, error) : explainCut(socket, error);
}

/** A daemon that shuts down sends this to a client whose request it has not read: it cannot know that HTTP is expected. */
function isShutdownFrame(error: Error): boolean {
  const { rawPacket } = error as { rawPacket?: Buffer };
  try {
    return JSON.parse(rawPacket?.toString("utf8") ?? "").code === "daemon_shutdown";
  } catch {
    return false;
  }
}

function explainCut(socket: string, error: unknown): CodedError {
  if (error instanceof CodedError) return error;
  if (error instanceof Error && error.name === "AbortError")
    return new CodedError("aborted", "aborted by the caller", { cause: error });
  return new CodedError("connection_lost", `the daemon at ${socket} closed the connection`, { cause: error });
}
