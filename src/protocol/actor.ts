// Who sent a request, as the daemon determined it: from the process at the other end of the connection, never from what the
// client says.
import * as z from "zod";

/**
 * `person`: a process that no agent started. `agent:<session_id>`: a process of that session's agent; several ids, separated
 * by commas, if its process serves several sessions. `unknown`: the process could not be examined. `daemon`: nobody asked.
 */
export const Actor = z.string().regex(/^(?:person|unknown|daemon|agent:[A-Za-z0-9._,-]+)$/);
export type Actor = z.infer<typeof Actor>;
