// Takes a request to its route: validates its parts, calls the route, and writes the reply or the error.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import * as z from "zod";
import { CodedError } from "../../base/coded-error.ts";
import { SessionId } from "../../protocol/session.ts";
import { IdempotencyKey } from "../../protocol/wire/http.ts";
import { type Caller, findOwnSession, LOCAL, narrowCaller } from "../../sessions/index.ts";
import { readBody } from "./body.ts";
import { toErrorReply } from "./errors.ts";
import { type FoundRoute, findRoute } from "./find-route.ts";
import { checkPart, readQuery } from "./query.ts";
import { type Call, PARAMS, type Reply, type Route, type Services } from "./route.ts";

const CallHeaders = z.object({
  "x-blemees-session": SessionId.optional(),
  "idempotency-key": IdempotencyKey.optional(),
});
const PathParams = z.strictObject(PARAMS).partial();
const NOTHING = z.strictObject({});

export interface DispatchOptions {
  routes: readonly Route[];
  services: Services;
  /** Who is at the other end of this connection. */
  caller(socket: Socket): Caller | Promise<Caller>;
  maxBodyBytes: number;
  /** Aborted when the daemon shuts down. */
  dismissed: AbortSignal;
}

/** Never rejects: every failure is a reply, or the end of a reply that has already started. */
export async function dispatch(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  options: DispatchOptions,
): Promise<void> {
  try {
    const { method = "", url = "" } = incoming;
    const [path = ""] = url.split("?", 1);
    const found = findRoute(method, path, options.routes);
    writeReply(await run(found, url.slice(path.length), incoming, outgoing, options), outgoing);
  } catch (error) {
    const { status, headers, text } = toErrorReply(error, options.services.log);
    if (outgoing.headersSent) outgoing.destroy();
    else write(outgoing, status, headers, text);
  }
}

async function run(
  { row, params }: FoundRoute,
  search: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  options: DispatchOptions,
): Promise<Reply> {
  checkPart(PathParams, params, "path");
  const query = checkPart(row.query ?? NOTHING, readQuery(search), "query");
  const headers = checkPart(CallHeaders, incoming.headers, "header");
  const isOpen = row.isOpen === true;
  const caller = isOpen
    ? LOCAL
    : narrowCaller(await options.caller(incoming.socket), headers["x-blemees-session"]);
  const services = isOpen
    ? options.services
    : { ...options.services, manager: options.services.manager.as(caller) };
  if (row.personOnly !== undefined) services.manager.requirePerson(row.personOnly);
  if (row.sightOnly !== undefined) services.manager.requireSight(row.sightOnly);
  const body =
    row.body === undefined
      ? undefined
      : checkPart(
          row.body.schema,
          await readBody(incoming, row.body.maxBytes ?? options.maxBodyBytes),
          "body",
        );
  const call: Call<unknown, unknown> = {
    param: (name) => params[name] ?? "",
    query,
    body,
    asker: findOwnSession(caller),
    isAgent: caller.isAgent,
    key: headers["idempotency-key"],
    signal: createSignal(incoming.socket, outgoing, options.dismissed),
    incoming,
    outgoing,
  };
  return row.handle(call, services);
}

/** Aborted when the client disconnects or the daemon shuts down. A queued response does not see its socket close. */
function createSignal(socket: Socket, outgoing: ServerResponse, dismissed: AbortSignal): AbortSignal {
  const over = new AbortController();
  const dismiss = (): void => over.abort(dismissed.reason);
  const leave = (): void => {
    dismissed.removeEventListener("abort", dismiss);
    socket.off("close", leave);
    outgoing.off("close", leave);
    over.abort(new CodedError("invalid_message", "the client disconnected"));
  };
  if (dismissed.aborted) dismiss();
  dismissed.addEventListener("abort", dismiss, { once: true });
  outgoing.on("close", leave);
  socket.on("close", leave);
  if (socket.destroyed) leave();
  return over.signal;
}

function writeReply(reply: Reply, outgoing: ServerResponse): void {
  if (reply === "streaming") return;
  if ("text" in reply) write(outgoing, 200, { "content-type": reply.type }, reply.text);
  else if ("file" in reply) write(outgoing, 200, reply.file.headers, reply.file.bytes);
  else {
    const headers = { "content-type": "application/json; charset=utf-8" };
    write(outgoing, reply.status ?? 200, headers, `${JSON.stringify(reply.body)}\n`);
  }
}

function write(
  outgoing: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array,
): void {
  outgoing.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) });
  outgoing.end(body);
}
