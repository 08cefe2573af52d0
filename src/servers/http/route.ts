// The type of a route: one row, from which routing, validation, OpenAPI and docs/http.md are derived.
import type { IncomingMessage, ServerResponse } from "node:http";
import * as z from "zod";
import type { ErrorCode } from "../../protocol/errors.ts";
import { RuleId } from "../../protocol/policy.ts";
import { SessionId } from "../../protocol/session.ts";
import type { ChangeFeed } from "./changes.ts";
import type { Streams } from "./streams.ts";
import type { HttpContext } from "./types.ts";
import type { WebFile } from "./web/files.ts";

/** Path parameters. */
export const PARAMS = {
  id: SessionId.describe("The session."),
  file: z.string().min(1).max(200).describe("A file name of the dashboard."),
  message_id: z.string().min(1).max(200).describe("The message id, from the reply to its input."),
  request_id: z.string().min(1).max(200).describe("The request."),
  tool: z.string().min(1).max(64).describe("The name of a tool."),
  rule_id: RuleId.describe("The policy rule."),
};
export type ParamName = keyof typeof PARAMS;

export type Method = "get" | "post" | "patch" | "delete";

/** A validated request. */
export interface Call<Q, B> {
  param(name: ParamName): string;
  query: Q;
  body: B;
  /** The session whose agent sent the request, from its process or from `X-Blemees-Session`. */
  asker: string | undefined;
  /** The client is an agent's: the manager is limited to its rights. */
  isAgent: boolean;
  /** `Idempotency-Key` */
  key: string | undefined;
  /** Aborted when the client disconnects or the daemon shuts down. */
  signal: AbortSignal;
  incoming: IncomingMessage;
  outgoing: ServerResponse;
}

/** What routes can use. */
export interface Services extends HttpContext {
  streams: Streams;
  changes: ChangeFeed;
  connections(): number;
  /** The OpenAPI document. */
  openApi(): object;
}

export type Reply =
  | { status?: 200 | 201 | 202; body: object }
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
  /** `maxBytes`: a lower limit for routes without authentication. */
  body?: { name: string; schema: z.ZodType<B>; maxBytes?: number };
  /** By status. */
  replies: Readonly<Record<number, ReplyShape>>;
  /** Errors in addition to those of every route. */
  errors?: readonly ErrorCode[];
  /** What `X-Blemees-Session` means here, if it is used. */
  asker?: string;
  /** Agents may not use it: what it does, after "may not". */
  personOnly?: string;
  /** The same for agents that do not see all sessions (`agents_see`). */
  sightOnly?: string;
  /** It shows nothing of any session: the client is not identified. */
  isOpen?: true;
  /** Whether `Idempotency-Key` is used. */
  keyed?: true;
  handle(call: Call<Q, B>, services: Services): Reply | Promise<Reply>;
}

export interface ReplyShape {
  meaning: string;
  /** Name of the JSON schema in OpenAPI. */
  name?: string;
  schema?: z.ZodType;
  /** Other media types. */
  types?: readonly string[];
}

/** Keeps a row's own types while checking it, and drops them for the list of all rows. */
export function route<Q, B>(row: Route<Q, B>): Route {
  return row as unknown as Route;
}

export function defineJsonReply(meaning: string, name: string, schema: z.ZodType): ReplyShape {
  return { meaning, name, schema };
}
