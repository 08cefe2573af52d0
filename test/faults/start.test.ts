// Agents that do not even start: the open is refused with a reason, and nothing is left over.
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ask, newId, openDemo } from "../servers/socket/talk.ts";
import { startDaemon } from "../support/daemon.ts";

function script(text: string): string {
  const path = join(mkdtempSync(join(tmpdir(), "blemees-script-")), "claude");
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

const FAULTS: [what: string, env: Record<string, string>, message: RegExp][] = [
  ["dies with a word", { FAKE_CLAUDE_FAULT: "exit-at-start" }, /Error: broken/],
  ["dies without a word", { FAKE_CLAUDE_FAULT: "silent-exit" }, /claude did not start/],
  [
    "does not exist",
    { BLEMEESD_CLAUDE: "/no/such/claude" },
    /\/no\/such\/claude.*set --claude or BLEMEESD_CLAUDE/,
  ],
  ["is a directory", { BLEMEESD_CLAUDE: "/tmp" }, /\/tmp/],
  ["is not on PATH", { BLEMEESD_CLAUDE: "no-such-claude" }, /no-such-claude not found on PATH/],
  ["has an interpreter that does not exist", { BLEMEESD_CLAUDE: script("#!/no/such/interpreter\n") }, /./],
];

test.concurrent.each(FAULTS)(
  "an agent that %s: spawn_failed, the id stays free, others work",
  async (_what, env, message) => {
    const daemon = await startDaemon({ env });
    try {
      const client = await daemon.connect();
      const session_id = newId();
      for (const _ of [1, 2]) {
        const refused = await client.open(session_id);
        expect(refused).toMatchObject({ type: "blemeesd.error", code: "spawn_failed", session_id });
        expect(refused["message"]).toMatch(message);
      }
      expect((await ask(client, "status"))["sessions"]).toMatchObject({ total: 0 });
      expect((await openDemo(client, session_id)).type).toBe("blemeesd.opened");
      expect((await client.turn(session_id, "hello"))["subtype"]).toBe("success");
    } finally {
      await daemon.close();
    }
  },
);

test("a --version that never answers delays neither the start nor any client's hello", async () => {
  const daemon = await startDaemon({ env: { FAKE_CLAUDE_FAULT: "version-hangs" } });
  try {
    const client = await daemon.connect();
    expect(daemon.log()).not.toContain('"daemon.backends"'); // logged when the last probe has ended
    expect(client.frames[0]?.["backends"]).toEqual({});
    expect((await ask(client, "status"))["backends"]).toMatchObject({ claude: "detecting" });
    expect((await openDemo(client, newId())).type).toBe("blemeesd.opened");
  } finally {
    await daemon.close();
  }
});
