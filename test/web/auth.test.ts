// How the page gets its token.
import { describe, expect, test } from "vitest";
import { type BrowserEnv, enter, isLink } from "../../web/src/auth.ts";

function placeWith(hash: string, reply: () => Promise<Response>, kept?: string) {
  const stored = new Map<string, string>(kept === undefined ? [] : [["blemees.token", kept]]);
  const seen: { path: string; init: RequestInit; hash: string }[] = [];
  const location = { hash, pathname: "/" };
  const place: BrowserEnv = {
    location,
    history: {
      replaceState: (_data, _unused, url) => {
        location.hash = url.slice(url.indexOf("#"));
      },
    },
    storage: {
      getItem: (key) => stored.get(key) ?? null,
      setItem: (key, value) => void stored.set(key, value),
      removeItem: (key) => void stored.delete(key),
    },
    fetch: (path, init) => {
      seen.push({ path, init, hash: location.hash });
      return reply();
    },
  };
  return { place, stored, seen, location };
}
const good = async (): Promise<Response> => Response.json({ token: "bearer" });
const used = async (): Promise<Response> => new Response("{}", { status: 401 });

describe("entering", () => {
  test("a link is exchanged for the token, and is out of the address before anything is asked", async () => {
    const { place, stored, seen, location } = placeWith("#token=once", good);
    expect(await enter(place)).toEqual({ kind: "in", token: "bearer" });
    expect(seen[0]).toMatchObject({
      path: "/web/enter",
      hash: "#/",
      init: { headers: { authorization: "Bearer once" } },
    });
    expect(location.hash).toBe("#/");
    expect([...stored]).toEqual([["blemees.token", "bearer"]]);
  });

  test("a tab that is in stays in, without asking", async () => {
    const { place, seen } = placeWith("#/s/1", good, "kept");
    expect(await enter(place)).toEqual({ kind: "in", token: "kept" });
    expect(seen).toEqual([]);
  });

  test("a used link shows the way out, unless the tab is in already", async () => {
    expect(await enter(placeWith("#token=old", used).place)).toEqual({ kind: "out", why: "used" });
    expect(await enter(placeWith("#token=old", used, "kept").place)).toEqual({ kind: "in", token: "kept" });
  });

  test("without a link there is no way in, and a daemon that is away is reported as such", async () => {
    expect(await enter(placeWith("#/", good).place)).toEqual({ kind: "out", why: "none" });
    expect(
      await enter(placeWith("#token=once", () => Promise.reject(new TypeError("failed"))).place),
    ).toEqual({ kind: "out", why: "away" });
  });

  test("the address from before the link is restored", async () => {
    const { place, location } = placeWith("#token=once", good, "kept");
    await enter(place, "#/s/1");
    expect(location.hash).toBe("#/s/1");
    expect(["#token=once", "#/", "#/s/token="].map(isLink)).toEqual([true, false, false]);
  });

  test("a mangled link is wiped too", async () => {
    const { place, location, seen } = placeWith("#token=<script>", good);
    await enter(place);
    expect(location.hash).toBe("#/");
    expect(seen).toEqual([]);
  });
});
