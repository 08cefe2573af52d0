// What commands may write outside of the workspace: private caches, and directories that the user named.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createSandbox } from "../../../src/runtime/sandbox/index.ts";
import type { Sandbox, SandboxConfig } from "../../../src/runtime/sandbox/types.ts";
import { SANDBOX } from "../../support/plain-sandbox.ts";
import { type Ran, runIn, whyNoSandbox } from "./ground.ts";

const lacking = await whyNoSandbox();
const reason = process.platform === "linux" ? lacking : "these probes are for Linux";
if (reason !== undefined) test.skip(`no cache was written: ${reason}`, () => undefined);

describe.skipIf(reason !== undefined)("in the sandbox a command", () => {
  let base = "";
  const at = (path: string) => join(base, path);
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text);
  };
  const open = (config: Partial<SandboxConfig> = {}): Promise<Sandbox> =>
    createSandbox(
      { ...SANDBOX, ...config },
      {
        root: at("work"),
        home: at("home"),
        hide: [at("state"), at("home/.ssh")],
        cacheDirectory: at("state/caches"),
      },
    );
  const run = (sandbox: Sandbox, command: string): Promise<Ran> =>
    runIn(sandbox, at("work"), command, {
      timeoutMs: 120_000,
      env: { PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`, HOME: at("home") },
    });

  beforeEach(() => {
    // Not below /tmp, which is another one in the sandbox.
    base = realpathSync(mkdtempSync("/var/tmp/demian-writable-"));
    for (const path of ["work", "home", "state", "elsewhere"]) mkdirSync(at(path), { mode: 0o700 });
  });
  afterEach(() => rmSync(base, { recursive: true, force: true }));

  test.each([true, false])(
    "installs a package with npm (~/.npm exists: %s), and the user's cache is unchanged",
    async (hasCache) => {
      if (hasCache) put("home/.npm/_cacache/mine", "mine\n");
      put("work/package.json", JSON.stringify({ name: "app", version: "1.0.0", private: true }));
      put("work/dep/package.json", JSON.stringify({ name: "dep", version: "2.0.0" }));
      put("work/dep/index.js", "module.exports = 'it works';\n");
      const command =
        "npm pack ./dep && npm install --offline --no-audit --no-fund ./dep-2.0.0.tgz && node -p \"require('dep')\"";
      const { code, output, adapter } = await run(await open(), command);
      expect(output).toContain("it works");
      expect({ code, adapter }).toEqual({ code: 0, adapter: "linux-bwrap" });
      expect(existsSync(at("work/node_modules/dep/index.js"))).toBe(true);
      expect(existsSync(at("state/caches/npm/_cacache"))).toBe(true);
      expect(existsSync(at("home/.npm/_logs"))).toBe(false);
      if (hasCache) expect(readFileSync(at("home/.npm/_cacache/mine"), "utf8")).toBe("mine\n");
      // Kept for the next command.
      const next = await run(await open(), "npm config get cache | xargs -I{} ls -d {}/_cacache");
      expect(next.output).toMatch(/_cacache/);
    },
  );

  test("reads what is in ~/.cache and writes beside it, into its own: the user's own does not change", async () => {
    put("home/.cache/ms-playwright/chrome", "browser\n");
    put("home/.cache/huggingface/token", "TOPSECRET\n");
    put("home/.cache/pip/http", "mine\n");
    const command = [
      "cat ~/.cache/ms-playwright/chrome",
      "echo ESCAPED > ~/.cache/ms-playwright/chrome",
      "grep -rs TOPSECRET ~/.cache",
      "mkdir ~/.cache/new && echo made > ~/.cache/new/file && cat ~/.cache/new/file",
      "mkdir -p ~/.cache/pip && echo poison > ~/.cache/pip/http && cat ~/.cache/pip/http",
    ].join("; ");
    const { output } = await run(await open(), command);
    expect(output).toMatch(/^browser\n.*Read-only file system\nmade\npoison\n$/);
    expect(readFileSync(at("home/.cache/ms-playwright/chrome"), "utf8")).toBe("browser\n");
    expect(readFileSync(at("home/.cache/pip/http"), "utf8")).toBe("mine\n");
    expect(existsSync(at("home/.cache/new"))).toBe(false);
  });

  test("cannot lead a readable cache to another place by a link", async () => {
    put("home/.cache/ms-playwright/chrome", "browser\n");
    const sandbox = await open();
    await run(sandbox, "echo started");
    rmSync(at("state/caches/cache/ms-playwright"), { recursive: true });
    symlinkSync(at("elsewhere"), at("state/caches/cache/ms-playwright"));
    const { output } = await run(await open(), "ls ~/.cache/ms-playwright/; echo ran");
    expect(output).toMatch(/^ran\n$/);
  });

  test("writes nothing else in the home directory, and sees neither the state nor credentials", async () => {
    put("home/.ssh/id", "TOPSECRET\n");
    put("state/grants.json", "TOPSECRET\n");
    put("home/.npm/x", "");
    const attempt = `echo x > ~/.bashrc; cat ~/.ssh/id ${at("state/grants.json")}; ls ${at("state")}; echo ran`;
    const held = await run(await open(), attempt);
    expect(held.output).toContain("ran\n");
    expect(held.output).not.toMatch(/TOPSECRET|^caches$/m);
    expect(existsSync(at("home/.bashrc"))).toBe(false);
    const free = await run(await open({ mode: "off" }), attempt);
    expect(free.output, "the control: without the sandbox it works").toMatch(/TOPSECRET[\s\S]*caches/);
  });

  test("in read-only mode writes no cache", async () => {
    put("home/.npm/x", "");
    const { output } = await run(await open({ mode: "read-only" }), "mkdir ~/.npm; echo ran");
    expect(output).toMatch(/Read-only file system\nran\n$/);
  });

  test("writes a directory that the user named, and no other one", async () => {
    const attempt = `echo made > ${at("elsewhere/file")}; echo ran`;
    expect((await run(await open(), attempt)).output).toMatch(/Read-only file system\nran\n$/);
    expect((await run(await open({ writable: [at("elsewhere")] }), attempt)).output).toBe("ran\n");
    expect(readFileSync(at("elsewhere/file"), "utf8")).toBe("made\n");
  });

  test.each([
    ["missing", "does not exist"],
    ["file", "is not a directory"],
    ["home", "contains your home directory"],
    ["", "contains your home directory"],
    ["state", "is hidden from commands"],
    ["home/.ssh", "is hidden from commands"],
    ["link", "is hidden from commands"],
  ])("is not started with a writable directory that is too much: %s", async (path, why) => {
    put("home/.ssh/id", "");
    put("file", "");
    symlinkSync(at("home/.ssh"), at("link"));
    await expect(open({ writable: [at(path)] })).rejects.toThrow(why);
    await expect(open({ writable: ["/etc"] })).rejects.toThrow("is a system directory");
    await expect(open({ writable: ["/"] })).rejects.toThrow("contains your home directory");
  });
});
