// The state directory, and the provider and model that are remembered in it.
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadPreferences, savePreferences } from "../../src/runtime/preferences.ts";
import { getProjectDir, getStateDir } from "../../src/runtime/state-dir.ts";

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "demian-state-"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const directory = () => getProjectDir({ XDG_STATE_HOME: base }, "/repo");

test("the state directory follows XDG, and each project has its own", () => {
  expect(getStateDir({ XDG_STATE_HOME: "/s", HOME: "/h" })).toBe("/s/demian");
  expect(getStateDir({ XDG_STATE_HOME: "relative", HOME: "/h" })).toBe("/h/.local/state/demian");
  expect(getStateDir({ HOME: "/h" })).toBe("/h/.local/state/demian");
  expect(getProjectDir({ HOME: "/h" }, "/repo")).toMatch(
    /^\/h\/\.local\/state\/demian\/projects\/[0-9a-f]{64}$/,
  );
  expect(getProjectDir({}, "/repo")).not.toBe(getProjectDir({}, "/repo2"));
});

test("what was chosen is found again, privately and without left-overs", async () => {
  expect(await loadPreferences(directory())).toEqual({ preferences: {} });
  await savePreferences(directory(), { provider: "ollama", model: "a" });
  await savePreferences(directory(), { provider: "ollama", model: "b" });
  expect(await loadPreferences(directory())).toEqual({ preferences: { provider: "ollama", model: "b" } });
  expect(readdirSync(directory())).toEqual(["preferences.json"]);
  expect(statSync(join(directory(), "preferences.json")).mode & 0o777).toBe(0o600);
});

test("only names are kept", async () => {
  const more = { provider: "openai", model: "m", apiKey: "secret" };
  await savePreferences(directory(), more);
  expect(readFileSync(join(directory(), "preferences.json"), "utf8")).not.toContain("secret");
});

test.each(["{", '{"provider": 5}', "[]", "null"])(
  "a file that holds %j is ignored with a warning, and replaced",
  async (text) => {
    mkdirSync(directory(), { recursive: true, mode: 0o700 });
    writeFileSync(join(directory(), "preferences.json"), text);
    const { preferences, warning } = await loadPreferences(directory());
    expect(preferences).toEqual({});
    expect(warning).toMatch(/preferences\.json is ignored/);
    await savePreferences(directory(), { model: "m" });
    expect(await loadPreferences(directory())).toEqual({ preferences: { model: "m" } });
  },
);

test("a directory that others can write, or that is a link, is not used", async () => {
  mkdirSync(directory(), { recursive: true });
  chmodSync(directory(), 0o777);
  await expect(savePreferences(directory(), { model: "m" })).rejects.toThrow(/only you can write/);
  rmSync(directory(), { recursive: true });
  mkdirSync(join(base, "other"));
  symlinkSync(join(base, "other"), directory());
  await expect(savePreferences(directory(), { model: "m" })).rejects.toThrow(
    /must be a directory that you own/,
  );
});
