// Settings: flag > environment > file > default, validated; unknown keys are reported.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type ConfigSources, loadConfig } from "../../src/daemon/config.ts";
import { parseFlags } from "../../src/daemon/flags.ts";

const ROOM = mkdtempSync(join(tmpdir(), "blemees-config-"));
afterAll(() => rmSync(ROOM, { recursive: true }));

function sources(toml: string, over: Partial<ConfigSources> = {}): ConfigSources {
  const home = mkdtempSync(join(ROOM, "home-"));
  mkdirSync(join(home, ".config/blemeesd"), { recursive: true });
  writeFileSync(join(home, ".config/blemeesd/config.toml"), toml);
  const { env, ...rest } = over;
  return { flags: {}, env: { HOME: home, XDG_RUNTIME_DIR: home, ...env }, ...rest };
}

const FILE = `
log_level = "error"
store = "memory"
idle_timeout_s = 5
max_line_bytes = 4096
`;

describe("precedence", () => {
  test("without settings the documented defaults apply", () => {
    const { config, warnings } = loadConfig(sources(""));
    expect(warnings).toEqual([]);
    expect(config).toMatchObject({
      claude_bin: "claude",
      store: "sqlite",
      max_line_bytes: 16_777_216,
      idle_timeout_s: 900,
      shutdown_grace_s: 30,
      session_retention_days: 90,
      retention_total_bytes: 10_737_418_240,
      max_sessions_per_connection: 32,
      max_concurrent_sessions: 64,
      stderr_rate_lines: 50,
      stderr_rate_window_s: 10,
      ring_buffer_size: 1024,
    });
    expect(config.log_level).toBeUndefined();
    expect(config.event_log_dir).toBeUndefined();
  });

  test("the file overrides the default, the environment the file, the flag everything", () => {
    expect(loadConfig(sources(FILE)).config).toMatchObject({
      log_level: "error",
      store: "memory",
      idle_timeout_s: 5,
    });
    const env = { BLEMEESD_LOG_LEVEL: "warn", BLEMEESD_IDLE_TIMEOUT: "7" };
    expect(loadConfig(sources(FILE, { env })).config).toMatchObject({
      log_level: "warn",
      idle_timeout_s: 7,
      max_line_bytes: 4096,
    });
    const { values: flags } = parseFlags(["--log-level", "debug", "--store=sqlite"]);
    expect(loadConfig(sources(FILE, { env, flags })).config).toMatchObject({
      log_level: "debug",
      store: "sqlite",
      idle_timeout_s: 7,
    });
  });

  test("an empty variable counts as unset", () => {
    expect(loadConfig(sources(FILE, { env: { BLEMEESD_LOG_LEVEL: "" } })).config.log_level).toBe("error");
  });

  test("--config names another file, which must exist", () => {
    const file = join(mkdtempSync(join(ROOM, "home-")), "other.toml");
    writeFileSync(file, 'claude_bin = "/opt/claude"\n');
    expect(loadConfig(sources(FILE, { file })).config).toMatchObject({
      claude_bin: "/opt/claude",
      store: "sqlite",
    });
    expect(() => loadConfig(sources(FILE, { file: `${file}.missing` }))).toThrow(
      "cannot read the config file",
    );
  });

  test("XDG_CONFIG_HOME and XDG_STATE_HOME are respected", () => {
    const home = mkdtempSync(join(ROOM, "home-"));
    mkdirSync(join(home, "c/blemeesd"), { recursive: true });
    writeFileSync(join(home, "c/blemeesd/config.toml"), "ring_buffer_size = 9\n");
    const env = { HOME: home, XDG_CONFIG_HOME: join(home, "c"), XDG_STATE_HOME: "/s", XDG_RUNTIME_DIR: "/r" };
    expect(loadConfig({ flags: {}, env }).config).toMatchObject({
      ring_buffer_size: 9,
      state_dir: "/s/blemees",
      socket_path: "/r/blemeesd.sock",
    });
  });
});

describe("checks", () => {
  test("an unknown key is reported with the nearest known one, and the rest applies", () => {
    const { config, warnings } = loadConfig(
      sources('idle_timeuot_s = 3\nfrobnicate = 1\nstore = "memory"\n'),
    );
    expect(config.store).toBe("memory");
    expect(warnings).toEqual([
      expect.stringMatching(/unknown key "idle_timeuot_s"; did you mean "idle_timeout_s"\?$/),
      expect.stringMatching(/unknown key "frobnicate"$/),
    ]);
  });

  test.each([
    ['log_level = "loud"', /log_level in the config file: /],
    ["max_line_bytes = 0", /max_line_bytes in the config file: /],
    ["ring_buffer_size = 1.5", /ring_buffer_size in the config file: /],
    ["retention_total_bytes = -1", /retention_total_bytes in the config file: must be 0 or more, not -1$/],
    [
      'retention_total_bytes = "10 GB"',
      /retention_total_bytes in the config file: expected number, not "10 GB"/,
    ],
    [
      "session_retention_days = 1.5",
      /session_retention_days in the config file: expected a whole number, not 1\.5$/,
    ],
    ['stall_s = "soon"', /stall_s in the config file: expected number, not "soon"/],
    ["idle_timeout_s = -1", /idle_timeout_s in the config file: /],
    ['store = "disk"', /store in the config file: /],
    ["socket_path = 5", /socket_path in the config file: /],
  ])("%s is refused with its location", (toml, message) => {
    expect(() => loadConfig(sources(toml))).toThrow(message);
  });
});
