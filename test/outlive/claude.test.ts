// A daemon that is killed leaves its agents running; the next one continues their turns. On the built program.
import { expect, onTestFinished, test } from "vitest";
import { HttpClient } from "../../src/client/index.ts";
import { eventually } from "../servers/http/world.ts";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";

async function start(home?: string): Promise<{ daemon: TestDaemon; http: HttpClient }> {
  const daemon = await startDaemon(home === undefined ? {} : { home });
  onTestFinished(() => daemon.close());
  return { daemon, http: new HttpClient({ socket: daemon.socket, retry: false }) };
}

async function textOf(http: HttpClient, session_id: string): Promise<string> {
  const { events } = await http.events(session_id, { limit: 1000 });
  return events
    .filter(({ frame }) => frame["type"] === "agent.delta" && frame["kind"] === "text")
    .map(({ frame }) => frame["text"])
    .join("");
}

test("a turn streams on over a kill of the daemon: every word once, one result", async () => {
  const first = await start();
  const { session } = await first.http.spawn({ backend: "claude", prompt: "#slow 40 50" });
  const { session_id } = session;
  await eventually(async () => (await textOf(first.http, session_id)).length).toBeGreaterThan(20);
  await first.daemon.kill("SIGKILL");
  const second = await start(first.daemon.home);
  await second.http.wait(session_id, { until: ["idle"] });
  const { events } = await second.http.events(session_id, { limit: 1000 });
  const results = events.map(({ frame }) => frame).filter((frame) => frame["type"] === "agent.result");
  expect(results).toMatchObject([{ subtype: "success" }]);
  const words = (await textOf(second.http, session_id)).trim().split(/\s+/);
  expect(new Set(words).size).toBe(words.length);
  expect(words).toHaveLength(40);
});
