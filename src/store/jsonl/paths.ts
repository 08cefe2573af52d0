// The files of a session in the JSONL directory. Session ids are checked again here before they become paths.
import { join } from "node:path";
import { CodedError } from "../../base/coded-error.ts";
import { isSessionId } from "../session-id.ts";

const LOG = ".jsonl";
const SIDECAR = ".usage.json";
/** Written by versions in which these files were the store. */
const LEDGER = ".requests.json";
const SETTLED = ".settled.ndjson";
/** An id may end in `.requests` or `.usage`, but no ending is the end of another: a name has one owner. */
const ENDINGS = [LOG, SIDECAR, LEDGER, SETTLED];
const OWN_ENDING =
  /^(\.jsonl|\.usage\.json|\.requests\.json|\.settled\.ndjson)(\.tmp|\.(torn|replaced|imported)-\d{8}T\d{9}Z(-\d+)?)?$/;

export function logPath(dir: string, session_id: string): string {
  return join(dir, checkId(session_id) + LOG);
}

export function toSidecarPath(dir: string, session_id: string): string {
  return join(dir, checkId(session_id) + SIDECAR);
}

export function toLedgerPath(dir: string, session_id: string): string {
  return join(dir, checkId(session_id) + LEDGER);
}

export function toSettledPath(dir: string, session_id: string): string {
  return join(dir, checkId(session_id) + SETTLED);
}

/** The session that a file belongs to; undefined for files that are not ours, copies and temporary files. */
export function findOwner(name: string): string | undefined {
  const ending = ENDINGS.find((one) => name.endsWith(one));
  if (ending === undefined) return undefined;
  const id = name.slice(0, -ending.length);
  return isSessionId(id) ? id : undefined;
}

/** Matches every file of this session, copies included, and none of a session with a longer id. */
export function matchFiles(session_id: string): (name: string) => boolean {
  const id = checkId(session_id);
  return (name) => name.startsWith(id) && OWN_ENDING.test(name.slice(id.length));
}

function checkId(session_id: string): string {
  if (isSessionId(session_id)) return session_id;
  throw new CodedError("invalid_message", `not a session id: ${JSON.stringify(session_id)}`);
}
