// A client that received "opened" may resume the session, even if nothing was sent in it and the daemon died right
// after the reply. (The row used to be written only if the open had options, and later.)
import { randomUUID } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startDaemon } from "../support/daemon.ts";

test.each(["sqlite", "jsonl"])("%s: a session that was only opened survives kill -9", async (kind) => {
  const home = mkdtempSync(join(tmpdir(), "blemees-open-"));
  const env = kind === "jsonl" ? { BLEMEESD_EVENT_LOG_DIR: join(home, "log") } : {};
  const first = await startDaemon({ home, env });
  const session_id = randomUUID();
  const before = await first.connect();
  expect((await before.open(session_id)).type).toBe("blemeesd.opened");
  await first.kill("SIGKILL");
  const second = await startDaemon({ home, env });
  const after = await second.connect();
  expect((await after.open(session_id, {}, { resume: true })).type).toBe("blemeesd.opened");
  expect((await after.turn(session_id, "#say hello"))["subtype"]).toBe("success");
  await second.close();
});
