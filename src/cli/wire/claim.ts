// Takes ownership of an existing session for a verb in the shell.
import { CodedError } from "../../base/coded-error.ts";
import type { Client, SessionHandle } from "../../client/index.ts";

/** Resumes a session to become its owner, unless another client owns it. */
export async function claim(client: Client, session_id: string, isTaking: boolean): Promise<SessionHandle> {
  const { backend, attached, last_seq } = await client.sessionInfo(session_id);
  if (attached && !isTaking) {
    const text = `session ${session_id} is owned by another client; add --take to take it over, or use watch`;
    throw new CodedError("session_busy", text);
  }
  return client.open({ session_id, backend, resume: true, last_seen_seq: last_seq });
}
