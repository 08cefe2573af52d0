// What an agent gets from the daemon besides its options: tools for managing other agents, and MCP servers. Clients choose
// servers by name; their programs, addresses and secrets are in the daemon's configuration, and secrets are read when an
// agent starts.
import type { Backend, Environment, GivenMcpServer, StartOrder, ToolSpec } from "../../backends/types.ts";
import { CodedError } from "../../base/coded-error.ts";
import type { SessionRow } from "../../protocol/session.ts";
import type { SpawnOrder } from "../manager-types.ts";

/** A table `[mcp.NAME]`. Values of `env` and `headers` may contain `${VARIABLE}` of the daemon's environment. */
export type McpConfig =
  | { command: string; args: readonly string[]; env: Readonly<Record<string, string>> }
  | { url: string; headers: Readonly<Record<string, string>> };

export type Wish = Pick<SessionRow, "mcp" | "manager">;

export type Given = Pick<StartOrder, "mcp" | "tools">;

export interface ExtrasParts {
  mcp: Readonly<Record<string, McpConfig>>;
  /** Of the daemon. */
  env: Environment;
  /** What a manager can call. */
  listTools(): readonly ToolSpec[];
}

export class Extras {
  readonly #parts: ExtrasParts;

  constructor(parts: ExtrasParts) {
    this.#parts = parts;
  }

  /** Throws `invalid_message` if a session of this backend cannot have them. */
  check(backend: Backend, { mcp = [], manager }: Pick<SpawnOrder, "mcp" | "manager">): void {
    const unknown = mcp.find((name) => !Object.hasOwn(this.#parts.mcp, name));
    if (unknown !== undefined) throw new CodedError("invalid_message", this.#explainUnknown(unknown));
    if (mcp.length > 0 && backend.extras?.mcp !== true)
      throw new CodedError("invalid_message", `body: /mcp: ${backend.name} takes no MCP servers`);
    if (manager === true && backend.extras?.tools !== true)
      throw new CodedError("invalid_message", `body: /manager: ${backend.name} takes no tools of the daemon`);
  }

  /** For a start. Throws `spawn_failed`. */
  give({ mcp = [], manager }: Wish): Given {
    return { ...this.#toTools(manager), ...toServers(mcp.map((name) => this.#resolve(name))) };
  }

  /** For an agent that runs already: without servers that can no longer be used. */
  giveKept({ mcp = [], manager }: Wish): Given {
    const usable = mcp.flatMap((name) => {
      try {
        return [this.#resolve(name)];
      } catch {
        return []; // it has been removed; a later start reports it
      }
    });
    return { ...this.#toTools(manager), ...toServers(usable) };
  }

  #toTools(manager: true | undefined): Pick<StartOrder, "tools"> {
    return manager === true ? { tools: this.#parts.listTools() } : {};
  }

  #resolve(name: string): GivenMcpServer {
    const config = Object.hasOwn(this.#parts.mcp, name) ? this.#parts.mcp[name] : undefined;
    if (config === undefined) throw new CodedError("spawn_failed", this.#explainUnknown(name));
    if ("url" in config) return { name, url: config.url, headers: this.#fill(name, config.headers) };
    const { command, args } = config;
    return { name, command, args: [...args], env: this.#fill(name, config.env) };
  }

  #fill(server: string, values: Readonly<Record<string, string>>): Record<string, string> {
    return Object.fromEntries(
      Object.entries(values).map(([key, value]) => [key, this.#expand(server, value)]),
    );
  }

  #expand(server: string, value: string): string {
    return value.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_all, name: string) => {
      const found = this.#parts.env[name];
      if (found !== undefined) return found;
      const why = `[mcp.${server}] needs the variable ${name}, which the daemon's environment lacks`;
      throw new CodedError("spawn_failed", `${why}; set it and restart the daemon`);
    });
  }

  #explainUnknown(name: string): string {
    const known = Object.keys(this.#parts.mcp);
    const list = known.length === 0 ? "none is configured" : `configured: ${known.join(", ")}`;
    return `no MCP server "${name}" (${list}); add a table [mcp.${name}] to the daemon's config file`;
  }
}

function toServers(servers: readonly GivenMcpServer[]): Pick<StartOrder, "mcp"> {
  return servers.length === 0 ? {} : { mcp: servers };
}
