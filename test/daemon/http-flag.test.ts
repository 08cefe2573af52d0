// `--http [port]`: a flag with an optional value, and how the user sees it.
import { expect, test } from "vitest";
import { formatBanner } from "../../src/daemon/banner.ts";
import { loadConfig } from "../../src/daemon/config.ts";
import { formatHelp, parseFlags } from "../../src/daemon/flags.ts";

const env = { HOME: "/nowhere", XDG_RUNTIME_DIR: "/nowhere" };
const portOf = (argv: string[], more: Record<string, string> = {}) =>
  loadConfig({ flags: parseFlags(argv).values, env: { ...env, ...more } }).config.http_port;

test("without it there is no port", () => {
  expect(portOf([])).toBeUndefined();
});

test.each<[string[], number]>([
  [["--http"], 7433],
  [["--http", "8080"], 8080],
  [["--http=8080"], 8080],
  [["--http", "0"], 0],
  [["--http", "--log-level", "debug"], 7433],
  [["--log-level", "debug", "--http"], 7433],
])("%j is port %d", (argv, port) => {
  expect(portOf(argv)).toBe(port);
});

test("the environment sets it too, and the flag overrides it", () => {
  expect(portOf([], { BLEMEESD_HTTP: "9000" })).toBe(9000);
  expect(portOf(["--http"], { BLEMEESD_HTTP: "9000" })).toBe(7433);
});

test.each([["--http", "abc"], ["--http=70000"], ["--http=1.5"]])("%s %s is refused", (...argv) => {
  expect(() => portOf(argv.filter((arg) => arg !== undefined))).toThrow(/--http/);
});

test("another flag still needs its value", () => {
  expect(() => parseFlags(["--socket"])).toThrow(/socket/);
});

test("the help shows defaults with their unit", () => {
  for (const text of ["[30 s]", "[90 days]", "[16777216 (16 MiB)]", "[10737418240 (10 GiB)]", "[1024]"]) {
    expect(formatHelp()).toContain(text);
  }
});

test("the help shows that the value is optional", () => {
  expect(formatHelp()).toMatch(/--http \[VALUE\] /);
  expect(formatHelp()).toMatch(/--socket VALUE /);
});

test("the banner has the address and the file of the token, or no line at all", () => {
  const { config } = loadConfig({ flags: {}, env });
  const text = formatBanner(config, "1", { demo: "1" }, { port: 7433, tokenFile: "/s/http-token" });
  expect(text).toContain("http://127.0.0.1:7433, the token is in /s/http-token\n");
  expect(formatBanner(config, "1", { demo: "1" })).not.toContain("http://127");
});

test("the banner names agents without a version by name only, and the configured ones that are missing", () => {
  const { config } = loadConfig({ flags: {}, env });
  const agent = { args: [], env: {}, process: "per-session", config: {}, stall_s: 60, start_s: 30 } as const;
  const agents = {
    opencode: { ...agent, command: "opencode" },
    ghost: { ...agent, command: "ghost-cli" },
    lost: { ...agent, command: "/opt/lost" },
  };
  const found = { demian: "1.0", opencode: "present" };
  const lines = formatBanner({ ...config, agents } as unknown as typeof config, "1", found).split("\n");
  expect(lines).toContain("  agents    demian 1.0, opencode");
  expect(lines.filter((line) => line.includes("was not found")).map((line) => line.trim())).toEqual([
    "ghost was not found: ghost-cli is not on the daemon's PATH",
    "lost was not found: /opt/lost is not an executable file",
  ]);
});
