// `sm export`: one file, with the secrets listed before it is written.
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HttpClient } from "../../../src/client/index.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { BuiltProgram, type Ran } from "../built-program.ts";

const TOKEN = `ghp_${"a1".repeat(18)}`;

let daemon: TestDaemon;
let program: BuiltProgram;
let dir: string;
let id: string;
beforeAll(async () => {
  program = new BuiltProgram("sm");
  dir = mkdtempSync(join(tmpdir(), "export-"));
  daemon = await startDaemon();
  const http = new HttpClient({ socket: daemon.socket });
  const prompt = `#say the token is ${TOKEN}, <script>alert(1)</script>`;
  const { session } = await http.spawn({ backend: "claude", name: "fixer", prompt });
  id = session.session_id;
  await http.wait(id, { until: ["idle"], timeoutMs: PATIENCE_MS });
});
afterAll(async () => {
  await daemon.close();
  program.remove();
  rmSync(dir, { recursive: true, force: true });
});

const sm = (...args: string[]): Promise<Ran> => program.run(daemon.socket, args);

test("Markdown on stdout by default; secrets are masked, and listed on stderr with where they are", async () => {
  const { code, stdout, stderr } = await sm("export", "fixer");
  expect(code).toBe(0);
  expect(stdout).toContain("# fixer");
  expect(stdout).toContain("the token is [GitHub token masked], &lt;script>");
  expect(stderr).toMatch(/Masked:\n +\d+ × GitHub token \(ghp_…, first in event \d+\)/);
  expect(stdout + stderr).not.toContain(TOKEN);
});

test("a page in a file that only its owner reads; it is replaced only with --force, and whole or not at all", async () => {
  const file = join(dir, "fixer.html");
  expect(await sm("export", "fixer", "--html", "-o", file)).toMatchObject({ code: 0, stdout: "" });
  const html = readFileSync(file, "utf8");
  expect(html).toMatch(/^<!doctype html>[\s\S]*<\/body><\/html>\n$/);
  expect(html).not.toContain("<script");
  expect(html).not.toContain(TOKEN);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  writeFileSync(file, "mine");
  const refused = await sm("export", "fixer", "-o", file);
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toContain("--force");
  expect(readFileSync(file, "utf8")).toBe("mine");
  expect((await sm("export", "fixer", "-o", file, "--force")).code).toBe(0);
  expect(readFileSync(file, "utf8")).toContain("# fixer");
});

test("JSON has the session and its events, without the pieces of texts", async () => {
  const { stdout } = await sm("export", id, "--json");
  const { session, events } = JSON.parse(stdout) as { session: object; events: { type: string }[] };
  expect(session).toMatchObject({ session_id: id, name: "fixer" });
  const types = new Set(events.map(({ type }) => type));
  expect(types).toContain("agent.message");
  expect(types).not.toContain("agent.delta");
  expect(stdout).not.toContain(TOKEN);
});

test.each([
  ["two forms", ["--md", "--html"], "use one of"],
  ["a directory", ["-o", "/"], "is not a file"],
  ["a directory that does not exist", ["-o", "/no/such/dir/x.md"], "cannot be written"],
])("%s: one error, and no file", async (_what, args, message) => {
  const ran = await sm("export", "fixer", ...args);
  expect(ran.code).not.toBe(0);
  expect(ran.stdout).toBe("");
  expect(ran.stderr).toContain(message);
  expect(existsSync("/no/such")).toBe(false);
});
