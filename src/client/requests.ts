// What agents ask of people, as a program sees it: how it is told in a session's stream, and the frame of an answer.
import type { Answer, AnswerSource, RequestRow, RequestStatus } from "../protocol/requests.ts";
import type { Inbound } from "../protocol/wire/blemees2.ts";
import type { Reply, SessionFrame } from "./frames.ts";
import type { Port } from "./port.ts";

export interface RequestsFilter {
  session_id?: string;
  /** Also those whose agent is gone: no answer reaches it. */
  include_orphaned?: boolean;
  /** Also those that were answered, expired or taken back. */
  include_settled?: boolean;
  /** Only this one, whole, whatever its state. One that waits no more is found only with `session_id`. */
  request_id?: string;
  /** At most so many, the oldest. */
  limit?: number;
  /** From there on: the `next` of a page. */
  after?: string;
}

export interface RespondOptions {
  /** The `shown_hash` of what the person saw: an answer to something else is refused (`request_changed`). */
  shown_hash?: string;
  /** Where the answer was given, for people who look at it later; by default the way in, `socket` or `http`. */
  source?: AnswerSource;
}

/** What came of an answer: the request as it stands now. `repeated`: it was answered before, and that one counts. */
export type Responded = Reply<"blemeesd.respond">;

export type PendingRequest = RequestRow & { status: "pending" };

/** News of a request. What was asked stands in the first one, with `status: "pending"`, and not in those behind it. */
export type RequestNews =
  | PendingRequest
  | (Omit<RequestRow, "payload" | "status"> & { status: Exclude<RequestStatus, "pending"> });

/** The daemon gives no more at once. */
const MAX_PAGE_ROWS = 1000;

const CATEGORIES: Record<`request_${RequestStatus}`, true> = {
  request_pending: true,
  request_resolved: true,
  request_expired: true,
  request_orphaned: true,
  request_withdrawn: true,
};

/** The request that a frame of a session's stream tells of; undefined for every other frame. */
export function requestOf(frame: SessionFrame): RequestNews | undefined {
  if (frame.type !== "agent.notice") return undefined;
  const { category, data } = frame;
  const request = (data as { request?: Partial<RequestRow> } | undefined)?.request;
  const status: unknown = request?.status;
  if (typeof category !== "string" || typeof status !== "string") return undefined;
  if (!Object.hasOwn(CATEGORIES, category) || category !== `request_${status}`) return undefined;
  return request as RequestNews;
}

/** All that the filter means, page by page; a page is asked for when the one before it was taken. */
export async function* requestPages(
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
      ...(after === undefined ? {} : { after }),
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
  for await (const { requests } of requestPages(port, filter)) rows.push(...requests);
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
