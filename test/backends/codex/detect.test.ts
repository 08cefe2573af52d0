import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  CodexDetector,
  type DetectorOptions,
  findNativeProgram,
} from "../../../src/backends/codex/detect.ts";
import { isRunning } from "../processes.ts";
import { tempDir } from "../temp-dir.ts";
import { FAKE_CODEX, fakeCodex, fakeHome, pidsOf } from "./fake.ts";

const dir = tempDir("codex-detect");
const FAKE_MCP = join(import.meta.dirname, "../../fakes/fake-codex-mcp.cjs");

function detector(over: Partial<DetectorOptions> = {}): CodexDetector {
  const options = { bin: FAKE_CODEX, env: fakeHome().env, transport: "auto", maxLineBytes: 1 << 24 } as const;
  return new CodexDetector({ ...options, ...over });
}

function script(name: string, text: string): string {
  const file = join(mkdtempSync(join(dir, "d-")), name);
  writeFileSync(file, text);
  chmodSync(file, 0o755);
  return file;
}

describe("Detector", () => {
  test("the version and the transport come from the handshake, and no process stays", async () => {
    const home = fakeHome({ FAKE_CODEX_VERSION: "0.170.1-beta.2" });
    const found = detector({ env: home.env });
    expect(found.transport).toBeUndefined();
    expect(await found.detect()).toEqual({
      path: FAKE_CODEX,
      version: "0.170.1-beta.2",
      transport: "app-server",
    });
    expect(found.transport).toBe("app-server");
    expect(pidsOf(home).filter(isRunning)).toEqual([]);
  });

  test("a codex without app-server is checked for mcp-server, unless the setting forbids it", async () => {
    expect(await detector({ bin: FAKE_MCP }).detect()).toMatchObject({ transport: "mcp-server" });
    expect(await detector({ bin: FAKE_MCP, transport: "app-server" }).detect()).toBeUndefined();
    expect(detector({ transport: "mcp-server" }).transport).toBe("mcp-server");
  });

  test.each(["exit-at-start", "silent-exit", "no-app-server"])(
    "%s is undefined, never an error",
    async (fault) => {
      const home = fakeHome({ FAKE_CODEX_FAULT: fault });
      expect(await detector({ env: home.env }).detect()).toBeUndefined();
      expect(pidsOf(home).filter(isRunning)).toEqual([]);
    },
  );

  test("one that never answers is given up in bounded time", async () => {
    const home = fakeHome({ FAKE_CODEX_FAULT: "mute" });
    expect(await detector({ env: home.env, transport: "app-server" }).detect()).toBeUndefined();
    expect(pidsOf(home).filter(isRunning)).toEqual([]);
  });

  test("a missing program is undefined", async () => {
    expect(await detector({ bin: "no-such-codex" }).detect()).toBeUndefined();
    expect(await detector({ bin: "/etc/passwd" }).detect()).toBeUndefined();
  });

  test("it is asked again only when the file has changed", async () => {
    const home = fakeHome();
    const bin = script("codex", `#!/bin/sh\nexec ${FAKE_CODEX} "$@"\n`);
    const found = detector({ bin, env: home.env });
    await found.detect();
    await found.detect();
    expect(pidsOf(home)).toHaveLength(1);
    utimesSync(bin, 1, 1);
    await found.detect();
    expect(pidsOf(home)).toHaveLength(2);
  });
});

describe("the npm wrapper", () => {
  function install(target: string): { wrapper: string; native: string } {
    const root = join(mkdtempSync(join(dir, "npm-")), "node_modules");
    const bin = join(root, "@openai", "codex", "bin");
    const name = `codex-${process.platform}-${process.arch}`;
    const vendor = join(root, "@openai", name, "vendor", target, "bin");
    for (const folder of [bin, vendor, join(root, ".bin")]) mkdirSync(folder, { recursive: true });
    writeFileSync(join(bin, "codex.js"), "#!/usr/bin/env node\n", { mode: 0o755 });
    writeFileSync(join(vendor, "codex"), readFileSync(FAKE_CODEX), { mode: 0o755 });
    symlinkSync("../@openai/codex/bin/codex.js", join(root, ".bin", "codex"));
    return { wrapper: join(root, ".bin", "codex"), native: join(vendor, "codex") };
  }
  const arch = process.arch === "arm64" ? "aarch64" : "x86_64";

  test("is replaced by the native program beside it", async () => {
    const { wrapper, native } = install(`${arch}-unknown-${process.platform}-musl`);
    expect(await findNativeProgram(wrapper)).toBe(native);
  });

  test("stays if there is none for this machine, and any other codex is used unchanged", async () => {
    const { wrapper } = install("riscv64-unknown-plan9");
    expect(await findNativeProgram(wrapper)).toBe(wrapper);
    expect(await findNativeProgram(FAKE_CODEX)).toBe(FAKE_CODEX);
  });
});

test("a start without a program names the setting", async () => {
  await expect(fakeCodex({ bin: "no-codex-here" }).start()).rejects.toMatchObject({
    code: "spawn_failed",
    message: "no-codex-here not found on PATH; set --codex or BLEMEESD_CODEX",
  });
});

test("on-failure is refused as soon as Codex is known not to support it, at the latest at start", async () => {
  const codex = fakeCodex();
  const options = { "approval-policy": "on-failure" };
  const refusal = { code: "invalid_message", message: expect.stringContaining("no longer exists in Codex") };
  await expect(codex.start(options)).rejects.toMatchObject(refusal);
  expect(() => codex.backend.checkOptions(options)).toThrow(expect.objectContaining(refusal));
});

test("a cwd that does not exist is named", async () => {
  await expect(fakeCodex().start({ cwd: "/no/such/dir" })).rejects.toThrow("/no/such/dir does not exist");
});
