// The asking session as text: its name, its agent and its project. Untrusted text; each screen makes it safe when it draws.
import { defined } from "../../base/values.ts";
import type { AskingSession } from "../../protocol/views.ts";

export interface Asker {
  agent: string;
  /** Absent if the session is not known. */
  name?: string;
  project?: string;
}

export function describeAsker(agent: string, session: AskingSession | undefined): Asker {
  if (session === undefined) return { agent };
  return { agent, name: nameAsker(session), ...defined({ project: getProject(session) }) };
}

/** Name, title or start of the id. */
export function nameAsker({ name, title, session_id }: AskingSession): string {
  return name ?? title ?? session_id.slice(0, 8);
}

type Placed = Pick<AskingSession, "project" | "cwd" | "worktree">;

/** The repository's directory, or the working directory. */
export function getProjectPath({ project, cwd, worktree }: Placed): string | undefined {
  return project ?? worktree?.repository ?? cwd;
}

/** The name of that directory. */
export function getProject(session: Placed): string | undefined {
  return getProjectPath(session)
    ?.split(/[/\\]/)
    .filter((part) => part !== "")
    .at(-1);
}

export type { AskingSession };
