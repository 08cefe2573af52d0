// Which files belong to a session. No id becomes a path unchecked (DESIGN R10), although the edge checks it too.
import { join } from "node:path";
import { CodedError } from "../../base/coded-error.ts";
import { isSessionId } from "../session-id.ts";

const LOG = ".jsonl";
const SIDECAR = ".usage.json";
/** An id may end in `.requests` or `.usage`: no ending is the end of another, so a name has one owner. */
const LEDGER = ".requests.json";
const SETTLED = ".settled.ndjson";
const OWN_ENDING =
  /^(\.jsonl|\.usage\.json|\.requests\.json|\.settled\.ndjson)(\.tmp|\.torn-\d{8}T\d{9}Z(-\d+)?)?$/;

export function logPath(dir: string, session_id: string): string {
  return join(dir, checkId(session_id) + LOG);
}

export function sidecarPath(dir: string, session_id: string): string {
  return join(dir, checkId(session_id) + SIDECAR);
}

export function ledgerPath(dir: string, session_id: string): string {
  return join(dir, checkId(session_id) + LEDGER);
}

export function settledPath(dir: string, session_id: string): string {
  return join(dir, checkId(session_id) + SETTLED);
}

/** The session a sidecar's name belongs to. */
export function sidecarOwner(name: string): string | undefined {
  return owner(name, SIDECAR);
}

export function logOwner(name: string): string | undefined {
  return owner(name, LOG);
}

export function ledgerOwner(name: string): string | undefined {
  return owner(name, LEDGER);
}

export function settledOwner(name: string): string | undefined {
  return owner(name, SETTLED);
}

/** Tells the files we made for this session from all others, also from those of a session with a longer name. */
export function ownFiles(session_id: string): (name: string) => boolean {
  const id = checkId(session_id);
  return (name) => name.startsWith(id) && OWN_ENDING.test(name.slice(id.length));
}

function owner(name: string, ending: string): string | undefined {
  if (!name.endsWith(ending)) return undefined;
  const id = name.slice(0, -ending.length);
  return isSessionId(id) ? id : undefined;
}

function checkId(session_id: string): string {
  if (isSessionId(session_id)) return session_id;
  throw new CodedError("invalid_message", `not a session id: ${JSON.stringify(session_id)}`);
}
