// sm web: the link on stdout, instructions on stderr, and a browser that gets it without exposing it to others.
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findBrowserCommand, formatAdvice, writePage } from "../../../src/cli/blemees/web.ts";
import { eventually } from "../../servers/http/world.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { BuiltProgram, type Ran } from "../built-program.ts";

let program: BuiltProgram;
let daemon: TestDaemon;
beforeAll(async () => {
  program = new BuiltProgram("sm");
  daemon = await startDaemon({ args: ["--http", "0"] });
});
afterAll(async () => {
  await daemon.close();
  program.remove();
});
const sm = (args: string[], env: Record<string, string> = {}): Promise<Ran> =>
  program.run(daemon.socket, args, "", env);

const LINK = /^http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{43}\n$/;

describe("the command", () => {
  test("prints only the link to stdout, and instructions to stderr", async () => {
    expect(await sm(["web"])).toEqual({
      code: 0,
      stdout: expect.stringMatching(LINK),
      stderr: expect.stringMatching(/Open this link in your browser\. It works once, within 10m\./),
    });
    expect(await sm(["web", "--quiet"])).toMatchObject({ stdout: expect.stringMatching(LINK), stderr: "" });
  });

  test("--json prints the link with its port and its expiry", async () => {
    const { stdout } = await sm(["web", "--json"]);
    expect(JSON.parse(stdout)).toEqual({
      url: expect.stringContaining("#token="),
      port: expect.any(Number),
      expires_at_ms: expect.any(Number),
    });
  });

  test("a port that is no longer available is reported; an invalid one is wrong usage", async () => {
    expect(await sm(["web", "--port", "65000"])).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/already serves on port \d+/),
    });
    expect(await sm(["web", "--port", "abc"])).toMatchObject({ code: 2, stdout: "" });
    expect((await sm(["web", "--port", "70000"])).code).not.toBe(0);
  });

  test("over ssh it shows how to forward the port", async () => {
    const { stdout, stderr } = await sm(["web"], { SSH_CONNECTION: "1.2.3.4 5 6.7.8.9 22", USER: "you" });
    const [, port] = /127\.0\.0\.1:(\d+)/.exec(stdout) ?? [];
    expect(stderr).toContain(`ssh -L ${port}:127.0.0.1:${port} you@`);
    expect(stderr).toContain("open the link in your browser there");
  });
});

describe("--open", () => {
  test("without a display no browser is started, and that is reported", async () => {
    expect(await sm(["web", "--open"])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(LINK),
      stderr: expect.stringContaining("no display"),
    });
  });

  test.skipIf(process.platform !== "linux")(
    "the browser gets a file that only the user can read, so that no process list shows the link",
    async () => {
      const bin = join(daemon.home, "bin");
      const said = join(daemon.home, "said");
      mkdirSync(bin, { recursive: true });
      rmSync(said, { force: true });
      writeFileSync(
        join(bin, "xdg-open"),
        `#!/bin/sh\nprintf '%s' "$*" > "${said}.new" && mv "${said}.new" "${said}"\n`,
      );
      chmodSync(join(bin, "xdg-open"), 0o755);
      const state = join(daemon.home, "browser-state");
      const env = { DISPLAY: ":9", PATH: `${bin}:/usr/bin:/bin`, BLEMEESD_STATE_DIR: state };
      const { stdout, stderr } = await sm(["web", "--open"], env);
      expect(stderr).toContain("Browser opened;");
      await eventually(() => existsSync(said)).toBe(true);
      const file = readFileSync(said, "utf8");
      expect(file).toBe(join(state, "open-dashboard.html"));
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(readFileSync(file, "utf8")).toContain(`content="0;url=${stdout.trim()}"`);
    },
  );

  test("an existing file is made private before the link is written", () => {
    const directory = join(daemon.home, "open-before");
    mkdirSync(directory, { recursive: true });
    const file = join(directory, "open-dashboard.html");
    writeFileSync(file, "old");
    chmodSync(file, 0o644);
    expect(writePage("http://127.0.0.1:1/#token=x", directory)).toBe(file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test.each([
    [{ DISPLAY: ":0" }, "linux", "xdg-open"],
    [{ WAYLAND_DISPLAY: "wayland-0" }, "linux", "xdg-open"],
    [{ DISPLAY: "" }, "linux", undefined],
    [{}, "linux", undefined],
    [{ DISPLAY: ":0", SSH_CONNECTION: "x" }, "linux", undefined],
    [{}, "darwin", "open"],
    [{ SSH_CONNECTION: "x" }, "darwin", undefined],
  ] as const)("with %j on %s the browser is started by %s", (env, platform, command) => {
    expect(findBrowserCommand(env, platform)).toBe(command);
  });
});

test("the link's remaining lifetime is counted from now", () => {
  const link = { url: "http://127.0.0.1:7433/#token=x", port: 7433, expires_at_ms: 240_000 };
  expect(formatAdvice(link, {}, 0)).toEqual(["Open this link in your browser. It works once, within 4m."]);
});
