// Package managers work in the default mode, offline here. What is not on the machine is replaced by what it would write.
// npm is in writable.test.ts.
import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createSandbox } from "../../../src/runtime/sandbox/index.ts";
import { SANDBOX } from "../../support/plain-sandbox.ts";
import { type Ran, runIn, whyNoSandbox } from "./ground.ts";

const lacking = await whyNoSandbox();
const reason = process.platform === "linux" ? lacking : "these probes are for Linux";
if (reason !== undefined) test.skip(`nothing was installed: ${reason}`, () => undefined);

const works = (command: string): boolean => spawnSync("/bin/sh", ["-c", command]).status === 0;
const hasCargo = works("cargo --version && cc --version && git --version");
const hasPip = works("python3 -m pip --version");
/** The test's home directory is another one. */
const RUSTUP_HOME = process.env["RUSTUP_HOME"] ?? join(homedir(), ".rustup");

describe.skipIf(reason !== undefined)("in the sandbox", () => {
  let base = "";
  const at = (path: string) => join(base, path);
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text);
  };
  const run = async (command: string): Promise<Ran> => {
    const env = { PATH: process.env["PATH"] ?? "", HOME: at("home"), RUSTUP_HOME };
    const sandbox = await createSandbox(SANDBOX, {
      ...{ root: at("home/work"), home: at("home"), env, hide: [at("state")], cacheDirectory: at("state") },
    });
    return runIn(sandbox, at("home/work"), command, { timeoutMs: 180_000, env });
  };

  beforeEach(() => {
    // Not below /tmp, which is another one in the sandbox.
    base = realpathSync(mkdtempSync("/var/tmp/demian-install-"));
    for (const path of ["home/work", "state"]) mkdirSync(at(path), { recursive: true, mode: 0o700 });
  });
  afterEach(() => rmSync(base, { recursive: true, force: true }));

  test.skipIf(!hasCargo)(
    "cargo builds a program with a dependency that it has to fetch",
    { timeout: 200_000 },
    async () => {
      put("home/work/dep/Cargo.toml", '[package]\nname = "dep"\nversion = "1.0.0"\nedition = "2021"\n');
      put("home/work/dep/src/lib.rs", 'pub fn text() -> &\'static str { "it works" }\n');
      const git = (...args: string[]) =>
        execFileSync("git", ["-C", at("home/work/dep"), ...args], { stdio: "ignore" });
      git("init");
      git("add", ".");
      git("-c", "user.name=me", "-c", "user.email=me@x", "commit", "-m", "first");
      const dependency = `dep = { git = "file://${at("home/work/dep")}" }`;
      put(
        "home/work/Cargo.toml",
        `[package]\nname = "app"\nversion = "1.0.0"\nedition = "2021"\n[dependencies]\n${dependency}\n`,
      );
      put("home/work/src/main.rs", 'fn main() { println!("{}", dep::text()) }\n');
      const { code, output, adapter } = await run("cargo build && target/debug/app");
      expect(output).toMatch(/it works\n$/);
      expect({ code, adapter }).toEqual({ code: 0, adapter: "linux-bwrap" });
      // Fetched into the private directory.
      expect(readdirSync(at("state/cargo-git/db"))).toHaveLength(1);
      expect(existsSync(at("home/.cargo"))).toBe(false);
    },
  );

  test.skipIf(!hasPip)(
    "pip installs a package, for the next commands too",
    { timeout: 200_000 },
    async () => {
      writeWheel(at("home/work/demo-1.0-py3-none-any.whl"));
      const install = "python3 -m pip install --no-index --break-system-packages ./demo-1.0-py3-none-any.whl";
      // Older versions do not know the option, and do not need it.
      const { output, adapter } = await run(
        `${install} || ${install.replace("--break-system-packages ", "")}`,
      );
      expect(output).toMatch(/Successfully installed demo-1\.0/);
      expect(adapter).toBe("linux-bwrap");
      expect((await run("python3 -c 'import demo; print(demo.TEXT)'; demo")).output).toBe(
        "it works\nit works\n",
      );
      expect(existsSync(at("home/.local"))).toBe(false);
    },
  );

  test("programs write where npm, cargo and pip do, and find it again", async () => {
    const places = [
      "~/.npm/_cacache",
      "~/.cargo/registry/cache",
      "~/.cargo/git/db",
      "~/.cache/pip",
      "$PYTHONUSERBASE/lib",
    ];
    const write = places.map((path) => `mkdir -p ${path} && echo kept > ${path}/file`).join(" && ");
    expect((await run(write)).code).toBe(0);
    expect((await run(`cat ${places.map((path) => `${path}/file`).join(" ")}`)).output).toBe(
      "kept\n".repeat(5),
    );
    expect(readdirSync(at("home"))).toEqual(["work"]);
  });
});

/** A package with a module and a program. */
function writeWheel(path: string): void {
  const info = "demo-1.0.dist-info";
  const files = {
    "demo.py": "TEXT = 'it works'\ndef main():\n    print(TEXT)\n",
    [`${info}/METADATA`]: "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n",
    [`${info}/WHEEL`]: "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    [`${info}/entry_points.txt`]: "[console_scripts]\ndemo = demo:main\n",
    [`${info}/RECORD`]: `demo.py,,\n${info}/METADATA,,\n${info}/WHEEL,,\n${info}/entry_points.txt,,\n${info}/RECORD,,\n`,
  };
  const script =
    "import json, sys, zipfile\nz = zipfile.ZipFile(sys.argv[1], 'w')\nfor n, t in json.load(sys.stdin).items(): z.writestr(n, t)\nz.close()";
  execFileSync("python3", ["-c", script, path], { input: JSON.stringify(files) });
}
