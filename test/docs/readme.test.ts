// The first screen of the README is run as written, against a real daemon; so are its three ways in.
import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { formatBanner } from "../../src/daemon/banner.ts";
import type { Config } from "../../src/daemon/config.ts";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import type { Frame } from "../support/raw-client.ts";
import { ROOT } from "../support/root.ts";

const README = readFileSync(join(ROOT, "README.md"), "utf8");
const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const REQUEST = /\breq_[0-9a-f]{8}(?:[0-9a-f]{24})?\b/g;

interface Step {
  command: string;
  output: string;
}

let daemon: TestDaemon;
let project: string;

beforeAll(async () => {
  daemon = await startDaemon({ env: { BLEMEESD_CLAUDE: "/nonexistent/claude" } });
  project = join(daemon.home, "project");
  mkdirSync(project);
});
afterAll(() => daemon.close());

describe("first screen", () => {
  test("the session comes right after the introduction, before any picture", () => {
    const session = README.indexOf("```console");
    expect(session).toBeLessThan(400);
    expect(README.indexOf("![")).toBeGreaterThan(session);
    expect(README.split("\n").length).toBeLessThanOrEqual(150);
  });

  test("npm start prints what the README shows", () => {
    const [step] = stepsOf(blocks("console")[0] ?? "");
    expect(step?.command).toBe("npm start");
    const version = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).version as string;
    const config = {
      socket_path: "/run/user/1000/blemeesd.sock",
      state_dir: "/home/you/.local/state/blemees",
      store: "sqlite",
      agents: {},
    } as Config;
    expect(formatBanner(config, version, { demo: version }).startsWith(step?.output ?? "?")).toBe(true);
  });

  test("each command prints what the README shows", async () => {
    const steps = stepsOf(blocks("console")[1] ?? "");
    const verbs = steps.map(({ command }) => command.split(" ")[2]);
    expect(verbs).toEqual(["spawn", "spawn", "all", "requests", "approve", "wait", "tail"]);
    for (const { command, output } of steps) expectLike(await runCommand(command), output, command);
  });

  test("a line that the README does not show, or one that is not printed, is noticed", () => {
    expectLike("a\nb\nc\n", "a\n…", "x");
    expectLike("a\nb\nc\n", "…\nc", "x");
    expect(() => expectLike("a\nb\nc\n", "a\nc", "x")).toThrow();
    expect(() => expectLike("a\nb\nc\n", "a\n…\nd", "x")).toThrow();
  });
});

describe("three ways in", () => {
  test("the command line", async () => {
    const [command = ""] = blocks("sh");
    expect(await runCommand(command)).toMatch(/session_id/);
  });

  test("HTTP", async () => {
    const printed = await runCommand(blocks("sh")[1] ?? "");
    const [spawned, listed] = printed
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(spawned).toMatchObject({ session: { backend: "demo", name: "curled" }, repeated: false });
    expect(listed.sessions).toMatchObject([{ session_id: spawned.session.session_id }]);
  });

  test("the library", async () => {
    const [code = ""] = blocks("ts");
    const source = join(project, "readme.ts");
    writeFileSync(source, code);
    const outfile = join(project, "readme.mjs");
    const alias = { "blemees/client": join(ROOT, "src/client/index.ts") };
    await build({ entryPoints: [source], outfile, alias, bundle: true, platform: "node", format: "esm" });
    expect(await runCommand(`"${process.execPath}" readme.mjs`)).toContain('You said: "hello".');
  });

  test("the socket", async () => {
    const block = blocks("").find((text) => text.includes("→ {")) ?? "";
    const client = await daemon.connect();
    const lines = block.trim().split("\n").slice(2); // the harness says hello
    for (const line of lines) {
      if (line.startsWith("→ ")) client.send(JSON.parse(line.slice(2)) as Frame);
      else await client.next(/"type":"([\w.]+)"/.exec(line)?.[1] ?? line);
    }
    expect(lines.length).toBe(5);
    expect(client.frames[0]?.type).toBe("blemeesd.hello_ack");
  });
});

/** The fenced blocks of one language. */
function blocks(language: string): string[] {
  return [...README.matchAll(/^```(\w*)\n(.*?)^```$/gms)]
    .filter(([, name]) => name === language)
    .map(([, , text = ""]) => text);
}

/** A console block: `$ command`, then its output. */
function stepsOf(block: string): Step[] {
  return block
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = "", ...output] = part.trimEnd().split("\n");
      return { command, output: output.join("\n") };
    });
}

/** Runs a line in a shell as a reader would, with stdout and stderr in one file, as on a terminal. */
async function runCommand(line: string): Promise<string> {
  const program = (_line: string, name: string) =>
    `"${process.execPath}" "${join(ROOT, "dist", `${name}.js`)}"`;
  const file = join(daemon.home, "output");
  const output = openSync(file, "w");
  const child = spawn("/bin/sh", ["-c", line.replace(/^npx (sm|blemees)\b/, program)], {
    cwd: project,
    env: { PATH: process.env["PATH"], HOME: daemon.home, BLEMEESD_SOCKET: daemon.socket },
    stdio: ["ignore", output, output],
  });
  await new Promise((resolve) => child.once("exit", resolve));
  closeSync(output);
  return readFileSync(file, "utf8");
}

/** Compares line by line; a line `…` matches any lines. */
function expectLike(printed: string, shown: string, command: string): void {
  const parts = simplify(shown)
    .split(/^…$/m)
    .map((part) => part.trim());
  const pattern = parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("[^]*");
  expect(simplify(printed), command).toMatch(new RegExp(`^${pattern}$`));
}

/** Removes what differs from run to run: ids, times, the directory, and so the widths of columns. */
function simplify(text: string): string {
  return text
    .replaceAll(project, "/home/you/project")
    .replace(UUID, "ID")
    .replace(REQUEST, "REQUEST")
    .replace(/\b[0-9a-f]{8}\b/g, "ID")
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replace(/^\d\d:\d\d:\d\d\b/gm, "TIME")
    .replace(/( \((?:waited )?\d+(\.\d+)? ?m?s\))+$/gm, "")
    .replace(/\b\d+s\b/g, "Ns")
    .replace(/ {2,}/g, "  ")
    .trim();
}
