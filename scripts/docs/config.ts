// docs/config.md, from the daemon's table of settings.
import { AGENT_KEYS, type AgentKey, type AgentKeyName } from "../../src/daemon/agent-keys.ts";
import { RESERVED_NAMES } from "../../src/daemon/agents.ts";
import { CONFIG_KEYS, type ConfigKey, type ConfigName, defaultText } from "../../src/daemon/config-keys.ts";
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

export function configPage(): string {
  const rows = (Object.keys(CONFIG_KEYS) as ConfigName[]).map((name) => {
    const key: ConfigKey = CONFIG_KEYS[name];
    const flag = key.flag === undefined ? "" : code(`--${key.flag}`);
    return [code(name), flag, code(key.env), defaultText(name), key.meaning];
  });
  const agentRows = (Object.keys(AGENT_KEYS) as AgentKeyName[]).map((name) => {
    const key: AgentKey = AGENT_KEYS[name];
    return [code(name), key.defaultText, key.meaning];
  });
  return page("Configuration of blemeesd", "src/daemon/config-keys.ts", [
    "A flag wins over an environment variable, that over the config file, that over the default. An empty environment variable counts as unset.",
    "The file is TOML: `$XDG_CONFIG_HOME/blemeesd/config.toml`, or `~/.config/blemeesd/config.toml`; `--config FILE` names another one, which must exist. A key that is not in this table is ignored with a warning in the log (`config.warning`). A bad value ends the start with exit code 2.",
    table(["key", "flag", "environment", "default", "meaning"], rows),
    "Example:",
    '```toml\nclaude_bin = "/opt/claude/bin/claude"\nsession_retention_days = 30\nmax_concurrent_sessions = 16\n```',
    "## Agents that speak ACP",
    `Every program that speaks the [Agent Client Protocol](https://agentclientprotocol.com) on its standard input and output becomes a backend with a table \`[agents.NAME]\` in the file; \`NAME\` is then the \`backend\` of a session, and \`options.NAME\` its options (those of [\`options.demian\`](../schemas/blemees-2/options.demian.json), but for \`agent_mode\`). \`demian\` is built in. A name has letters, digits, \`.\`, \`_\` and \`-\`; ${RESERVED_NAMES.map((name) => code(name)).join(", ")} are taken. An unknown key or a bad value in such a table ends the start with exit code 2.`,
    table(["key", "default", "meaning"], agentRows),
    AGENT_EXAMPLES,
    "An agent asks for what its own settings say. Codex decides by a model of its own unless `INITIAL_AGENT_MODE` says otherwise; OpenCode asks nothing without `permission` in its config. How its events are translated: [agent-events.md](agent-events.md#acp).",
    "## The socket",
    "Without `socket_path` the socket is `$BLEMEESD_SOCKET`, else `$BLEMEES_SOCKET`, else `$XDG_RUNTIME_DIR/blemeesd.sock`, else `/tmp/blemeesd-<uid>/blemeesd.sock`. The client library and `blemeesctl` look in the same places. See [security.md](security.md#the-socket).",
  ]);
}
