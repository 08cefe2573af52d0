// From a request to its route and back: checks what came, calls the route, gives its reply or its error.
import type { Socket } from "node:net";
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Context, Hono } from "hono";
import * as z from "zod";
import { CodedError } from "../../base/coded-error.ts";
import { SessionId } from "../../protocol/session.ts";
import { IdempotencyKey } from "../../protocol/wire/http.ts";
import { readBody } from "./body.ts";
import { errorReply } from "./errors.ts";
import { lostError } from "./lost.ts";
import { checkPart, readQuery } from "./query.ts";
import { type Call, PARAMS, type ParamName, type Reply, type Route, type Services } from "./route.ts";

type Env = { Bindings: HttpBindings };

const JSON_HEADERS = { "content-type": "application/json; charset=utf-8" };
const CallHeaders = z.object({
  "x-blemees-session": SessionId.optional(),
  "idempotency-key": IdempotencyKey.optional(),
});
const NOTHING = z.strictObject({});

export interface AppOptions {
  routes: readonly Route[];
  services: Services;
  maxBodyBytes: number;
  /** Aborted when the daemon says good-bye. */
  dismissed: AbortSignal;
}

export function createApp(options: AppOptions): Hono<Env> {
  const { routes, services } = options;
  // Paths are what they are: `/sessions/` is not `/sessions`.
  const app = new Hono<Env>({ strict: true });
  for (const row of routes) {
    const path = row.path.replaceAll(/\{(\w+)\}/g, ":$1");
    app.on(row.method.toUpperCase(), path, async (c) =>
      toResponse(await run(row, c, options), c.env.outgoing),
    );
  }
  const refuse = (error: unknown): Response => {
    const { status, headers, text } = errorReply(error, services.log);
    return new Response(text, { status, headers });
  };
  app.notFound((c) => refuse(lostError(c.req.method, c.req.path, routes)));
  app.onError((error) => refuse(error));
  return app;
}

async function run(row: Route, c: Context<Env>, options: AppOptions): Promise<Reply> {
  const { incoming, outgoing } = c.env;
  const params = new Map<string, string>();
  for (const [, name] of row.path.matchAll(/\{(\w+)\}/g)) {
    const schema = z.strictObject({ [String(name)]: PARAMS[name as ParamName] });
    params.set(String(name), c.req.param(name as ParamName) ?? "");
    checkPart(schema, { [String(name)]: params.get(String(name)) }, "path");
  }
  const query = checkPart(row.query ?? NOTHING, readQuery(new URL(c.req.url).search), "query");
  const headers = checkPart(CallHeaders, incoming.headers, "header");
  const body =
    row.body === undefined
      ? undefined
      : checkPart(
          row.body.schema,
          await readBody(incoming, row.body.maxBytes ?? options.maxBodyBytes),
          "body",
        );
  const call: Call<unknown, unknown> = {
    param: (name) => params.get(name) ?? "",
    query,
    body,
    asker: headers["x-blemees-session"],
    key: headers["idempotency-key"],
    signal: signalOf(incoming.socket, outgoing, options.dismissed),
    incoming,
    outgoing,
  };
  return row.handle(call, options.services);
}

/** A response that waits behind another one is not told that their client went away: its socket is. */
function signalOf(socket: Socket, outgoing: HttpBindings["outgoing"], dismissed: AbortSignal): AbortSignal {
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

function toResponse(reply: Reply, outgoing: HttpBindings["outgoing"]): Response {
  if (reply === "streaming") return RESPONSE_ALREADY_SENT;
  if ("text" in reply) return new Response(reply.text, { headers: { "content-type": reply.type } });
  if ("file" in reply) {
    outgoing.writeHead(200, { ...reply.file.headers, "content-length": reply.file.bytes.length });
    outgoing.end(reply.file.bytes);
    return RESPONSE_ALREADY_SENT;
  }
  // Straight to the connection: a Response copies a long list several times.
  const text = Buffer.from(`${JSON.stringify(reply.body)}\n`);
  outgoing.writeHead(reply.status ?? 200, { ...JSON_HEADERS, "content-length": text.length });
  outgoing.end(text);
  return RESPONSE_ALREADY_SENT;
}
