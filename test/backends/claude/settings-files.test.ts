import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findGlobalIgnore, locateSettings } from "../../../src/backends/claude/settings-files.ts";
import { tempDir } from "../temp-dir.ts";

const homes = tempDir("settings-files");
const newHome = () => mkdtempSync(join(homes, "home-"));
const locate = async (env: Record<string, string | undefined>, cwd: string) =>
  locateSettings(env, cwd, await findGlobalIgnore(env));
const envOf = (home: string, more: object = {}) => ({ PATH: process.env["PATH"], HOME: home, ...more });

describe("locateSettings", () => {
  test("the user's file follows CLAUDE_CONFIG_DIR, the others the project", async () => {
    const home = newHome();
    const files = await locate(envOf(home, { CLAUDE_CONFIG_DIR: "/config" }), home);
    expect(files()).toEqual({
      userSettings: "/config/settings.json",
      projectSettings: join(home, ".claude/settings.json"),
      localSettings: join(home, ".claude/settings.local.json"),
    });
  });

  test("a repository is seen from below, also when it is made later", async () => {
    const home = newHome();
    const below = join(home, "a/b");
    mkdirSync(below, { recursive: true });
    const files = await locate(envOf(home), below);
    expect(files()).not.toHaveProperty("gitIgnore");
    mkdirSync(join(home, ".git"));
    expect(files().gitIgnore).toBe(join(home, ".config/git/ignore"));
  });

  test.each([
    ["~/mine", {}, "mine"],
    ["/abs/mine", {}, "/abs/mine"],
    ["", { XDG_CONFIG_HOME: "/xdg" }, "/xdg/git/ignore"],
  ])("git's list of ignored files: %j %j", async (configured, env, expected) => {
    const home = newHome();
    mkdirSync(join(home, ".git"));
    if (configured !== "")
      writeFileSync(join(home, ".gitconfig"), `[core]\n\texcludesfile = ${configured}\n`);
    const files = await locate(envOf(home, env), home);
    expect(files().gitIgnore).toBe(expected.startsWith("/") ? expected : join(home, expected));
  });

  test("without git on the PATH the usual place is shown", async () => {
    const home = newHome();
    mkdirSync(join(home, ".git"));
    const files = await locate({ PATH: "/nonexistent", HOME: home }, home);
    expect(files().gitIgnore).toBe(join(home, ".config/git/ignore"));
  });
});
