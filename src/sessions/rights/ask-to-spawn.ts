// A session that an agent may not start by itself becomes a request to a person, in the agent's own name. When it is
// accepted, the daemon starts the session; either way the agent gets a message. Lost with the daemon, also if
// the agent outlives it: the request is then orphaned, and the agent has to ask again.
import { randomUUID } from "node:crypto";
import type { Ask } from "../../backends/types.ts";
import { CodedError, toMessage } from "../../base/coded-error.ts";
import { makeId } from "../../base/id.ts";
import type { Log } from "../../base/log.ts";
import type { Answer } from "../../protocol/requests.ts";
import type { SpawnOrder } from "../manager-types.ts";
import { isSpawnRequest, SPAWN_ID } from "../requests/frames.ts";
import type { Ledger } from "../requests/ledger.ts";
import type { Asker } from "../requests/types.ts";
import type { Session } from "../session.ts";
import type { Escalation } from "./ceiling.ts";

/** Per agent: more would only bury those that a person is to decide. */
const MAX_WAITING = 8;

export interface AskParts {
  /** Of the agent that asks; undefined if it is not running. */
  session: Session | undefined;
  ledger: Ledger;
  log: Log;
  spawn(order: SpawnOrder): Promise<unknown>;
  /** Sends the agent a message from the daemon. */
  report(text: string): Promise<void>;
}

/** Always throws: `escalation` with the id of the request and of the session that starts when it is accepted. */
export async function askToSpawn(
  order: SpawnOrder & { parent: string },
  { option, why }: Escalation,
  parts: AskParts,
): Promise<never> {
  const { session, ledger } = parts;
  const run = session?.asker;
  if (session === undefined || run === undefined)
    throw new CodedError("escalation", `${option}: ${why}; its agent is not running, so nobody can be asked`);
  const waiting = ledger.listPending(order.parent).filter(isSpawnRequest).length;
  if (waiting >= MAX_WAITING)
    throw new CodedError(
      "escalation",
      `${option}: ${why}; ${waiting} such requests wait for a person already`,
    );
  const session_id = order.session_id ?? randomUUID();
  const native_id = makeId(SPAWN_ID);
  let answered: Answer | undefined;
  const asker: Asker = {
    stream: session.stream,
    generation: run.generation,
    // Not awaited: the answer is given, whether or not the session starts.
    answer: async (_id, answer) => {
      answered = answer;
      void decide({ ...order, session_id }, answer, parts);
      return true;
    },
    changed: () => undefined,
  };
  ledger.ask(asker, toAsk(native_id, { ...order, session_id }, `${option}: ${why}`));
  await ledger.idle(order.parent);
  const row = ledger.listPending(order.parent).find((one) => one.native_request_id === native_id);
  if (row === undefined) throw notWaitingError(answered, session_id, `${option}: ${why}`);
  const { request_id } = row;
  const message = `${option}: ${why}; a person was asked (${request_id}). If they accept, session ${session_id} starts, and you get a message. The request is lost if the daemon restarts first: then ask again`;
  throw new CodedError("escalation", message, { data: { option, request_id, session_id } });
}

/** A rule declined it before anybody saw it (none can allow it), or it could not be stored. */
function notWaitingError(answer: Answer | undefined, session_id: string, reason: string): CodedError {
  const why =
    answer === undefined
      ? "the request to a person could not be stored; try again"
      : "a policy rule declined it, so no person was asked";
  return new CodedError("escalation", `${reason}; ${why}`, { data: { session_id } });
}

function isAccept(answer: Answer): boolean {
  return "decision" in answer && answer.decision === "accept";
}

function toAsk(native_id: string, order: SpawnOrder, reason: string): Ask {
  const { message, key: _key, ...input } = order;
  const name = order.name === undefined ? "" : ` "${order.name}"`;
  const prompt = message === undefined ? {} : { prompt: message.content };
  return {
    native_id,
    request_type: "permissions",
    payload: {
      title: `start a ${order.backend} session${name} with more rights than its own`,
      reason,
      tool_name: "spawn",
      input: { ...input, ...prompt },
      choices: [{ decision: "accept" }, { decision: "decline", takes: ["message"] }],
    },
  };
}

async function decide(order: SpawnOrder, answer: Answer, { spawn, report, log }: AskParts): Promise<void> {
  const isAccepted = isAccept(answer);
  const reason = "decision" in answer && answer.message !== undefined ? ` They say: ${answer.message}` : "";
  const { session_id } = order;
  try {
    if (isAccepted) await spawn(order);
    await report(
      isAccepted
        ? `Your request to start session ${session_id} was accepted; it is running.`
        : `Your request to start session ${session_id} was declined.${reason}`,
    );
  } catch (error) {
    log.warn("rights.spawn_failed", { session_id, message: toMessage(error) });
    await report(`Session ${session_id} was allowed, but did not start: ${toMessage(error)}`).catch(
      () => undefined,
    );
  }
}
