// The keys of the page, and where its addresses lead.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { KEYS, readKey } from "../../web/src/keyboard.ts";
import { parseHash, toHash } from "../../web/src/router.ts";

const press = (key: string, more = {}) => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  isComposing: false,
  ...more,
});

describe("keys", () => {
  test("a single key acts at once", () => {
    expect(readKey(press("a"), undefined)).toEqual({ action: "waiting" });
    expect(readKey(press("?"), undefined)).toEqual({ action: "help" });
  });

  test("g waits for its second key, and a wrong one counts for itself", () => {
    expect(readKey(press("g"), undefined)).toEqual({ before: "g" });
    expect(readKey(press("s"), "g")).toEqual({ action: "stats" });
    expect(readKey(press("n"), "g")).toEqual({ action: "new" });
  });

  test("keys of the browser and of an input method are left alone", () => {
    for (const more of [{ ctrlKey: true }, { metaKey: true }, { altKey: true }, { isComposing: true }])
      expect(readKey(press("n", more), undefined)).toEqual({});
  });

  test("no key means two things", () => {
    const all = KEYS.flatMap(({ keys }) => keys);
    expect(new Set(all).size).toBe(all.length);
  });
});

describe("addresses", () => {
  test("every session id comes back from its address", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 40, unit: "binary-ascii" }), (session_id) => {
        expect(parseHash(toHash({ name: "session", session_id }))).toEqual({ name: "session", session_id });
      }),
    );
  });

  test("what is not understood is home", () => {
    for (const hash of ["", "#", "#/", "#/x", "#/s", "#/s/", "#/s/%", "#token=abc"])
      expect(parseHash(hash)).toEqual({ name: "home" });
    expect(parseHash("#/stats/abc")).toEqual({ name: "stats", session_id: "abc" });
    for (const hash of [
      "#/inbox/r%2F1",
      "#/inbox",
      "#/usage/abc",
      "#/usage",
      "#/daemon",
      "#/outside",
      "#/search",
      "#/search/a%20%22b%2Fc%22",
      "#/s/a%2Fb/at/12",
      "#/outside/a%2Fb/demo",
      "#/outside/a%2Fb/demo/at/12",
      "#/stats",
    ])
      expect(toHash(parseHash(hash))).toBe(hash);
  });
});
