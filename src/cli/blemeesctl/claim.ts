// How a verb in the shell comes to drive a session that exists.
import { CodedError } from "../../base/coded-error.ts";
import type { Client, SessionHandle } from "../../client/index.ts";

/** Only its owner may drive a session, so it is resumed here; not away from somebody who drives it now. */
export async function claim(client: Client, session_id: string, isTaking: boolean): Promise<SessionHandle> {
  const { backend, attached, last_seq } = await client.sessionInfo(session_id);
  if (attached && !isTaking) {
    const text = `another client drives session ${session_id}; add --take to take it over, or use watch`;
    throw new CodedError("session_busy", text);
  }
  return client.open({ session_id, backend, resume: true, last_seen_seq: last_seq });
}
