import { expect, test } from "vitest";
import type { ResolutionSource } from "../../../src/protocol/requests.ts";
import { findOwnSession, narrowCaller, toAnsweredBy } from "../../../src/sessions/rights/caller.ts";

test.each<[string, ResolutionSource, string]>([
  ["person", "tui", "tui"],
  ["person", "web", "web"],
  ["person", "sm", "http"],
  ["person", "policy", "http"],
  ["unknown", "tui", "tui"],
  ["agent:a", "tui", "http"],
  ["agent:a,b", "web", "http"],
])("an answer of %s that claims to come from %s was given via %s", (actor, source, via) => {
  const isAgent = actor.startsWith("agent:");
  const caller = { actor, isAgent, isProven: true, peer_pid: 7, wire: "http" } as const;
  expect(toAnsweredBy(caller, source)).toEqual({ actor, peer_pid: 7, via });
});

test.each([
  [
    "a person",
    { actor: "person", isAgent: false, isProven: true },
    { actor: "agent:x", isAgent: true, isProven: true },
  ],
  [
    "an unknown client",
    { actor: "unknown", isAgent: false, isProven: false },
    { actor: "agent:x", isAgent: true, isProven: true },
  ],
  [
    "an agent",
    { actor: "agent:a", isAgent: true, isProven: true },
    { actor: "agent:a", isAgent: true, isProven: true },
  ],
  [
    "one of several agents",
    { actor: "agent:x,y", isAgent: true, isProven: false },
    { actor: "agent:x,y", isAgent: true, isProven: false },
  ],
  [
    "some other agents",
    { actor: "agent:a,b", isAgent: true, isProven: false },
    { actor: "agent:a,b", isAgent: true, isProven: false },
  ],
  [
    "an agent of nobody known",
    { actor: "unknown", isAgent: true, isProven: false },
    { actor: "unknown", isAgent: true, isProven: false },
  ],
])("a claim to be session x only takes rights away from %s", (_who, caller, narrowed) => {
  expect(narrowCaller({ ...caller, wire: "http" }, "x")).toEqual({ ...narrowed, wire: "http" });
});

test("a caller that may be one of two has no session of its own", () => {
  expect(findOwnSession({ actor: "agent:a" })).toBe("a");
  expect(findOwnSession({ actor: "agent:a,b" as never })).toBeUndefined();
});
