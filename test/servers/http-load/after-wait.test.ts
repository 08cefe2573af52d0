// A client that learns that a message is done, or that a session is idle, reads the history next: the end is in it.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { EventsPage } from "../../../src/protocol/wire/http.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { HttpClient } from "./http-client.ts";

const ROUNDS = 20;

let daemon: TestDaemon;
let http: HttpClient;
beforeAll(async () => {
  daemon = await startDaemon({ env: { BLEMEESD_LOG_LEVEL: "warn" } });
  http = new HttpClient(daemon.socket);
});
afterAll(async () => {
  http.close();
  await daemon.close();
});

test.each(["message_id", "until"])("after a wait with %s the result is in the history", async (how) => {
  const id = await http.spawn({ backend: "demo", options: { pace_ms: 0 } });
  const missing: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const { body } = await http.ask("POST", `/sessions/${id}/input`, { body: { text: `round ${round}` } });
    const what = how === "until" ? "until=idle" : `message_id=${body.input.message_id}`;
    const { session } = await http.get(`/sessions/${id}/wait?${what}`);
    const page: EventsPage = await http.get(`/sessions/${id}/events?since_seq=${session.last_seq - 1}`);
    if (page.events[0]?.type !== "agent.result") missing.push(round);
  }
  expect(missing).toEqual([]);
});
