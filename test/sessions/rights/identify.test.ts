import { describe, expect, test } from "vitest";
import type { Lineage } from "../../../src/base/lineage.ts";
import {
  identify,
  identifyHidden,
  type KnownAgents,
  type Served,
} from "../../../src/sessions/rights/identify.ts";

const OURS = "7-x@/run/s";
const served = (session_id: string, isShared: boolean): Served => ({
  session_id,
  markers: [`secret-${session_id}`],
  isShared,
});
/** Agent processes: 100 serves session a, 200 serves b and c, 300 can serve several and serves d. */
const PROCESSES: Readonly<Record<number, readonly Served[]>> = {
  100: [served("a", false)],
  200: [served("b", true), served("c", true)],
  300: [served("d", true)],
};
const agents: KnownAgents = {
  ofProcess: (pid) => PROCESSES[pid] ?? [],
  ofMarker: (marker) =>
    Object.values(PROCESSES)
      .flat()
      .find(({ markers }) => markers.includes(marker))?.session_id,
  isOwn: (daemon_id) => daemon_id.endsWith("@/run/s"),
  since: 1000,
};

type Env = Record<string, string>;

/** The process first, its oldest ancestor last. */
function line(...processes: [pid: number, env?: Env][]): Lineage {
  return {
    state: "found",
    processes: processes.map(([pid, env = {}]) => ({ pid, started: 2000, read: (name) => env[name] })),
    isHidden: () => false,
  };
}

const marked = (session: string, marker = `secret-${session}`, daemon = OURS): Env => ({
  BLEMEES_DAEMON_ID: daemon,
  BLEMEES_RUN_ID: marker,
  BLEMEES_SESSION_ID: session,
});
const hidden = (lineage: Lineage, started = 2000): Lineage => ({
  ...lineage,
  processes: lineage.processes.map((one) => ({ ...one, started })),
  isHidden: () => true,
});
const SUSPECT = ["unknown", true, false] as const;
const PERSON = ["person", false, true] as const;
const UNKNOWN = ["unknown", false, false] as const;

describe("a caller", () => {
  test.each<[string, Lineage, readonly [actor: string, isAgent: boolean, isProven: boolean]]>([
    ["without an agent above it is a person", line([5], [4]), PERSON],
    ["below an agent is that agent", line([5], [100]), ["agent:a", true, true]],
    ["cannot choose another session", line([5, marked("c")], [100]), ["agent:a", true, true]],
    ["below a shared agent may be any of its sessions", line([5], [200]), ["agent:b,c", true, false]],
    [
      "is the session for which the shared agent started it, not proven: others may have seen the marker",
      line([5], [4, marked("b")], [200]),
      ["agent:b", true, false],
    ],
    [
      "of a shared agent cannot choose another session for what it starts",
      line([5, marked("c")], [4, marked("b")], [200]),
      ["agent:b", true, false],
    ],
    [
      "of a shared agent that replaced itself gains nothing by the id of another session",
      line([5, marked("c", "secret-b")], [200]),
      ["agent:b", true, false],
    ],
    [
      "of a shared agent gains nothing by the id of another session and a marker of its own making",
      line([5, marked("c", "made-up")], [200]),
      ["agent:b,c", true, false],
    ],
    [
      "below a process that could serve other sessions is not proven, even if it serves one",
      line([5], [300]),
      ["agent:d", true, false],
    ],
    ["that lost its parents is known by its marker", line([5, marked("a")]), ["agent:a", true, false]],
    [
      "that lost its parents is not another session by its id",
      line([5, marked("b", "secret-a")]),
      ["agent:a", true, false],
    ],
    ["that lost its parents and made up its marker is some agent", line([5, marked("b", "x")]), SUSPECT],
    [
      "that lost its parents and dropped a marker is some agent",
      line([5, { BLEMEES_DAEMON_ID: OURS, BLEMEES_SESSION_ID: "a" }]),
      SUSPECT,
    ],
    ["is known by its ancestors' environment", line([5], [4, marked("a")]), ["agent:a", true, false]],
    [
      "that lost its parents cannot choose another session for what it starts",
      line([5, marked("c")], [4, marked("a")]),
      ["agent:a", true, false],
    ],
    ["of another daemon's agent is a person here", line([5, marked("a", "secret-a", "7-x@/other")]), PERSON],
    [
      "started by the daemon itself, such as a notification, is a person",
      line([5, { BLEMEES_DAEMON_ID: OURS, BLEMEES_NOTIFY_ID: "n" }]),
      PERSON,
    ],
    ["that has left is treated as an agent", { ...line(), state: "gone" }, SUSPECT],
    ["with too many ancestors is treated as an agent", { ...line([5], [4]), state: "partial" }, SUSPECT],
    [
      "with too many ancestors is the agent that is among them",
      { ...line([5], [100]), state: "partial" },
      ["agent:a", true, true],
    ],
    ["that hides its environment is treated as an agent", hidden(line([5])), SUSPECT],
    [
      "that hides its environment below an agent is that agent",
      hidden(line([5], [100])),
      ["agent:a", true, true],
    ],
    [
      "whose ancestors the system does not show is treated as a person",
      { ...line([5]), state: "unknown" },
      UNKNOWN,
    ],
    [
      "whose ancestors the system does not show is an agent if it is marked",
      { ...line([5, marked("a")]), state: "unknown" },
      ["agent:a", true, false],
    ],
    ["of which the system shows nothing is treated as a person", { ...line(), state: "unknown" }, UNKNOWN],
  ])("%s", (_name, lineage, [actor, isAgent, isProven]) => {
    expect(identify(lineage, agents)).toEqual({ actor, isAgent, isProven });
  });
});

describe("an owner that hides its connection", () => {
  const SSHD = line([8]);
  const OLD = hidden(line([7]), 999);
  test.each<[string, Lineage[], readonly [actor: string, isAgent: boolean, isProven: boolean]]>([
    ["is treated as an agent if nobody can be it", [], SUSPECT],
    ["is treated as an agent if only older processes could be it", [OLD], SUSPECT],
    ["can be what another user started, such as sshd", [SSHD, OLD], UNKNOWN],
    [
      "is treated as an agent if one below an agent could be it",
      [SSHD, hidden(line([5], [100]), 999)],
      SUSPECT,
    ],
    [
      "is treated as an agent if one that lost its parents could be it",
      [SSHD, hidden(line([5]), 1000)],
      SUSPECT,
    ],
    ["is treated as an agent if it has left", [{ ...line(), state: "gone" }, SSHD], SUSPECT],
  ])("%s", (_name, candidates, [actor, isAgent, isProven]) => {
    expect(identifyHidden(candidates, agents)).toEqual({ actor, isAgent, isProven });
  });
});
