// Requests of agents: how they appear in a session's stream, and the frames that list and answer them.
import { defined } from "../base/values.ts";
import type { Answer, AnswerSource, RequestRow, RequestStatus } from "../protocol/requests.ts";
import type { Inbound } from "../protocol/wire/blemees2.ts";
import type { Reply, SessionFrame } from "./frames.ts";
import type { Port } from "./port.ts";

export interface RequestsFilter {
  session_id?: string;
  /** Include requests whose agent is gone. */
  include_orphaned?: boolean;
  /** Include answered, expired and withdrawn requests. */
  include_settled?: boolean;
  /** Only this one, complete, in any state. Settled requests also need `session_id`. */
  request_id?: string;
  /** Maximum number, oldest first. */
  limit?: number;
  /** Continue after a page: its `next`. */
  after?: string;
}

export interface RespondOptions {
  /** The `shown_hash` of what the user saw; if the request has changed, the answer is refused (`request_changed`). */
  shown_hash?: string;
  /** Where the answer was given, for the record; default the transport, `socket` or `http`. */
  source?: AnswerSource;
}

/** The request after the answer. `repeated`: it was already answered, and the first answer counts. */
export type Responded = Reply<"blemeesd.respond">;

export type PendingRequest = RequestRow & { status: "pending" };

/** A change of a request. Only the first one, with `status: "pending"`, has the payload. */
export type RequestUpdate =
  | PendingRequest
  | (Omit<RequestRow, "payload" | "status"> & { status: Exclude<RequestStatus, "pending"> });

/** The daemon's page limit. */
const MAX_PAGE_ROWS = 1000;

const CATEGORIES: Record<`request_${RequestStatus}`, true> = {
  request_pending: true,
  request_resolved: true,
  request_expired: true,
  request_orphaned: true,
  request_withdrawn: true,
};

/** The request in a frame of a session's stream, if any. */
export function readRequest(frame: SessionFrame): RequestUpdate | undefined {
  if (frame.type !== "agent.notice") return undefined;
  const { category, data } = frame;
  const request = (data as { request?: Partial<RequestRow> } | undefined)?.request;
  const status: unknown = request?.status;
  if (typeof category !== "string" || typeof status !== "string") return undefined;
  if (!Object.hasOwn(CATEGORIES, category) || category !== `request_${status}`) return undefined;
  return request as RequestUpdate;
}

/** All matching requests, page by page, fetched as they are consumed. */
export async function* listRequestPages(
  port: Pick<Port, "request">,
  { limit = Infinity, after: from, ...filter }: RequestsFilter,
): AsyncGenerator<Reply<"blemeesd.list_requests">> {
  let left = limit;
  let after = from;
  do {
    const page = await port.request({
      type: "blemeesd.list_requests",
      ...filter,
      ...(left === Infinity ? {} : { limit: Math.min(left, MAX_PAGE_ROWS) }),
      ...defined({ after }),
    });
    yield page;
    left -= page.requests.length;
    after = page.next;
  } while (after !== undefined && left > 0);
}

export async function listRequests(
  port: Pick<Port, "request">,
  filter: RequestsFilter,
): Promise<RequestRow[]> {
  const rows: RequestRow[] = [];
  for await (const { requests } of listRequestPages(port, filter)) rows.push(...requests);
  return rows;
}

export function respondFrame(
  session_id: string,
  request_id: string,
  answer: Answer,
  how: RespondOptions,
): Inbound<"blemeesd.respond"> {
  return { type: "blemeesd.respond", session_id, request_id, answer, ...how };
}
