// Model and permission mode of running sessions of the real agents: taken at once or with the next turn, and kept by the
// process that resumes the conversation.
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

async function say(http: HttpClient, session_id: string, text: string): Promise<void> {
  const { input } = await http.input(session_id, { text });
  const reply = await http.wait(session_id, { message_id: input.message_id, timeoutMs: PATIENCE_MS });
  expect(reply.session.last_result).toMatchObject({ subtype: "success" });
}

async function readInit(http: HttpClient, session_id: string): Promise<Record<string, unknown> | undefined> {
  const { events } = await http.events(session_id, { since_seq: 0, limit: 1_000 });
  return events.findLast(({ type }) => type === "agent.system_init")?.frame;
}

test("claude: at once, and after its process is another one", async () => {
  world = await openClaude();
  const http = new HttpClient({ socket: world.daemon.socket });
  const { session } = await http.spawn({ backend: "claude", cwd: world.cwd });
  const id = session.session_id;
  const offered = await http.settings(id);
  expect(offered.running).toBe(true);
  expect(offered.model?.values.map(({ value }) => value)).toContain("sonnet");
  expect(offered.permission_mode).toMatchObject({ current: "default" });
  expect(offered.commands?.map(({ name }) => name)).toContain("compact");
  await say(http, id, "one #mock:text One.");

  const changed = await http.adjust(id, { model: "claude-sonnet-4-6", permission_mode: "plan" });
  expect(changed.permission_mode?.current).toBe("plan");
  await say(http, id, "two #mock:text Two.");
  const init = { model: "claude-sonnet-4-6", capabilities: { permission_mode: "plan" } };
  expect(await readInit(http, id)).toMatchObject(init);

  await expect(http.adjust(id, { permission_mode: "bypassPermissions" })).rejects.toMatchObject({
    code: "setting_refused",
  });
  await expect(http.adjust(id, { permission_mode: "bogus" })).rejects.toMatchObject({
    code: "invalid_message",
  });

  await http.stop(id);
  await say(http, id, "three #mock:text Three.");
  expect(await readInit(http, id)).toMatchObject(init);
  expect(await http.session(id)).toMatchObject({ model: "claude-sonnet-4-6", permission_mode: "plan" });
});

test("codex: from its next turn on, and after its process is another one", async () => {
  world = await openCodex();
  const http = new HttpClient({ socket: world.daemon.socket });
  const options = { sandbox: "workspace-write" };
  const { session } = await http.spawn({ backend: "codex", cwd: world.cwd, options });
  const id = session.session_id;
  const offered = await http.settings(id);
  const models = offered.model?.values.map(({ value }) => value) ?? [];
  expect(models).toContain("gpt-5.5");
  expect(offered.effort?.values.map(({ value }) => value)).toContain("high");
  await say(http, id, "one #mock:text One.");

  const other = models.find((model) => model !== "gpt-5.5") ?? "";
  await http.adjust(id, { model: other, permission_mode: "read-only", effort: "high" });
  await say(http, id, "two #mock:text Two.");
  const init = {
    model: other,
    capabilities: {
      sandbox_policy: { type: "readOnly" },
      approval_policy: "on-request",
      reasoning_effort: "high",
    },
  };
  expect(await readInit(http, id)).toMatchObject(init);

  await http.adjust(id, { permission_mode: "full-access" });
  // Asked before it, now it is not.
  await say(http, id, "three #mock:bash touch made.txt");
  expect(await readInit(http, id)).toMatchObject({
    capabilities: { sandbox_policy: { type: "dangerFullAccess" }, approval_policy: "never" },
  });

  await http.stop(id);
  await world.restart("SIGTERM");
  const again = new HttpClient({ socket: world.daemon.socket });
  await say(again, id, "four #mock:text Four.");
  expect(await readInit(again, id)).toMatchObject({
    model: other,
    capabilities: { sandbox_policy: { type: "dangerFullAccess" } },
  });
});
