import { expect, test } from "vitest";
import { describeAnswerer, formatAnswerer } from "../../../src/client/view/answerer.ts";
import type { AnsweredBy } from "../../../src/protocol/requests.ts";

const SESSION = "5a01f0d8-0760-4f74-8f54-757fa6114d8f";

test.each<[AnsweredBy | undefined, string | undefined, string | undefined]>([
  [undefined, undefined, undefined],
  [{ actor: "person", peer_pid: 7, via: "tui" }, "person, tui", "in the terminal UI"],
  [{ actor: "person", via: "web" }, "person, web", "in the dashboard"],
  [{ actor: "person", via: "http" }, "person, http", "by a person over HTTP"],
  [{ actor: "unknown", via: "http" }, "unknown, http", "by an unknown program over HTTP"],
  [{ actor: "unknown", via: "web" }, "unknown, web", "by an unknown program in the dashboard"],
  [{ actor: `agent:${SESSION}`, peer_pid: 7, via: "http" }, "agent 5a01f0d8, http", "by agent 5a01f0d8"],
  [
    { actor: `agent:${SESSION},lead`, via: "socket" },
    "agent 5a01f0d8, lead, socket",
    "by agent 5a01f0d8, lead",
  ],
  [{ actor: "daemon", via: "policy" }, "policy", "by a rule"],
  [{ actor: "daemon", via: "expiry" }, "expiry", "because nobody answered in time"],
])("%j is shown as %s", (answered_by, cell, sentence) => {
  const row = answered_by === undefined ? {} : { answered_by };
  expect([formatAnswerer(row), describeAnswerer(row)]).toEqual([cell, sentence]);
});

test("details name the whole id and the process", () => {
  const row = { answered_by: { actor: `agent:${SESSION}`, peer_pid: 4711, via: "http" as const } };
  expect(formatAnswerer(row, { isFull: true })).toBe(`agent ${SESSION}, http, pid 4711`);
});

test("what a client said counts only for answers from before the daemon determined it", () => {
  expect(describeAnswerer({ resolution_source: "sm" })).toBe("with sm");
  const answered_by = { actor: `agent:${SESSION}`, via: "http" as const };
  expect(describeAnswerer({ resolution_source: "tui", answered_by })).toBe("by agent 5a01f0d8");
});
