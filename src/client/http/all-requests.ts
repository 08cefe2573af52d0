// `HttpApi.inbox`: all pages of requests.
import type { RequestRow } from "../../protocol/requests.ts";
import type { RequestsFilter } from "../requests.ts";
import type { RequestsReply } from "./types.ts";

type Filter = RequestsFilter & { tree?: boolean };

export async function readAllRequests(
  readPage: (filter: Filter) => Promise<RequestsReply>,
  filter: Filter,
): Promise<Omit<RequestsReply, "next">> {
  const requests: RequestRow[] = [];
  const sessions = new Map<string, RequestsReply["sessions"][number]>();
  for (let after = filter.after; ; ) {
    const page = await readPage(after === undefined ? filter : { ...filter, after });
    requests.push(...page.requests);
    // An older daemon does not send them.
    for (const session of page.sessions ?? []) sessions.set(session.session_id, session);
    if (page.next === undefined) return { requests, sessions: [...sessions.values()] };
    after = page.next;
  }
}
