// A claude that introduces itself when it starts, before any message: a wrapper, a stub.
import { describe, expect, test } from "vitest";
import { isOf, newId, say, useDaemon } from "./talk.ts";

describe.each([
  ["that speaks the control protocol", {}],
  ["that is a plain stub", { FAKE_CLAUDE_PLAIN: "1" }],
])("a claude %s", (_what, env) => {
  const daemon = useDaemon({ env: { FAKE_CLAUDE_FAULT: "init-at-start", ...env } });

  test("is idle: the first message is taken, and each message has one result", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    await client.open(session_id);
    await client.next(isOf("agent.system_init", session_id));
    for (const words of ["one", "two"]) {
      say(client, session_id, `#say ${words}`);
      expect(await client.next(isOf("agent.result", session_id))).toMatchObject({ subtype: "success" });
    }
    const own = client.frames.filter((frame) => frame["session_id"] === session_id);
    expect(own.filter(({ type }) => type === "blemeesd.error")).toEqual([]);
    expect(own.filter(({ type }) => type === "agent.result")).toHaveLength(2);
    const started = own.filter((frame) => frame["category"] === "task_started");
    expect(started.map((frame) => (frame["data"] as { origin?: string }).origin)).toEqual([
      undefined,
      undefined,
    ]);
  });
});
