import { describe, expect, test } from "vitest";
import type { Lineage } from "../../../src/base/lineage.ts";
import { identify, type KnownAgents } from "../../../src/sessions/rights/identify.ts";

const OURS = "7-x@/run/s";
/** Agent processes: 100 serves session a, 200 serves b and c. */
const agents: KnownAgents = {
  ofProcess: (pid) => ({ 100: ["a"], 200: ["b", "c"] })[pid] ?? [],
  isOwn: (daemon_id) => daemon_id.endsWith("@/run/s"),
};

/** The process first, its oldest ancestor last. */
function line(...processes: [pid: number, env?: Record<string, string>][]): Lineage {
  return {
    state: "found",
    processes: processes.map(([pid, env = {}]) => ({ pid, read: (name) => env[name] })),
  };
}

const marked = (session?: string, daemon = OURS) => ({
  BLEMEES_DAEMON_ID: daemon,
  BLEMEES_RUN_ID: "r",
  ...(session === undefined ? {} : { BLEMEES_SESSION_ID: session }),
});

describe("a caller", () => {
  test.each<[string, Lineage, string, boolean, boolean]>([
    ["without an agent above it is a person", line([5], [4]), "person", false, true],
    ["below an agent is that agent, whatever its environment says", line([5], [100]), "agent:a", true, true],
    ["cannot choose another session", line([5, marked("z")], [100]), "agent:a", true, true],
    ["below a shared agent may be any of its sessions", line([5], [200]), "agent:b,c", true, false],
    [
      "is the session for which the shared agent started it",
      line([5], [4, marked("b")], [200]),
      "agent:b",
      true,
      true,
    ],
    [
      "of a shared agent cannot choose another of its sessions",
      line([5, marked("c")], [4, marked("b")], [200]),
      "agent:b",
      true,
      true,
    ],
    [
      "of a shared agent gains nothing by an unknown session",
      line([5, marked("z")], [200]),
      "agent:b,c",
      true,
      false,
    ],
    ["that lost its parents is known by its environment", line([5, marked("a")]), "agent:a", true, false],
    ["that lost its parents and its session is some agent", line([5, marked()]), "unknown", true, false],
    ["is known by its ancestors' environment", line([5], [4, marked("a")]), "agent:a", true, false],
    [
      "that lost its parents cannot choose another session for what it starts",
      line([5, marked("z")], [4, marked("a")]),
      "agent:a",
      true,
      false,
    ],
    [
      "that dropped one of its markers is known by the other",
      line([5, { BLEMEES_DAEMON_ID: OURS, BLEMEES_SESSION_ID: "a" }]),
      "agent:a",
      true,
      false,
    ],
    [
      "of another daemon's agent is a person here",
      line([5, marked("a", "7-x@/other")]),
      "person",
      false,
      true,
    ],
    [
      "started by the daemon itself, such as a notification, is a person",
      line([5, { BLEMEES_DAEMON_ID: OURS, BLEMEES_NOTIFY_ID: "n" }]),
      "person",
      false,
      true,
    ],
    ["that has left is treated as an agent", { state: "gone", processes: [] }, "unknown", true, false],
    [
      "that the system does not show is treated as a person",
      { state: "unknown", processes: [] },
      "unknown",
      false,
      false,
    ],
  ])("%s", (_name, lineage, actor, isAgent, isProven) => {
    expect(identify(lineage, agents)).toEqual({ actor, isAgent, isProven });
  });
});
