// Finds the session that a model means, by its id or its name.
import { CodedError } from "../../base/coded-error.ts";
import type { SessionView } from "../../protocol/views.ts";
import type { ToolContext } from "./types.ts";

const MAX_NAMED = 8;

/** Throws `session_unknown`, also for a name that several sessions have. */
export async function findSession({ manager, self }: ToolContext, ref: string): Promise<SessionView> {
  const { sessions } = await manager.views({ name: ref, limit: MAX_NAMED });
  const own = sessions.filter((view) => view.parent === self);
  const named = own.length > 0 ? own : sessions;
  const [only] = named;
  if (only !== undefined && named.length === 1) return only;
  if (only === undefined) return manager.view(ref);
  const ids = named.map(({ session_id }) => session_id).join(", ");
  throw new CodedError(
    "session_unknown",
    `${JSON.stringify(ref)} is the name of several sessions: ${ids}; use an id`,
  );
}
