// What others do when something happens to a session. Called at once, before anything is stored, so that what they
// change in the row is stored together with what happened.
import type { ResultEvent } from "../protocol/events.ts";
import type { RequestRow } from "../protocol/requests.ts";
import type { SessionRow } from "../protocol/session.ts";

export interface SessionHooks {
  /** A turn has its result. `goesOn`: more is queued, or the agent works on behind the turn. */
  turnEnded(row: SessionRow, result: ResultEvent, goesOn: boolean): void;
  /** A message of the queue that the agent could not be given: no turn will tell of it. The caller stores the row. */
  inputFailed(row: SessionRow, message_id: string, error: { code: string; message: string }): void;
  /** The agent asks something, and it is stored. */
  asked(row: SessionRow, request: RequestRow): void;
  /** The session was deleted with all that was stored of it. `by`: the session whose agent did it. */
  removed(row: SessionRow, isAtWork: boolean, by?: string): void;
  /** Something that a view shows is not what it was: state, name, queue, requests, the row. */
  changed(session_id: string): void;
}

export const noHooks: SessionHooks = {
  turnEnded: () => undefined,
  inputFailed: () => undefined,
  asked: () => undefined,
  removed: () => undefined,
  changed: () => undefined,
};
