// blemeesd as a command: flags, help, exit codes, and the errors at start.
import { chownSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import { CONFIG_KEYS, type ConfigKey } from "../../src/daemon/config-keys.ts";
import { until } from "../servers/socket/talk.ts";
import { startDaemon } from "../support/daemon.ts";
import { PATIENT } from "../support/patience.ts";
import { RawClient } from "../support/raw-client.ts";
import { ROOT } from "../support/root.ts";
import { envOf, launch, newHome, PROGRAM, removeHomes, run } from "./program.ts";

const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const isRoot = process.getuid?.() === 0;

afterAll(removeHomes);

describe("the command line", () => {
  test("--version prints the name and the version, and nothing starts", () => {
    const home = newHome();
    expect(run(["--version"], home)).toEqual({ status: 0, stdout: `blemeesd ${version}\n`, stderr: "" });
    expect(existsSync(join(home, "run/blemeesd.sock"))).toBe(false);
  });

  test("--help begins with usage and examples and names every setting", () => {
    const { status, stdout, stderr } = run(["--help"]);
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^Usage: blemeesd \[options\]\n[\s\S]*\nExamples:\n {2}blemeesd --/);
    for (const key of Object.values(CONFIG_KEYS) as ConfigKey[]) {
      expect(stdout).toContain(key.flag === undefined ? key.env : `--${key.flag}`);
    }
  });

  test("-h is --help", () => {
    expect(run(["-h"]).stdout).toBe(run(["--help"]).stdout);
  });

  test.each([
    [
      ["--sokcet", "/tmp/x"],
      /^blemeesd: unknown option --sokcet; did you mean --socket\? \(see blemeesd --help\)\n$/,
    ],
    [["--log-levle=debug"], /did you mean --log-level\?/],
    [["--frobnicate"], /^blemeesd: unknown option --frobnicate \(see blemeesd --help\)\n$/],
    [["--socket"], /^blemeesd: .*--socket.*\(see blemeesd --help\)\n$/],
    [["extra"], /^blemeesd: .*extra/],
    [["--takeover=now"], /^blemeesd: .*--takeover.*\(see blemeesd --help\)\n$/],
    [["--takeovr"], /did you mean --takeover\?/],
    [["--leave-agents", "maybe"], /^blemeesd: --leave-agents: /],
    [["--log-level", "loud"], /^blemeesd: --log-level: .*debug/],
    [["--store", "disk"], /^blemeesd: --store: .*sqlite/],
    [["--config", "/no/such/file.toml"], /^blemeesd: cannot read the config file \/no\/such\/file\.toml/],
  ])("%j is a usage error: exit 2 and a one-line message", (args, message) => {
    const { status, stdout, stderr } = run(args);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(message);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });

  test.each([
    [{ BLEMEESD_MAX_LINE: "many" }, /BLEMEESD_MAX_LINE/],
    [{ BLEMEESD_IDLE_TIMEOUT: "-1" }, /BLEMEESD_IDLE_TIMEOUT/],
  ])("%j names the variable", (env, message) => {
    const { status, stderr } = run([], newHome(), env);
    expect(status).toBe(2);
    expect(stderr).toMatch(message);
  });

  test("a config file that is not TOML is a usage error that names it", () => {
    const home = newHome();
    const file = join(home, "config/blemeesd/config.toml");
    writeFileSync(file, "log_level = \n");
    const { status, stderr } = run([], home);
    expect(status).toBe(2);
    expect(stderr).toContain(`${file} is not valid TOML`);
  });
});

describe("the socket", () => {
  test("is 0600 whatever the umask, in a directory that is created if missing", async () => {
    const home = newHome();
    const path = join(home, "deep/er/blemeesd.sock");
    let log = "";
    const command = `umask 000; exec "${process.execPath}" "${PROGRAM}" --socket "${path}"`;
    const child = launch("sh", ["-c", command], envOf(home), (text) => {
      log += text;
    });
    const exited = new Promise((resolve) => child.once("exit", resolve));
    await until(
      async () => log,
      (text) => text.includes("daemon.start") || child.exitCode !== null,
    );
    expect(statSync(path).mode & 0o777, log).toBe(0o600);
    child.kill("SIGTERM");
    await exited;
    expect(existsSync(path)).toBe(false);
  });

  test("of a killed daemon is replaced", async () => {
    const first = await startDaemon();
    await first.kill("SIGKILL");
    expect(existsSync(first.socket)).toBe(true);
    const second = await startDaemon({ home: first.home });
    expect(second.log()).toContain("daemon.removed_stale_socket");
    await second.connect();
    await second.close();
  });

  test("of a live daemon is left alone: exit 1, and the first one continues", async () => {
    const first = await startDaemon();
    try {
      const { status, stderr } = run([], first.home);
      expect(status).toBe(1);
      expect(stderr).toContain(`another blemeesd is running on ${first.socket}`);
      const client = await first.connect();
      expect((await client.request({ type: "blemeesd.ping" } as { id?: string })).type).toBe("blemeesd.pong");
    } finally {
      await first.close();
    }
  });

  test.each(["a file", "a directory"])(
    "a path that is %s is refused with exit 1 and left unchanged",
    (kind) => {
      const home = newHome();
      const path = join(home, "run/blemeesd.sock");
      if (kind === "a file") writeFileSync(path, "precious");
      else mkdirSync(path);
      const { status, stderr } = run([], home);
      expect(status).toBe(1);
      expect(stderr).toContain(`${path} exists and is not a socket`);
      expect(existsSync(path)).toBe(true);
      if (kind === "a file") expect(readFileSync(path, "utf8")).toBe("precious");
    },
  );

  test.runIf(isRoot)("that belongs to another user is refused with exit 1 and left unchanged", async () => {
    const home = newHome();
    const path = join(home, "run/blemeesd.sock");
    const server = createServer();
    await new Promise<void>((resolve) => void server.listen(path, resolve));
    chownSync(path, 12_345, 12_345);
    const { status, stderr } = run([], home);
    expect(status).toBe(1);
    expect(stderr).toMatch(/belongs to another user|another blemeesd is running/);
    expect(existsSync(path)).toBe(true);
    server.close();
  });

  test("with a path longer than the kernel allows is refused, not truncated", () => {
    const home = newHome();
    const path = join(home, "run", `${"x".repeat(120)}.sock`);
    const { status, stderr } = run(["--socket", path], home);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^blemeesd: .*(long|bytes)/m);
  });

  test("is found by --socket, then BLEMEESD_SOCKET, then XDG_RUNTIME_DIR", async () => {
    const home = newHome();
    const [flag, variable] = [join(home, "flag.sock"), join(home, "env.sock")];
    const daemon = await startDaemon({
      home,
      args: ["--socket", variable],
      env: { BLEMEESD_SOCKET: variable },
    });
    expect(daemon.socket).toBe(variable);
    await daemon.kill("SIGTERM");
    let log = "";
    const env = envOf(home, { BLEMEESD_SOCKET: variable });
    const child = launch(process.execPath, [PROGRAM, "--socket", flag], env, (text) => {
      log += text;
    });
    const exited = new Promise((resolve) => child.once("exit", resolve));
    // The file exists a moment before the daemon listens on it.
    (await vi.waitFor(() => RawClient.connect(flag), PATIENT)).close();
    expect(existsSync(variable), log).toBe(false);
    child.kill("SIGTERM");
    await exited;
    rmSync(home, { recursive: true });
  });
});

test("a state directory that cannot be written is exit 1 with a reason", () => {
  const home = newHome();
  writeFileSync(join(home, "state/blemees"), "a file, not a directory");
  const { status, stderr } = run([], home);
  expect(status).toBe(1);
  expect(stderr).toMatch(/^blemeesd: .*state\/blemees/m);
});
