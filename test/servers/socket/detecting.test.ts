// A daemon that has just started says which agents it is still looking for, on both wires; hello names only those found.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { HttpClient } from "../../../src/client/http.ts";
import { ask, until, useDaemon } from "./talk.ts";

const directory = mkdtempSync(join(tmpdir(), "detecting-"));
const program = join(directory, "claude");
const gate = join(directory, "go");
writeFileSync(
  program,
  `#!/bin/sh\nwhile [ ! -e '${gate}' ]; do sleep 0.02; done\necho '2.1.197 (Claude Code)'\n`,
  { mode: 0o755 },
);
const daemon = useDaemon({ env: { BLEMEESD_CLAUDE: program } });
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test("an agent that is being looked for is detecting, then has its version", async () => {
  const client = await daemon.connect();
  const http = new HttpClient({ socket: daemon.current.socket });
  expect(client.frames[0]?.["backends"]).not.toHaveProperty("claude");
  expect((await ask(client, "status"))["backends"]).toMatchObject({ claude: "detecting" });
  expect((await http.status())["backends"]).toMatchObject({ claude: "detecting" });
  writeFileSync(gate, "");
  await until(
    () => ask(client, "status"),
    ({ backends }) => (backends as Record<string, string>)["claude"] === "2.1.197",
  );
  expect((await http.status())["backends"]).toMatchObject({ claude: "2.1.197" });
});
