// docs/config.md, from the daemon's table of settings.
import { AGENT_KEYS } from "../../src/daemon/agent-keys.ts";
import { RESERVED_NAMES } from "../../src/daemon/agents.ts";
import { CONFIG_KEYS, type ConfigKey, type ConfigName, formatDefault } from "../../src/daemon/config-keys.ts";
import { MCP_KEYS } from "../../src/daemon/mcp-servers.ts";
import type { TableKey } from "../../src/daemon/named-tables.ts";
import { code, page, table } from "./markdown.ts";

const AGENT_EXAMPLES = `\`\`\`toml
[agents.opencode]
command = "opencode"
args = ["acp"]

[agents.gemini]
command = "gemini"
args = ["--acp"]
mode = "default"

[agents.codex-acp]
command = "codex-acp"
env = { INITIAL_AGENT_MODE = "workspace-write", NO_BROWSER = "1" }
cwd_within = ["/home/me/src"]
\`\`\``;

const MCP_EXAMPLES = `\`\`\`toml
[mcp.docs]
command = "docs-mcp"
args = ["--root", "/home/me/docs"]

[mcp.tracker]
url = "https://tracker.example/mcp"
headers = { Authorization = "Bearer \${TRACKER_TOKEN}" }
\`\`\``;

export function configPage(): string {
  const rows = (Object.keys(CONFIG_KEYS) as ConfigName[]).map((name) => {
    const key: ConfigKey = CONFIG_KEYS[name];
    const flag = key.flag === undefined ? "" : code(`--${key.flag}`);
    return [code(name), flag, code(key.env), formatDefault(name), key.meaning];
  });
  return page("Configuration of blemeesd", "src/daemon/config-keys.ts", [
    "Precedence: flag, environment variable, config file, default. An empty environment variable counts as unset.",
    "The file is TOML: `$XDG_CONFIG_HOME/blemeesd/config.toml`, or `~/.config/blemeesd/config.toml`; `--config FILE` selects another one, which must exist. Unknown keys are ignored with a warning in the log (`config.warning`). With an invalid value the daemon exits with code 2.",
    table(["key", "flag", "environment", "default", "meaning"], rows),
    [
      "- `http_port`: the token is in `http-token` in the state directory. The Unix socket always serves HTTP.",
      "- `web`: without it, `sm web` opens the port on demand.",
      "- `idle_timeout_s`: a session that waits for an answer or has work in the background (commands, sub-agents) is not idle. A turn still running this long after its owner left is ended, with a notice.",
      "- `retention_total_bytes`: events of a running turn, or since a pending request, are never removed.",
    ].join("\n"),
    "Example:",
    '```toml\nclaude_bin = "/opt/claude/bin/claude"\nsession_retention_days = 30\nmax_concurrent_sessions = 16\n```',
    "## Agents that speak ACP",
    `Any program that speaks the [Agent Client Protocol](https://agentclientprotocol.com) on its standard input and output becomes a backend with a table \`[agents.NAME]\` in the file; \`NAME\` is then the \`backend\` of a session, and \`options.NAME\` its options (those of [\`options.demian\`](../schemas/blemees-2/options.demian.json), except \`agent_mode\`). \`demian\` is built in. A name may contain letters, digits, \`.\`, \`_\` and \`-\`; ${RESERVED_NAMES.map((name) => code(name)).join(", ")} are reserved. With an unknown key or an invalid value in such a table, the daemon exits with code 2.`,
    tableOfKeys(AGENT_KEYS),
    AGENT_EXAMPLES,
    "What an agent asks for depends on its own settings. Codex uses its own reviewer model unless `INITIAL_AGENT_MODE` is set; OpenCode asks nothing without `permission` in its config. How its events are translated: [agent-events.md](agent-events.md#acp).",
    "## MCP servers",
    "Tables `[mcp.NAME]` describe MCP servers for agents. A session gets those that it is spawned with (`sm spawn --mcp NAME,…`, `mcp` in `POST /sessions`), besides the ones in the agent's own configuration; clients cannot name programs. Each table has either `command` or `url`. A name has at most 40 characters of `[A-Za-z0-9_-]`. With an unknown key or an invalid value, the daemon exits with code 2. What they may do: [security.md](security.md#mcp-servers).",
    tableOfKeys(MCP_KEYS),
    MCP_EXAMPLES,
    "## Prices",
    "For agents that report no cost: USD per million tokens, by backend or by backend and model. `cached_input` is for input that was read from the cache; without it, that costs as other input. A cost that the agent reports counts instead. With an unknown backend or an invalid value, the daemon exits with code 2.",
    '```toml\n[prices.codex]\ninput = 1.25\ncached_input = 0.125\noutput = 10\n\n[prices."opencode/fast-1"]\ninput = 0.2\noutput = 0.8\n```',
    "## The socket",
    "Without `socket_path` the socket is `$BLEMEESD_SOCKET`, else `$BLEMEES_SOCKET`, else `$XDG_RUNTIME_DIR/blemeesd.sock`, else `/tmp/blemeesd-<uid>/blemeesd.sock`. The client library and `blemees` look in the same places. See [security.md](security.md#the-socket).",
  ]);
}

function tableOfKeys(keys: Readonly<Record<string, TableKey>>): string {
  const rows = Object.entries(keys).map(([name, key]) => [code(name), key.defaultText, key.meaning]);
  return table(["key", "default", "meaning"], rows);
}
