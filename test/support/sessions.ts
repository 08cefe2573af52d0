// The sessions of a daemon shared by the tests of a file.
import { HttpClient } from "../../src/client/index.ts";
import type { TestDaemon } from "./daemon.ts";

/** Runs after each test: leftovers of a failed test would disturb its retry and the tests after it. */
export async function removeSessions({ socket }: TestDaemon): Promise<void> {
  const http = new HttpClient({ socket });
  const sessions = await http.sessions();
  await Promise.all(sessions.map(({ session_id }) => http.remove(session_id)));
}
