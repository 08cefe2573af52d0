// A client that waited for a message until it was done may rely on it: the daemon that is killed right after the
// reply has stored the turn's end, and its events are in the history.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { HttpClient } from "../servers/http-load/http-client.ts";
import { wholeHistory } from "../servers/http-load/pages.ts";
import { startDaemon } from "../support/daemon.ts";

const ROUNDS = 3;

test("a turn that a waiting client saw end is over, also after kill -9", async () => {
  const home = mkdtempSync(join(tmpdir(), "blemees-wait-"));
  let session_id: string | undefined;
  for (let round = 1; round <= ROUNDS; round += 1) {
    const daemon = await startDaemon({ home, env: { BLEMEESD_LOG_LEVEL: "warn" } });
    const http = new HttpClient(daemon.socket);
    session_id ??= await http.spawn({ backend: "demo", options: { pace_ms: 0 } });
    const { body } = await http.ask("POST", `/sessions/${session_id}/input`, {
      body: { text: `round ${round}` },
    });
    const { message_id } = body.input;
    const { reason, input } = await http.get(`/sessions/${session_id}/wait?message_id=${message_id}`);
    await daemon.kill("SIGKILL");
    http.close();
    expect({ reason, outcome: input.outcome }).toEqual({ reason: "input_done", outcome: "success" });
  }
  const daemon = await startDaemon({ home });
  const http = new HttpClient(daemon.socket);
  const { recent } = await http.get(`/sessions/${session_id}/queue`);
  expect(recent.map(({ outcome }: { outcome?: string }) => outcome)).toEqual(Array(ROUNDS).fill("success"));
  const results = (await wholeHistory(http, session_id ?? "")).filter(({ type }) => type === "agent.result");
  expect(results.map(({ frame }) => frame["subtype"])).toEqual(Array(ROUNDS).fill("success"));
  http.close();
  await daemon.close();
});
