// The inbox: identical requests are one item, and each is answered by its own id and hash.
import { describe, expect, test } from "vitest";
import {
  answerItem,
  describeOutcomes,
  type InboxKeys,
  listInbox,
  makeItemKey,
  toInboxCard,
} from "../../../src/client/view/inbox.ts";
import type { RequestRow } from "../../../src/protocol/requests.ts";
import { aView } from "../session-views.ts";

const SESSIONS = new Map(
  ["lead", "kid-1", "kid-2", "kid-3"].map((name) => [
    name,
    aView({ session_id: name, name, cwd: "/home/me/shop" }),
  ]),
);

function aRow(session_id: string, payload: Partial<RequestRow["payload"]> = {}): RequestRow {
  const shown = {
    title: "Bash: npm test",
    tool_name: "Bash",
    command: "npm test",
    cwd: "/home/me/shop",
    choices: [{ decision: "accept" as const }, { decision: "decline" as const }],
    ...payload,
  };
  return {
    request_id: `req_${session_id}`,
    session_id,
    backend: "claude",
    request_type: "command",
    status: "pending",
    payload: shown,
    shown_hash: `hash of ${session_id}`,
    requested_at_ms: 1,
    generation: "g1",
  };
}

function listIds(...rows: RequestRow[]): string[][] {
  return listInbox(rows, SESSIONS).map(({ requests }) => requests.map(({ session_id }) => session_id));
}

describe("what is one item", () => {
  test("the same command of several sessions of a project", () => {
    expect(listIds(aRow("lead", { command: "ls" }), aRow("kid-1"), aRow("kid-2"))).toEqual([
      ["lead"],
      ["kid-1", "kid-2"],
    ]);
  });

  test("also for different reasons, all of which are shown", () => {
    const rows = ["a", "b", "a"].map((reason, at) => aRow(`kid-${at + 1}`, { reason }));
    const [item, ...others] = listInbox(rows, SESSIONS);
    expect(others).toEqual([]);
    if (item === undefined) throw new Error("no item");
    const card = toInboxCard(item, SESSIONS);
    expect(card.why.map(({ text }) => text)).toEqual(["a", "b"]);
    expect(card.asks).toBe("ask to run a command");
    expect([card.who, ...card.others].map(({ name }) => name)).toEqual(["kid-1", "kid-2", "kid-3"]);
  });

  const different: Readonly<Record<string, Partial<RequestRow["payload"]>>> = {
    "the command": { command: "npm test " },
    "the directory": { cwd: "/home/me/shop/web" },
    "what the input adds": { input: { command: "npm test", run_in_background: true } },
    "a choice": { choices: [{ decision: "accept" }, { decision: "cancel" }] },
    "what a choice remembers": {
      choices: [{ decision: "accept", remembers: ["everything"] }, { decision: "decline" }],
    },
    "what a choice writes": {
      choices: [{ decision: "accept", writes: [{ path: "/etc/x", content: "y" }] }, { decision: "decline" }],
    },
    "the title": { title: "Bash: network access", tool_name: "Other" },
    "whether the shell may have moved": { cwd_may_differ: true },
  };
  test.each(Object.entries(different))("not if %s differs", (_, payload) => {
    expect(listIds(aRow("kid-1"), aRow("kid-2", payload))).toEqual([["kid-1"], ["kid-2"]]);
  });

  test("not in another project, for another agent, by another sub-agent, or of unknown sessions", () => {
    const sessions = new Map(SESSIONS).set("kid-2", aView({ session_id: "kid-2", cwd: "/home/you/shop" }));
    expect(listInbox([aRow("kid-1"), aRow("kid-2")], sessions)).toHaveLength(2);
    expect(listInbox([aRow("kid-1"), { ...aRow("kid-2"), backend: "codex" }], SESSIONS)).toHaveLength(2);
    expect(listInbox([aRow("kid-1"), { ...aRow("kid-2"), path: ["helper"] }], SESSIONS)).toHaveLength(2);
    expect(listInbox([aRow("kid-1"), aRow("kid-2")], new Map())).toHaveLength(2);
  });

  test("never questions, and never requests that are not all here", () => {
    const questions = [{ id: "q", question: "Which?" }];
    expect(listIds(aRow("kid-1", { questions }), aRow("kid-2", { questions }))).toHaveLength(2);
    const cut = { is_cut: true } as const;
    expect(listIds({ ...aRow("kid-1"), ...cut }, { ...aRow("kid-2"), ...cut })).toHaveLength(2);
  });

  test("the key of a row is computed once", () => {
    const rows = [aRow("kid-1"), aRow("kid-2")];
    let count = 0;
    class Counted extends WeakMap<RequestRow, { place: string; key: string }> {
      override set(row: RequestRow, value: { place: string; key: string }) {
        count += 1;
        return super.set(row, value);
      }
    }
    const keys: InboxKeys = new Counted();
    listInbox(rows, SESSIONS, keys);
    listInbox([...rows, aRow("kid-3")], SESSIONS, keys);
    expect(count).toBe(3);
  });
});

test("an item's key changes when a request joins, leaves or changes", () => {
  const [first, second] = [aRow("kid-1"), aRow("kid-2")];
  const keys = [[first], [first, second], [second], [{ ...first, shown_hash: "other" }]].map((requests) =>
    makeItemKey({ requests }),
  );
  expect(new Set(keys).size).toBe(keys.length);
});

test("each request is answered as it was shown, and what failed is named", async () => {
  const requests = ["kid-1", "kid-2", "kid-3"].map((id) => aRow(id));
  const sent: string[] = [];
  const outcomes = await answerItem({ requests }, { decision: "accept" }, async (row, answer) => {
    if (row.session_id === "kid-2") throw new Error("the agent withdrew it");
    sent.push(`${row.request_id} ${row.shown_hash} ${JSON.stringify(answer)}`);
  });
  expect(sent).toEqual([
    'req_kid-1 hash of kid-1 {"decision":"accept"}',
    'req_kid-3 hash of kid-3 {"decision":"accept"}',
  ]);
  const said = (of: typeof outcomes): string => describeOutcomes(of, { decision: "accept" }, SESSIONS);
  expect(said(outcomes)).toBe("accepted 2 of 3; not answered: kid-2 (the agent withdrew it)");
  expect(said(outcomes.slice(0, 1))).toBe("accepted");
  expect(said(outcomes.slice(1, 2))).toBe("not answered: kid-2 (the agent withdrew it)");
});
