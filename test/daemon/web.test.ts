// What the user at the terminal sees of the dashboard when the daemon starts, and that no one else sees it.
import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { formatBanner, type HttpAddress } from "../../src/daemon/banner.ts";
import { loadConfig } from "../../src/daemon/config.ts";
import { parseFlags } from "../../src/daemon/flags.ts";
import { eventually } from "../servers/http/world.ts";
import { startDaemon } from "../support/daemon.ts";
import { envOf, newHome, PROGRAM, removeHomes } from "./program.ts";

const env = { HOME: "/nowhere", XDG_RUNTIME_DIR: "/nowhere" };
const { config } = loadConfig({ flags: {}, env });
const link = "http://127.0.0.1:7433/#token=abc";
const banner = (http?: Partial<HttpAddress>, found: Record<string, string> = { demo: "1" }): string =>
  formatBanner(config, "1", found, http === undefined ? undefined : { port: 7433, tokenFile: "/t", ...http });

afterEach(() => {
  vi.unstubAllEnvs();
  removeHomes();
});

test("the banner shows the first step: open the link, press the button", () => {
  vi.stubEnv("SSH_CONNECTION", undefined);
  expect(banner({ link })).toContain(
    [
      "Open this link in your browser:",
      `  ${link}`,
      'Press "Try the demo" to see an agent ask for approval, or "New" and type: approve.',
    ].join("\n"),
  );
  expect(banner({ link })).toMatch(
    /works once, within 10 minutes\. For another one: npx blemees .*web\n\nOr, in another/,
  );
  expect(banner({ link }, { claude: "2" })).toContain('Press "New" to start an agent');
  expect(banner({ link })).not.toContain("ssh -L");
});

test("over ssh it shows how to forward the port", () => {
  vi.stubEnv("SSH_CONNECTION", "1 2 3 4");
  expect(banner({ link })).toContain("ssh -L 7433:127.0.0.1:7433 ");
});

test("without a port it shows the command for a link; without the files it shows the reason", () => {
  expect(banner()).not.toContain("#token");
  expect(banner()).toMatch(/Try, in another terminal:.*npx blemees .*web +the dashboard/s);
  expect(banner({ noLink: "the files are missing" })).toContain("No dashboard: the files are missing\n");
});

test("--web takes no value, in the environment or in the file, and leaves a chosen port unchanged", () => {
  const of = (argv: string[], more = {}) =>
    loadConfig({ flags: parseFlags(argv).values, env: { ...env, ...more } }).config;
  expect(of([]).web).toBe(false);
  expect(of(["--web"])).toMatchObject({ web: true, http_port: undefined });
  expect(of(["--web", "--http", "9000"])).toMatchObject({ web: true, http_port: 9000 });
  expect(of(["--web"], { BLEMEESD_HTTP: "9001" })).toMatchObject({ web: true, http_port: 9001 });
  expect(of([], { BLEMEESD_WEB: "1" }).web).toBe(true);
});

const hasScript = spawnSync("script", ["--version"]).status === 0;
test.skipIf(process.platform !== "linux" || !hasScript)(
  "starting a second one at a terminal prints one sentence: how to see the first one",
  async () => {
    const first = await startDaemon();
    const line = `exec "${process.execPath}" "${PROGRAM}"`;
    const { stdout } = spawnSync("script", ["-qfec", line, "/dev/null"], {
      env: envOf(first.home),
      encoding: "utf8",
      timeout: 45_000,
    });
    await first.close();
    expect(stdout).toMatch(
      /^blemeesd: another blemeesd is running on \S+: open its dashboard with `sm web`.*\r\n$/,
    );
  },
);

test.skipIf(process.platform !== "linux" || !hasScript)(
  "on a terminal the real program shows a link that works, and its log does not contain it",
  async () => {
    const home = newHome();
    const log = join(home, "daemon.log");
    const line = `exec "${process.execPath}" "${PROGRAM}" --http 0 --log-level debug --log-file "${log}"`;
    const child = spawn("script", ["-qfec", line, "/dev/null"], {
      env: envOf(home),
      stdio: ["ignore", "pipe", "ignore"],
    });
    let screen = "";
    child.stdout.on("data", (chunk: Buffer) => {
      screen += chunk.toString();
    });
    const exited = new Promise((resolve) => child.once("exit", resolve));
    try {
      await eventually(() => screen.includes("Press Ctrl-C to stop")).toBe(true);
      const [shown = "", port = "", ticket = ""] =
        /http:\/\/127\.0\.0\.1:(\d+)\/#token=([\w-]{43})/.exec(screen) ?? [];
      expect(shown).not.toBe("");
      const headers = { authorization: `Bearer ${ticket}`, "content-type": "application/json" };
      const entered = await fetch(`http://127.0.0.1:${port}/web/enter`, { method: "POST", headers });
      expect(entered.status).toBe(200);
      await eventually(() => readFileSync(log, "utf8").includes("web.enter")).toBe(true);
      expect(readFileSync(log, "utf8")).not.toContain(ticket);
    } finally {
      child.kill("SIGTERM");
      await exited;
    }
  },
);
