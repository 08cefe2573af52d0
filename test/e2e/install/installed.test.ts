// The package as npm installs it: few dependencies, and self-contained programs and declarations.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startDaemon } from "../../support/daemon.ts";
import { ROOT } from "../../support/root.ts";

const project = mkdtempSync(join(tmpdir(), "blemees-install-"));
const modules = join(project, "node_modules");
const program = (name: string) => join(modules, ".bin", name);

function run(
  command: string,
  args: string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: "utf8", ...options });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${error?.message ?? stdout + stderr}`);
  return stdout;
}

beforeAll(() => {
  run("npm", ["pack", "--ignore-scripts", "--pack-destination", project], { cwd: ROOT });
  const tarball = readdirSync(project).find((name) => name.endsWith(".tgz")) ?? "";
  const options = ["--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];
  run("npm", ["install", "--prefix", project, ...options, join(project, tarball)], { cwd: project });
});

afterAll(() => rmSync(project, { recursive: true, force: true }));

test("an installation brings at most 10 packages", () => {
  const { packages } = JSON.parse(readFileSync(join(modules, ".package-lock.json"), "utf8")) as {
    packages: object;
  };
  expect(Object.keys(packages)).toContain("node_modules/blemees");
  expect(Object.keys(packages).length).toBeLessThanOrEqual(10);
});

test("the installed programs start", () => {
  expect(run(program("blemeesd"), ["--version"])).toMatch(/^blemeesd \d/);
  expect(run(program("demian"), ["--version"])).toMatch(/^demian \d/);
  expect(run(program("sm"), ["--help"])).toMatch(/^usage: sm /);
});

test("the installed daemon runs a demo session", async () => {
  const daemon = await startDaemon({ program: join(modules, "blemees/dist/blemeesd.js") });
  const env = { PATH: process.env["PATH"] ?? "", BLEMEESD_SOCKET: daemon.socket };
  const said = run(program("sm"), ["spawn", "demo", "--wait", "use a tool"], { env });
  await daemon.close();
  expect(said).toMatch(/^The demo clock says 20\d\d-/);
});

test("the declarations of blemees/client resolve with what was installed", () => {
  const file = join(project, "use.mts");
  writeFileSync(
    file,
    `import { connect, type SessionView } from "blemees/client";
export const open = (): ReturnType<typeof connect> => connect();
export const wrong = (view: SessionView): number => view.session_id;
`,
  );
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const options = ["--ignoreConfig", "--strict", "--noEmit", "--module", "nodenext", "--target", "es2023"];
  const types = ["--types", "node", "--typeRoots", join(ROOT, "node_modules/@types")];
  const { stdout } = spawnSync(process.execPath, [tsc, ...options, ...types, file], { encoding: "utf8" });
  // Only the deliberate mistake: with an unresolved zod every type would be `any`.
  expect(stdout.match(/error TS.*/g)).toEqual([
    "error TS2322: Type 'string' is not assignable to type 'number'.",
  ]);
});
