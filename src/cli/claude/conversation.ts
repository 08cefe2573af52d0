// Which conversation `--resume` and `--continue` mean.
import { readErrno } from "../../base/coded-error.ts";
import type { HttpClient } from "../../client/index.ts";
import { UsageError } from "../command.ts";
import type { ClaudeArguments } from "./arguments.ts";

/** Undefined: a new one. Throws if there is nothing to continue. */
export async function findConversation(
  http: HttpClient,
  { resume, isContinued }: Pick<ClaudeArguments, "resume" | "isContinued">,
  cwd: string,
): Promise<string | undefined> {
  if (resume !== undefined) return resume;
  if (!isContinued) return undefined;
  const sessions = await http.sessions({ cwd });
  const [newest] = sessions
    .filter(({ backend }) => backend === "claude")
    .sort((a, b) => b.last_active_at_ms - a.last_active_at_ms);
  if (newest === undefined) throw new UsageError(`no conversation of claude in ${cwd} to continue`);
  return newest.session_id;
}

/** Undefined if only claude knows the conversation. */
export async function findLastSeq(http: HttpClient, session_id: string): Promise<number | undefined> {
  try {
    return (await http.session(session_id)).last_seq;
  } catch (error) {
    if (readErrno(error) === "session_unknown") return undefined;
    throw error;
  }
}
