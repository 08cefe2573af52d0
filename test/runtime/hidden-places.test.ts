import { expect, test } from "vitest";
import { DemianConfig } from "../../src/runtime/config/schema.ts";
import { hiddenPlaces } from "../../src/runtime/hidden-places.ts";

test("logins are hidden where they usually are, where variables say, and where the configuration says", () => {
  const { providers } = DemianConfig.parse({
    providers: { mine: { type: "codex", model: "m", codexHome: "~/elsewhere" } },
  });
  const env = { HOME: "/home/u", CODEX_HOME: "/srv/codex", CLAUDE_CONFIG_DIR: "/srv/claude" };
  expect(hiddenPlaces(env, providers)).toEqual(
    expect.arrayContaining([
      "/home/u/elsewhere/auth.json",
      "/srv/codex/auth.json",
      "/srv/claude/.credentials.json",
      "/home/u/.claude/.credentials.json",
    ]),
  );
  expect(hiddenPlaces({ HOME: "/home/u" })).toContain("/home/u/.codex/auth.json");
});
