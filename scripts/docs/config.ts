// docs/config.md, from the daemon's table of settings.
import { CONFIG_KEYS, type ConfigKey, type ConfigName, defaultText } from "../../src/daemon/config-keys.ts";
import { code, page, table } from "./markdown.ts";

export function configPage(): string {
  const rows = (Object.keys(CONFIG_KEYS) as ConfigName[]).map((name) => {
    const key: ConfigKey = CONFIG_KEYS[name];
    const flag = key.flag === undefined ? "" : code(`--${key.flag}`);
    return [code(name), flag, code(key.env), defaultText(name), key.meaning];
  });
  return page("Configuration of blemeesd", "src/daemon/config-keys.ts", [
    "A flag wins over an environment variable, that over the config file, that over the default. An empty environment variable counts as unset.",
    "The file is TOML: `$XDG_CONFIG_HOME/blemeesd/config.toml`, or `~/.config/blemeesd/config.toml`; `--config FILE` names another one, which must exist. A key that is not in this table is ignored with a warning in the log (`config.warning`). A bad value ends the start with exit code 2.",
    table(["key", "flag", "environment", "default", "meaning"], rows),
    "Example:",
    '```toml\nclaude_bin = "/opt/claude/bin/claude"\nsession_retention_days = 30\nmax_concurrent_sessions = 16\n```',
    "Without `socket_path` the socket is `$BLEMEESD_SOCKET`, else `$BLEMEES_SOCKET`, else `$XDG_RUNTIME_DIR/blemeesd.sock`, else `/tmp/blemeesd-<uid>/blemeesd.sock`. The client library and `blemeesctl` look in the same places. See [security.md](security.md#the-socket).",
  ]);
}
