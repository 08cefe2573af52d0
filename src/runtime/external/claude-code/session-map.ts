// Which session of Claude Code goes on with which of ours. A private file per workspace, so that a session that is
// resumed in another process finds Claude Code's as well. Losing it costs a memory, never a message.
import { join } from "node:path";
import * as z from "zod";
import { StateJson } from "../../state-json.ts";
import { keyText, type SessionKey } from "./session-key.ts";

const Entry = z.strictObject({
  rootSessionId: z.string(),
  agent: z.string(),
  profile: z.string(),
  cwd: z.string(),
  model: z.string(),
  instructions: z.string(),
  permissions: z.string(),
  /** Claude Code's own. It becomes an argument: nothing but such an id. */
  claudeSessionId: z.uuid(),
  /** Another agent asked. */
  isSubagent: z.boolean(),
  atMs: z.number(),
});
const MapFile = z.strictObject({ version: z.literal(1), sessions: z.array(Entry) });
export type SessionEntry = z.infer<typeof Entry>;

const MAX_SESSIONS = 500;
const FILE = "claude-code-sessions.json";

export interface SessionMapOrder {
  /** Of the workspace; it may not exist yet. */
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
      loss: "Claude Code begins anew where it was to go on",
      warn,
    });
  }

  /** Those of one root session, the one used last in front. Never rejects. */
  async list(rootSessionId: string): Promise<SessionEntry[]> {
    const { sessions } = await this.#file.read();
    return sessions.filter((entry) => entry.rootSessionId === rootSessionId).reverse();
  }

  /** Never rejects: what cannot be kept is told. */
  async remember(
    key: SessionKey,
    session: Pick<SessionEntry, "claudeSessionId" | "isSubagent">,
  ): Promise<void> {
    const entry = { ...key, ...session, atMs: this.#now() };
    await this.#change((sessions) => [...without(sessions, key), entry]);
  }

  /** Never rejects. */
  async forget(key: SessionKey): Promise<void> {
    await this.#change((sessions) => without(sessions, key));
  }

  /** The order is that of their use: the oldest go first. */
  async #change(change: (sessions: SessionEntry[]) => SessionEntry[]): Promise<void> {
    await this.#file.change(({ version, sessions }) => ({
      version,
      sessions: change(sessions).slice(-MAX_SESSIONS),
    }));
  }
}

function without(sessions: readonly SessionEntry[], key: SessionKey): SessionEntry[] {
  const text = keyText(key);
  return sessions.filter((entry) => keyText(entry) !== text);
}
