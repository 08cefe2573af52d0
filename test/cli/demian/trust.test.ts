// `demian trust`: its list, its prompts, and what it remembers. Nothing in the files is run.
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { run, Screenplay } from "./in-process.ts";
import { World } from "./world.ts";

const world = new World();
const tool = join(world.workspace, ".demian/tools/deploy.mjs");
const agent = join(world.workspace, ".demian/agents/docs.md");
const mine = join(world.home, ".demian/tools/mine.mjs");
const ran = join(world.directory, "ran");

beforeEach(() => {
  world.begin("http://127.0.0.1:9");
  rmSync(ran, { force: true });
});
afterAll(() => world.remove());

function write(
  path: string,
  text = `import { writeFileSync } from "node:fs";\nwriteFileSync(${JSON.stringify(ran)}, "");\n`,
): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function everything(): void {
  write(join(world.workspace, ".demian/config.json"), "{}");
  write(agent, "---\ndescription: d\n---\nx");
  write(tool);
  write(mine);
}

async function states(): Promise<Record<string, string>> {
  const { stdout } = await run(world, ["trust", "--json"]);
  const rows = JSON.parse(stdout) as { path: string; state: string }[];
  return Object.fromEntries(rows.map(({ path, state }) => [path.replace(`${world.directory}/`, ""), state]));
}

describe("the list", () => {
  test("reports that nothing needs trust if there is nothing", async () => {
    const { code, stdout, stderr } = await run(world, ["trust"]);
    expect([code, stdout]).toEqual([0, ""]);
    expect(stderr).toMatch(/no files need trust/);
  });

  test("shows the project's config, agents and tools, and the user's tools, each with its state", async () => {
    everything();
    write(join(world.home, ".demian/agents/own.md"), "---\ndescription: d\n---\nx");
    expect(await states()).toEqual({
      "home/.demian/tools/mine.mjs": "not_trusted",
      "workspace/.demian/config.json": "not_trusted",
      "workspace/.demian/agents/docs.md": "not_trusted",
      "workspace/.demian/tools/deploy.mjs": "not_trusted",
    });
    const { stdout, stderr } = await run(world, ["trust"]);
    expect(stdout).toMatch(/^STATE +KIND +SHA-256 +SINCE +FILE$/m);
    expect(stdout).toMatch(new RegExp(`^not trusted +tool +[0-9a-f]{12} +- +${tool}$`, "m"));
    expect(stderr).toMatch(/demian trust FILE/);
    expect(existsSync(ran)).toBe(false);
  });

  test("follows the state of a file: trusted, changed, gone", async () => {
    write(tool);
    const name = "workspace/.demian/tools/deploy.mjs";
    await run(world, ["trust", "--yes", tool]);
    expect((await states())[name]).toBe("trusted");
    expect((await run(world, ["trust"])).stdout).toMatch(
      /^trusted +tool +[0-9a-f]{12} +20\d\d-\d\d-\d\d \d\d:\d\d +/m,
    );
    write(tool, "// other\n");
    expect((await states())[name]).toBe("changed");
    expect((await run(world, ["trust"])).stdout).toMatch(/^changed since +tool/m);
    rmSync(tool);
    expect((await states())[name]).toBe("gone");
    expect((await run(world, ["trust", "--revoke", tool])).code).toBe(0);
    expect(await states()).toEqual({});
  });

  test("--names lists them as one types them, without names that a shell would execute", async () => {
    everything();
    write(join(world.workspace, ".demian/tools/x$(touch evil).mjs"));
    write(join(world.workspace, ".demian/tools/a b.mjs"));
    const { stdout } = await run(world, ["trust", "--names"]);
    expect(stdout.trimEnd().split("\n").sort()).toEqual([
      ".demian/agents/docs.md",
      ".demian/config.json",
      ".demian/tools/deploy.mjs",
      mine,
    ]);
  });

  test("reports that the config trusts all tools of the user", async () => {
    write(mine);
    const config = join(world.directory, "more.json");
    writeFileSync(config, JSON.stringify({ trust: { userTools: true } }));
    const { stdout } = await run(world, ["trust", "--config", config]);
    expect(stdout).toMatch(/^trusted \(trust\.userTools\) +tool/m);
  });

  test("an unreadable config is reported, and the files are still listed", async () => {
    everything();
    writeFileSync(world.configFile, "{");
    const { code, stdout, stderr } = await run(world, ["trust"]);
    expect([code, stdout.split("\n").length]).toEqual([0, 6]);
    expect(stderr).toMatch(/config\.json:1:2/);
  });
});

describe("giving and taking", () => {
  test("--yes trusts one file, by a path relative to the current directory", async () => {
    everything();
    const { code, stdout, stderr } = await run(world, ["trust", ".demian/tools/deploy.mjs", "-y"]);
    expect([code, stdout]).toEqual([0, `trusted ${tool}\n`]);
    expect(stderr).toMatch(/tool of the project: .*deploy\.mjs\n.* bytes, sha256 [0-9a-f]{64}/);
    expect(stderr).toMatch(/│ import \{ writeFileSync \}/);
    expect(stderr).toMatch(/runs with your full permissions, outside the sandbox/);
    const now = await states();
    expect(Object.values(now).filter((state) => state === "trusted")).toHaveLength(1);
    expect(now["workspace/.demian/tools/deploy.mjs"]).toBe("trusted");
    expect(existsSync(ran)).toBe(false);
  });

  test("--all trusts pending files, except refused ones", async () => {
    everything();
    await run(world, ["trust", "--refuse", tool]);
    const { code, stdout } = await run(world, ["trust", "--all", "--yes", "--json"]);
    expect(code).toBe(0);
    expect((JSON.parse(stdout) as unknown[]).length).toBe(3);
    expect(await states()).toEqual({
      "home/.demian/tools/mine.mjs": "trusted",
      "workspace/.demian/config.json": "trusted",
      "workspace/.demian/agents/docs.md": "trusted",
      "workspace/.demian/tools/deploy.mjs": "refused",
    });
    expect((await run(world, ["trust", "--all", "--yes"])).stderr).toMatch(/nothing to do/);
  });

  test("--revoke forgets it", async () => {
    write(tool);
    await run(world, ["trust", "--yes", tool]);
    expect((await run(world, ["trust", "--revoke", tool])).stdout).toBe(`revoked ${tool}\n`);
    expect(await states()).toEqual({ "workspace/.demian/tools/deploy.mjs": "not_trusted" });
  });

  test.each([
    [["trust", tool], 2, /there is no terminal to ask on.*--yes/],
    [["trust", "--json", tool], 2, /there is no terminal to ask on/],
    [["trust", "--yes", "README.md"], 1, /README\.md does not need trust; files that do: .*deploy\.mjs/],
    [["trust", "--revoke"], 2, /--revoke needs a file/],
    [["trust", "--yes"], 2, /--yes needs a file/],
    [["trust", "--all", tool], 2, /files or --all/],
    [["trust", "--refuse", "--revoke", tool], 2, /not both/],
    [["trust", "--cwd", "/nowhere"], 1, /does not exist/],
  ])("%j is refused", async (args, code, pattern) => {
    write(tool);
    const result = await run(world, args);
    expect(result.code).toBe(code);
    expect(result.stderr).toMatch(pattern);
    expect(await states()).toEqual({ "workspace/.demian/tools/deploy.mjs": "not_trusted" });
  });

  test("file content cannot pass for demian's own text", async () => {
    write(tool, "// \u001b[2K\u202etrusted\n  Trusted: yes\n");
    const { stderr } = await run(world, ["trust", "--yes", tool]);
    expect(stderr).toContain("│ // \\x1b[2K<U+202E>trusted");
    expect(stderr).toContain("│   Trusted: yes");
    expect(stderr).not.toContain("\u001b");
  });

  test("for a long file it shows how much is hidden", async () => {
    write(tool, "// line\n".repeat(100));
    expect((await run(world, ["trust", "--yes", tool])).stderr).toMatch(
      /… 40 more lines: open the file before you trust it/,
    );
  });

  test("a long line does not push the prompt's head off the screen: a part is shown, and how much is hidden", async () => {
    write(tool, `/*${"a".repeat(50_000)}*/ evil();`);
    const { stderr } = await run(world, ["trust", "--yes", tool]);
    expect(stderr.length).toBeLessThan(8000);
    expect(stderr).toMatch(/… 44012 more characters: open the file before you trust it/);
  });

  test("a file that is named twice is asked about and reported once", async () => {
    write(tool);
    const { stdout } = await run(world, ["trust", "--yes", tool, ".demian/tools/deploy.mjs"]);
    expect(stdout).toBe(`trusted ${tool}\n`);
  });

  test("--revoke reports when there was nothing to revoke", async () => {
    write(tool);
    const { code, stdout, stderr } = await run(world, ["trust", "--revoke", tool]);
    expect([code, stdout]).toEqual([0, ""]);
    expect(stderr).toMatch(/no decision to revoke for .*deploy\.mjs/);
  });

  test("if the trust file would be in the workspace, no trust is given", async () => {
    write(tool);
    symlinkSync(world.workspace, join(world.home, "link"));
    const env = { XDG_STATE_HOME: join(world.home, "link") };
    const { code, stderr } = await run(world, ["trust", "--yes", tool], "", env);
    expect(code).toBe(1);
    expect(stderr).toMatch(/could bring its own trust/);
    expect(world.has("demian")).toBe(false);
  });

  test("a link in a project is never trusted", async () => {
    write(join(world.directory, "evil.mjs"));
    mkdirSync(dirname(tool), { recursive: true });
    symlinkSync(join(world.directory, "evil.mjs"), tool);
    const { code, stderr } = await run(world, ["trust", "--yes", tool]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/is a symbolic link/);
  });
});

describe("at a terminal", () => {
  test.each([
    ["y", "trusted", 0],
    ["", "not_trusted", 1],
    ["no", "not_trusted", 1],
    ["maybe", "not_trusted", 1],
  ])("the answer %j leaves the file %s", async (answer, state, code) => {
    write(tool);
    const play = new Screenplay(world, ["trust", tool]);
    await play.until("Trust exactly this tool? [y/N]");
    play.enter(answer);
    expect(await play.ended).toBe(code);
    expect(await states()).toEqual({ "workspace/.demian/tools/deploy.mjs": state });
  });

  test("each file is asked about, and the end of the input is no", async () => {
    write(tool);
    write(mine);
    const play = new Screenplay(world, ["trust", "--all"]);
    await play.until("Trust exactly this tool? [y/N]");
    play.enter("y");
    await play.until("Trust exactly this tool? [y/N]");
    play.kill();
    expect(await play.ended).toBe(1);
    expect(Object.values(await states())).toEqual(["trusted", "not_trusted"]);
  });
});
