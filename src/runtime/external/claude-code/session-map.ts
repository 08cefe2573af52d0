// Maps our sessions to Claude Code's. Stored in a private file per workspace, so that a session that is resumed in another
// process finds Claude Code's too. Losing the file loses context, never a message.
import { join } from "node:path";
import * as z from "zod";
import { StateJson } from "../../state-json.ts";
import { hashKey, type SessionKey } from "./session-key.ts";

const Entry = z.strictObject({
  rootSessionId: z.string(),
  agent: z.string(),
  profile: z.string(),
  cwd: z.string(),
  model: z.string(),
  instructions: z.string(),
  permissions: z.string(),
  /** Claude Code's own id. A UUID, because it becomes a command-line argument. */
  claudeSessionId: z.uuid(),
  /** Used by a sub-agent. */
  isSubagent: z.boolean(),
  atMs: z.number(),
});
const MapFile = z.strictObject({ version: z.literal(1), sessions: z.array(Entry) });
export type SessionEntry = z.infer<typeof Entry>;

const MAX_SESSIONS = 500;
const FILE = "claude-code-sessions.json";

export interface SessionMapOrder {
  /** The workspace's; it may not exist yet. */
  directory: string;
  warn(message: string): void;
  now?(): number;
}

export class SessionMap {
  readonly #now: () => number;
  readonly #file: StateJson<z.infer<typeof MapFile>>;

  constructor({ directory, warn, now = Date.now }: SessionMapOrder) {
    this.#now = now;
    this.#file = new StateJson({
      path: join(directory, FILE),
      schema: MapFile,
      empty: { version: 1, sessions: [] },
      loss: "Claude Code starts new sessions instead of resuming",
      warn,
    });
  }

  /** The entries of one root session, most recently used first. Never rejects. */
  async list(rootSessionId: string): Promise<SessionEntry[]> {
    const { sessions } = await this.#file.read();
    return sessions.filter((entry) => entry.rootSessionId === rootSessionId).reverse();
  }

  /** Never rejects: a failure to store is a warning. */
  async remember(
    key: SessionKey,
    session: Pick<SessionEntry, "claudeSessionId" | "isSubagent">,
  ): Promise<void> {
    const entry = { ...key, ...session, atMs: this.#now() };
    await this.#change((sessions) => [...removeKey(sessions, key), entry]);
  }

  /** Never rejects. */
  async forget(key: SessionKey): Promise<void> {
    await this.#change((sessions) => removeKey(sessions, key));
  }

  /** Entries are in order of use; the oldest are dropped first. */
  async #change(change: (sessions: SessionEntry[]) => SessionEntry[]): Promise<void> {
    await this.#file.change(({ version, sessions }) => ({
      version,
      sessions: change(sessions).slice(-MAX_SESSIONS),
    }));
  }
}

function removeKey(sessions: readonly SessionEntry[], key: SessionKey): SessionEntry[] {
  const text = hashKey(key);
  return sessions.filter((entry) => hashKey(entry) !== text);
}
