// Notifications of new requests, and the panel of a session.
import { describe, expect, test } from "vitest";
import type { Fleet } from "../../src/client/view/fleet.ts";
import type { RequestRow, SessionView, View } from "../../src/client/view/types.ts";
import { emptyView } from "../../src/client/view.ts";
import { findNewRequests, formatTitle } from "../../web/src/notify.ts";
import { listFacts } from "../../web/src/session/panel.ts";

const request = (request_id: string): RequestRow => ({
  request_id,
  session_id: "s",
  backend: "demo",
  request_type: "command",
  status: "pending",
  payload: { title: "t", choices: [] },
  shown_hash: "h",
  requested_at_ms: 1,
  generation: "g",
});
const fleet = (ids: readonly string[], state: Fleet["link"]["state"] = "live"): Fleet => ({
  sessions: new Map(),
  requests: new Map(ids.map((id) => [id, request(id)])),
  link: { state },
});

describe("what waits", () => {
  test("is reported once, when it becomes pending", () => {
    expect(findNewRequests(fleet(["a"]), fleet(["a", "b"])).map(({ request_id }) => request_id)).toEqual([
      "b",
    ]);
    expect(findNewRequests(fleet(["a", "b"]), fleet(["b"]))).toEqual([]);
  });

  test("is not reported on a page that was just opened", () => {
    expect(findNewRequests(undefined, fleet(["a"]))).toEqual([]);
    expect(findNewRequests(fleet([], "connecting"), fleet(["a"]))).toEqual([]);
  });

  test("is reported after the daemon was away", () => {
    expect(findNewRequests(fleet([], "lost"), fleet(["a"]))).toHaveLength(1);
  });

  test("is in the title of the page", () => {
    expect(formatTitle(fleet([]), "blemees")).toBe("blemees");
    expect(formatTitle(fleet(["a", "b"]), "blemees")).toBe("(2) blemees");
  });
});

describe("panel", () => {
  const session: SessionView = {
    session_id: "s",
    backend: "demo",
    provider: "demo",
    children: [],
    managed: true,
    activity_state: "working",
    attached: false,
    running: true,
    stalled: false,
    turn: { turn_id: "t", started_at_ms: 1_000 },
    pending_requests: 0,
    family_pending_requests: 0,
    queued: 0,
    turns: 2,
    usage: { input_tokens: 1_200, output_tokens: 30 },
    context_tokens: 24_000,
    cost_usd: 0.123,
    started_at_ms: 0,
    last_active_at_ms: 0,
    last_seq: 9,
    cwd: "/a\u202eb",
  };
  const textOf = (view: View, name: string): string | undefined =>
    listFacts(view, 66_000).find((fact) => fact.name === name)?.text;

  test("shows turn, tokens, context and cost", () => {
    const view: View = { ...emptyView(), session, agent: { model: "m-1", context_window: 48_000 } };
    expect(
      ["state", "turn", "model", "tokens", "context", "cost", "cwd"].map((name) => textOf(view, name)),
    ).toEqual(["working", "1m 05s", "m-1", "1.2k in, 30 out", "24k of 48k (50%)", "$0.12", "/a<U+202E>b"]);
  });

  test("leaves out what is not known", () => {
    const { turn: _turn, cost_usd: _cost, cwd: _cwd, ...idle } = session;
    const view: View = { ...emptyView(), session: { ...idle, context_tokens: 0, usage: {} } };
    expect(listFacts(view, 0).map(({ name }) => name)).toEqual(["state", "turn"]);
    expect(listFacts(emptyView(), 0)).toEqual([]);
  });
});
