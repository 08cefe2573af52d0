// Shared by the request tests: an agent that makes requests, and the frames around it.
import { expect } from "vitest";
import { RequestRow } from "../../../src/protocol/requests.ts";
import type { Frame, RawClient } from "../../support/raw-client.ts";
import { ask, isOf, newId, openDemo, say } from "./talk.ts";

export interface Waiting {
  client: RawClient;
  session_id: string;
  row: RequestRow;
}

const isNotice =
  (session_id: string, status: string) =>
  (frame: Frame): boolean =>
    isOf("agent.notice", session_id)(frame) && frame["category"] === `request_${status}`;

/** The request in the next notice of that status. */
export async function told(client: RawClient, session_id: string, status: string): Promise<RequestRow> {
  const notice = await client.next(isNotice(session_id, status));
  const { request } = notice["data"] as { request: RequestRow };
  if (status === "pending") expect(RequestRow.parse(request)).toEqual(request);
  else expect(request).not.toHaveProperty("payload");
  expect(notice["seq"]).toEqual(expect.any(Number));
  expect(request).toMatchObject({ session_id, status });
  return request;
}

/** How often the stream reported that status. */
export const timesTold = (client: RawClient, session_id: string, status: string): number =>
  client.frames.filter(isNotice(session_id, status)).length;

/** A demo session whose agent waits for leave to run a command; with "ask" for an answer to a question. */
export async function waitingDemo(
  client: RawClient,
  more: object = {},
  message = "approve",
): Promise<Waiting> {
  const session_id = newId();
  await openDemo(client, session_id, more);
  say(client, session_id, message);
  return { client, session_id, row: await told(client, session_id, "pending") };
}

/** The same with the fake Claude, a process of its own. */
export async function waitingClaude(client: RawClient, message = "#ask mkdir x"): Promise<Waiting> {
  const session_id = newId();
  await client.open(session_id, { approvals: true });
  say(client, session_id, message);
  return { client, session_id, row: await told(client, session_id, "pending") };
}

/** Answers; returns the `responded` frame or the error. */
export function respond(
  client: RawClient,
  { session_id, request_id }: Pick<RequestRow, "session_id" | "request_id">,
  answer: unknown,
  more: object = {},
): Promise<Frame> {
  return ask(client, "respond", { session_id, request_id, answer, ...more });
}

export async function listed(client: RawClient, fields: object = {}): Promise<RequestRow[]> {
  const reply = await ask(client, "list_requests", fields);
  expect(reply.type).toBe("blemeesd.requests");
  return reply["requests"] as RequestRow[];
}

/** Everything the ledger knows of a session. */
export const ledgerOf = (client: RawClient, session_id: string): Promise<RequestRow[]> =>
  listed(client, { session_id, include_orphaned: true, include_settled: true });
