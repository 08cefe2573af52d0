// Work for daemons that are killed in between, and what became of it: messages, spawns and children, each requested
// with a key until there is an answer, and each looked up in what the agents really received (Claude's transcripts).
import { type Dirent, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { InputRecord } from "../../src/protocol/queue.ts";
import type { HttpClient } from "../servers/http-load/http-client.ts";

export interface Errand {
  key: string;
  path: string;
  body: Record<string, unknown>;
  /** What its agent receives. */
  text: string;
  /** When a daemon has answered it. */
  session_id?: string;
  message_id?: string;
}

/** Sends the request, or repeats it: the same key always gets the same answer. Rejects if the daemon dies first. */
export async function carryOut(http: HttpClient, errand: Errand): Promise<string[]> {
  const headers = { "idempotency-key": errand.key };
  const { status, body } = await http.ask("POST", errand.path, { body: errand.body, headers });
  if (status >= 300) return [`${errand.key}: ${status} ${JSON.stringify(body)}`];
  const session_id: string = body.session?.session_id ?? errand.path.split("/")[2];
  const message_id: string = body.input?.message_id ?? body.message_id;
  const faults: string[] = [];
  if (errand.session_id !== undefined) {
    if (status !== 200 || body.repeated !== true)
      faults.push(`${errand.key}: done again after it was answered`);
    if (errand.session_id !== session_id) faults.push(`${errand.key}: another session than before`);
    if (errand.message_id !== message_id) faults.push(`${errand.key}: another message than before`);
  }
  errand.session_id = session_id;
  errand.message_id = message_id;
  return faults;
}

/** By session: the texts that its agent received, in order. */
export function transcripts(home: string): Map<string, string[]> {
  const files = readdirSync(join(home, "claude"), { recursive: true, withFileTypes: true });
  return new Map(
    files.filter(({ name }) => name.endsWith(".jsonl")).map((file) => [idOf(file), textsOf(file)]),
  );
}

function idOf({ name }: Dirent): string {
  return name.slice(0, -".jsonl".length);
}

function textsOf({ parentPath, name }: Dirent): string[] {
  const lines = readFileSync(join(parentPath, name), "utf8").trimEnd().split("\n");
  return lines.map((line) => (JSON.parse(line) as { message: { content: string } }).message.content);
}

/**
 * Its turn was cut off by the end of the daemon: reported as such, and the one case in which it is unknown what the
 * agent received.
 */
export function wasCut({ state, outcome, error }: InputRecord): boolean {
  return state === "done" && outcome === "error" && error?.code === "backend_crashed";
}
