import { expect, test } from "vitest";
import { DemianConfig } from "../../src/runtime/config/schema.ts";
import { listHiddenPaths } from "../../src/runtime/hidden-places.ts";

test("logins are hidden where they usually are, where variables say, and where the configuration says", () => {
  const { providers } = DemianConfig.parse({
    providers: { mine: { type: "codex", model: "m", codexHome: "~/elsewhere" } },
  });
  const env = { HOME: "/home/u", CODEX_HOME: "/srv/codex", CLAUDE_CONFIG_DIR: "/srv/claude" };
  expect(listHiddenPaths(env, providers)).toEqual(
    expect.arrayContaining([
      "/home/u/elsewhere",
      "/srv/codex",
      "/srv/claude",
      "/home/u/.claude",
      "/home/u/.codex",
    ]),
  );
});

test("a login that lies in the home directory itself hides nothing else", () => {
  const places = listHiddenPaths({ HOME: "/home/u", CODEX_HOME: "/home", CLAUDE_CONFIG_DIR: "/home/u" });
  expect(places).toEqual(expect.arrayContaining(["/home/auth.json", "/home/u/.credentials.json"]));
  for (const whole of ["/home", "/home/u"]) expect(places).not.toContain(whole);
});
