// The sessions of a daemon that the tests of a file share.
import { HttpClient } from "../../src/client/index.ts";
import type { TestDaemon } from "./daemon.ts";

/** Behind a test: what it left, when it failed, would be in the way of its second try and of the tests behind it. */
export async function removeSessions({ socket }: TestDaemon): Promise<void> {
  const http = new HttpClient({ socket });
  const sessions = await http.sessions();
  await Promise.all(sessions.map(({ session_id }) => http.remove(session_id)));
}
