// A turn in which the agent asks, as the owner's client sees it. Frames are looked up among all arrived frames, not in
// order: an answer's reply, its notice and the turn's result may come in any order.
import { expect, vi } from "vitest";
import type { Answer, RequestRow } from "../../src/protocol/requests.ts";
import type { Frame, RawClient } from "../support/raw-client.ts";
import { isRefusal, isUserTurn, type Talk, type Turn, textOf } from "./world.ts";

export interface Asking {
  /** The first request of this turn, or the one after `count` others. Fails if the turn ends without it. */
  asked(count?: number): Promise<RequestRow>;
  /** The first request, also after the end of the turn: a sub-agent may outlive it. */
  askedAnytime(): Promise<RequestRow>;
  /** The row as the notice of this status shows it. */
  became(row: RequestRow, status: RequestRow["status"]): Promise<RequestRow>;
  /** Answers, and returns the reply or the error. */
  respond(row: RequestRow, answer: Answer): Promise<Frame>;
  /** Waits for the end of the turn. */
  end(): Promise<Turn>;
}

/** Sends a message that makes the agent ask. */
export function begin(talk: Talk, content: unknown): Asking {
  const { client, session_id } = talk;
  const from = client.frames.length;
  const arrived = () => client.frames.slice(from).filter((frame) => frame["session_id"] === session_id);
  const requests = (status: string) =>
    arrived()
      .filter((frame) => frame["category"] === `request_${status}`)
      .map((frame) => (frame["data"] as { request: RequestRow }).request);
  // By its id: after a resume the result of the turn before may still arrive.
  const findResult = () => {
    const started = arrived().find(isUserTurn);
    const { turn_id } = (started?.["data"] ?? {}) as { turn_id?: string };
    if (turn_id === undefined) return undefined;
    return arrived().find((frame) => frame.type === "agent.result" && frame["turn_id"] === turn_id);
  };
  // Replies to other frames have the id of their frame.
  const findRefusal = () => arrived().find((frame) => isRefusal(frame) && frame["id"] === undefined);
  talk.send(content);
  return {
    async asked(count = 0) {
      const last = await until(client, () => requests("pending")[count] ?? findResult() ?? findRefusal());
      const row = requests("pending")[count];
      if (row !== undefined) return row;
      throw new Error(`no request ${count} after ${JSON.stringify(content)}, but ${JSON.stringify(last)}`);
    },
    askedAnytime: () => until(client, () => requests("pending")[0]),
    became: (row, status) =>
      until(client, () => requests(status).find(({ request_id }) => request_id === row.request_id)),
    respond: (row, answer) => respond(client, row, answer),
    async end() {
      const result = await until(client, findResult);
      const frames = client.frames.slice(from, client.frames.indexOf(result) + 1);
      return { result, frames, text: textOf(frames.filter((frame) => frame["session_id"] === session_id)) };
    },
  };
}

export async function respond(client: RawClient, row: RequestRow, answer: Answer): Promise<Frame> {
  const { session_id, request_id, shown_hash } = row;
  const id = `answer-${request_id}-${client.frames.length}`;
  client.send({ type: "blemeesd.respond", id, session_id, request_id, shown_hash, answer });
  return until(client, () => client.frames.find((frame) => frame["id"] === id));
}

/** Answers, and checks that it was accepted and reached the agent. */
export async function settle(asking: Asking, row: RequestRow, answer: Answer): Promise<void> {
  const reply = await asking.respond(row, answer);
  expect(reply).toMatchObject({ type: "blemeesd.responded", repeated: false });
  expect(reply["request"]).toMatchObject({ status: "resolved", answer, resolution_source: "socket" });
  expect((reply["request"] as RequestRow).dispatched_at_ms).toBeGreaterThanOrEqual(row.requested_at_ms);
}

export async function listRequests(client: RawClient, filter: object = {}): Promise<RequestRow[]> {
  const reply = await client.request({ type: "blemeesd.list_requests", ...filter });
  expect(reply.type).toBe("blemeesd.requests");
  return reply["requests"] as RequestRow[];
}

/** The choices by name. */
export function choiceOf(row: RequestRow, decision: string) {
  const choice = row.payload.choices.find((candidate) => candidate.decision === decision);
  if (choice === undefined) throw new Error(`"${decision}" is not offered: ${JSON.stringify(row.payload)}`);
  return choice;
}

function until<T>(client: RawClient, look: () => T | undefined): Promise<T> {
  return vi.waitFor(
    () => {
      const found = look();
      if (found !== undefined) return found;
      const last = client.frames.slice(-6).map((frame) => JSON.stringify(frame).slice(0, 300));
      throw new Error(`no such frame; the last ones:\n${last.join("\n")}`);
    },
    { timeout: client.patienceMs, interval: 10 },
  );
}
