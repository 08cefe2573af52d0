// Conversations that the real agents had outside the daemon are found in their own transcripts, read, and continued with
// everything that was said in them.
import { afterEach, expect, test } from "vitest";
import { HttpClient } from "../../../src/client/index.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { openWorld as openClaude } from "../claude/world.ts";
import { openWorld as openCodex } from "../codex/world.ts";
import type { World } from "../world.ts";

let world: World<{ close(): Promise<void> }> | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

test.each([
  ["claude", openClaude],
  ["codex", openCodex],
] as const)("%s: a conversation is read and continued", async (backend, open) => {
  world = await open();
  const http = new HttpClient({ socket: world.daemon.socket });
  // Forgotten by the daemon, it is one that the agent had without it.
  const { session } = await http.spawn({
    backend,
    cwd: world.cwd,
    prompt: "remember the word albatross #mock:text Noted.",
  });
  await http.wait(session.session_id, { until: ["idle"], timeoutMs: PATIENCE_MS });
  const native = await http.events(session.session_id, { since_seq: 0, limit: 1_000 });
  const init = native.events.find(({ type }) => type === "agent.system_init");
  const id = String(init?.frame["native_session_id"] ?? session.session_id);
  expect((await http.transcripts()).transcripts).toEqual([]);
  await http.remove(session.session_id);
  if (backend === "codex") await world.restart("SIGTERM");

  const again = new HttpClient({ socket: world.daemon.socket });
  const { transcripts } = await again.transcripts({ agent: backend });
  expect(transcripts).toMatchObject([{ session_id: id, backend, cwd: world.cwd }]);
  expect(transcripts[0]?.title).toContain("remember the word albatross");
  const page = await again.transcriptEvents(id, { tail: true });
  expect(page.events.map(({ type }) => type)).toEqual(["agent.user_echo", "agent.message", "agent.result"]);
  expect(page.events[1]?.preview).toBe("Noted.");

  const adopted = await again.spawn({ backend, transcript: id, prompt: "which word? #mock:context" });
  expect(adopted.session).toMatchObject({ session_id: id, cwd: world.cwd });
  await again.wait(id, { until: ["idle"], timeoutMs: PATIENCE_MS });
  const { last_result } = await again.session(id);
  expect(last_result).toMatchObject({ subtype: "success" });
  expect(last_result?.text).toContain("albatross");
  expect((await again.transcripts()).transcripts).toEqual([]);
  const { events } = await again.events(id, { since_seq: 0, limit: 1_000 });
  expect(events[0]?.preview).toContain("remember the word albatross");
});
