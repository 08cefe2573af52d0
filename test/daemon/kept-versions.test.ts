// Agents that the last daemon found are listed right after the start of the next one.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { keepVersions, readVersions } from "../../src/daemon/kept-versions.ts";
import { ask } from "../servers/socket/talk.ts";
import { launchDaemon, startDaemon, type TestDaemon } from "../support/daemon.ts";
import { RawClient } from "../support/raw-client.ts";

async function greet({ socket }: TestDaemon): Promise<unknown> {
  const client = await RawClient.connect(socket);
  onTestFinished(() => client.close());
  client.send({ type: "blemeesd.hello", protocol: "blemees/2", client: "test/1" });
  return (await client.next("blemeesd.hello_ack"))["backends"];
}

test("a hello after a restart lists agents before they are detected again", async () => {
  const { daemon: first, logged } = launchDaemon({ args: ["--log-level", "info"] });
  onTestFinished(() => first.close());
  await logged('"daemon.backends"');
  const file = join(first.home, "state/blemees/backends.json");
  await expect.poll(() => readVersions(file)).toMatchObject({ claude: "2.1.197" });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  await first.kill("SIGTERM");
  // An agent that does not answer until something is written here.
  const pipe = join(first.home, "pipe");
  execFileSync("mkfifo", [pipe]);
  const mute = join(first.home, "mute-claude");
  writeFileSync(mute, `#!/bin/sh\nread answer < ${pipe}\necho "$answer"\n`, { mode: 0o755 });
  const second = await startDaemon({ home: first.home, env: { BLEMEESD_CLAUDE: mute } });
  onTestFinished(() => second.close());
  expect(await greet(second)).toMatchObject({ claude: "2.1.197" });
  const client = await second.connect();
  expect((await ask(client, "status"))["backends"]).toMatchObject({ claude: "detecting" });
  writeFileSync(pipe, "2.1.300 (Claude Code)\n");
  await expect.poll(() => greet(second)).toMatchObject({ claude: "2.1.300" });
  await expect.poll(() => readVersions(file)).toMatchObject({ claude: "2.1.300" });
});

test("a file that is missing or damaged is ignored, and one that cannot be written costs nothing", () => {
  const directory = mkdtempSync(join(tmpdir(), "blemees-versions-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "backends.json");
  expect(readVersions(file)).toBeUndefined();
  for (const text of ["", "[]", "{", '{"claude":1}', "null"]) {
    writeFileSync(file, text);
    expect(readVersions(file)).toBeUndefined();
  }
  keepVersions(file, { claude: "2" }, silentLog);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ claude: "2" });
  mkdirSync(`${file}.new`);
  keepVersions(file, { claude: "3" }, silentLog);
  expect(readVersions(file)).toEqual({ claude: "2" });
});
