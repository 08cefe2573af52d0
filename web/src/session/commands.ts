// The agent's own commands, for completion after `/`. Read when they are needed, and kept for a moment.
import type { SettingsReply } from "../../../src/client/http/types.ts";
import type { AgentCommand } from "../../../src/client/view/completion.ts";

const KEPT_MS = 30_000;

export class AgentCommands {
  readonly #read: (session_id: string) => Promise<Pick<SettingsReply, "commands">>;
  readonly #now: () => number;
  #kept: { session_id: string; atMs: number; commands: Promise<AgentCommand[]> } | undefined;

  constructor(read: (session_id: string) => Promise<Pick<SettingsReply, "commands">>, now = Date.now) {
    this.#read = read;
    this.#now = now;
  }

  list(session_id: string): Promise<AgentCommand[]> {
    const kept = this.#kept;
    const nowMs = this.#now();
    if (kept?.session_id === session_id && nowMs - kept.atMs < KEPT_MS) return kept.commands;
    const commands = this.#load(session_id);
    this.#kept = { session_id, atMs: nowMs, commands };
    // A failure is shown once, and tried again with the next key.
    commands.catch(() => {
      if (this.#kept?.commands === commands) this.#kept = undefined;
    });
    return commands;
  }

  async #load(session_id: string): Promise<AgentCommand[]> {
    const { commands = [] } = await this.#read(session_id);
    return commands.map(({ name, description, hint }) => {
      const summary = description ?? hint;
      return { name: `/${name}`, ...(summary === undefined ? {} : { summary }) };
    });
  }
}
