// What a route is: one row, from which routing, checking, OpenAPI and docs/http.md are made.
import type { IncomingMessage, ServerResponse } from "node:http";
import * as z from "zod";
import type { ErrorCode } from "../../protocol/errors.ts";
import { SessionId } from "../../protocol/session.ts";
import type { ChangeFeed } from "./changes.ts";
import type { Streams } from "./streams.ts";
import type { HttpContext } from "./types.ts";
import type { WebFile } from "./web/files.ts";

/** What may stand in braces in a path. */
export const PARAMS = {
  id: SessionId.describe("The session."),
  file: z.string().min(1).max(200).describe("The name of a file of the dashboard."),
  message_id: z.string().min(1).max(200).describe("The message, from the reply to its input."),
  request_id: z.string().min(1).max(200).describe("The request."),
};
export type ParamName = keyof typeof PARAMS;

export const METHODS = ["get", "post", "patch", "delete"] as const;
export type Method = (typeof METHODS)[number];

/** One request, checked. */
export interface Call<Q, B> {
  param(name: ParamName): string;
  query: Q;
  body: B;
  /** The session whose agent asks (`X-Blemees-Session`). */
  asker: string | undefined;
  /** `Idempotency-Key` */
  key: string | undefined;
  /** Aborted when the client goes away or the daemon stops. */
  signal: AbortSignal;
  incoming: IncomingMessage;
  outgoing: ServerResponse;
}

/** What all routes may use. */
export interface Services extends HttpContext {
  streams: Streams;
  changes: ChangeFeed;
  connections(): number;
  /** The OpenAPI document. */
  openApi(): object;
}

export type Reply =
  | { status?: 200 | 201; body: object }
  | { text: string; type: string }
  | { file: WebFile }
  /** The handler writes to the response itself. */
  | "streaming";

export interface Route<Q = unknown, B = unknown> {
  method: Method;
  /** `/sessions/{id}/events` */
  path: string;
  /** The operation's name in OpenAPI. */
  name: string;
  summary: string;
  query?: z.ZodType<Q>;
  /** `maxBytes`: less than any request may bring, where nobody has been let in yet. */
  body?: { name: string; schema: z.ZodType<B>; maxBytes?: number };
  /** By status. */
  replies: Readonly<Record<number, ReplyShape>>;
  /** What it may refuse with, beside what every route may. */
  errors?: readonly ErrorCode[];
  /** `X-Blemees-Session` means something here: what. */
  asker?: string;
  /** `Idempotency-Key` does. */
  keyed?: true;
  handle(call: Call<Q, B>, services: Services): Reply | Promise<Reply>;
}

export interface ReplyShape {
  meaning: string;
  /** JSON of this shape; its name in OpenAPI. */
  name?: string;
  schema?: z.ZodType;
  /** Instead, or beside it: other media types. */
  types?: readonly string[];
}

/** A row with its own types, for the list of all rows. */
export function route<Q, B>(row: Route<Q, B>): Route {
  return row as unknown as Route;
}

export function json(meaning: string, name: string, schema: z.ZodType): ReplyShape {
  return { meaning, name, schema };
}
