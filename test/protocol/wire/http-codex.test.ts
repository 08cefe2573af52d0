// The codex-* routes use the words of the session-manager format.
import { expect, test } from "vitest";
import { RESOLUTION_SOURCES } from "../../../src/protocol/requests.ts";
import { toCodexRequest } from "../../../src/protocol/wire/http-codex.ts";
import { pending } from "../../client/request-rows.ts";

test("the source of an answer is one of the three in the session-manager format", () => {
  const shown = RESOLUTION_SOURCES.map(
    (resolution_source) =>
      toCodexRequest({ ...pending(), status: "resolved", resolution_source }).resolution_source,
  );
  expect(shown).toEqual(["tui", "tui", "api", "api", "api", "api", "api", "policy"]);
  expect(toCodexRequest(pending())).not.toHaveProperty("resolution_source");
});
