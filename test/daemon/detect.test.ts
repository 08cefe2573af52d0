// Which agents are listed: the real ones found so far; the demo only when there is certainly no other.
import { expect, test } from "vitest";
import type { Backend } from "../../src/backends/types.ts";
import { silentLog } from "../../src/base/log.ts";
import { detectBackends } from "../../src/daemon/detect.ts";
import { gate, settle } from "../sessions/fakes.ts";

function backend(
  name: string,
  version: string | undefined,
  after: Promise<void> = Promise.resolve(),
): Backend {
  return { name, detect: () => after.then(() => version) } as Backend;
}

test("agents are listed as they are found, in the order of the registry", async () => {
  const { open, passed } = gate();
  const detection = detectBackends([backend("claude", "2", passed), backend("codex", "1")], {
    log: silentLog,
  });
  await settle();
  expect(detection.found()).toEqual({ codex: "1" });
  open();
  await detection.done;
  expect(Object.entries(detection.found())).toEqual([
    ["claude", "2"],
    ["codex", "1"],
  ]);
});

test("the demo is not listed while a real agent may still be found", async () => {
  const { open, passed } = gate();
  const detection = detectBackends([backend("claude", undefined, passed), backend("demo", "1")], {
    log: silentLog,
  });
  await settle();
  expect(detection.found()).toEqual({});
  open();
  await detection.done;
  expect(detection.found()).toEqual({ demo: "1" });
});

test("the demo is not listed beside a real agent", async () => {
  const detection = detectBackends([backend("claude", "2"), backend("demo", "1")], { log: silentLog });
  await detection.done;
  expect(detection.found()).toEqual({ claude: "2" });
});

test("an agent that is still being detected is `detecting` in the state, and one that cannot be detected is missing", async () => {
  const { open, passed } = gate();
  const broken = { name: "codex", detect: () => Promise.reject(new Error("EMFILE")) } as unknown as Backend;
  const all = [backend("claude", "2", passed), broken, backend("demo", "1")];
  const detection = detectBackends(all, { log: silentLog });
  expect(detection.state()).toEqual({ claude: "detecting", codex: "detecting" });
  await settle();
  expect(detection.state()).toEqual({ claude: "detecting" });
  expect(detection.found()).toEqual({});
  open();
  await detection.done;
  expect(detection.state()).toEqual({ claude: "2" });
});

test("what goes first is waited for, even if it fails", async () => {
  const first = gate();
  let looked = 0;
  const claude = { name: "claude", detect: async () => `${++looked}` } as unknown as Backend;
  const after = first.passed.then(() => {
    throw new Error("it failed");
  });
  const detection = detectBackends([claude], { log: silentLog, after });
  await settle();
  expect([looked, detection.state()]).toEqual([0, { claude: "detecting" }]);
  first.open();
  await detection.done;
  expect(detection.found()).toEqual({ claude: "1" });
});

test("until an agent is detected, what the last daemon found is listed, but its state is `detecting`", async () => {
  const { open, passed } = gate();
  const all = [backend("claude", "3", passed), backend("codex", undefined, passed), backend("demo", "1")];
  const earlier = { claude: "2", codex: "1", removed: "1" };
  const detection = detectBackends(all, { log: silentLog, earlier });
  await detection.known;
  expect(detection.found()).toEqual({ claude: "2", codex: "1" });
  expect(detection.state()).toEqual({ claude: "detecting", codex: "detecting" });
  open();
  await detection.done;
  expect([detection.found(), detection.state()]).toEqual([{ claude: "3" }, { claude: "3" }]);
});

test("without a result of the last daemon, nothing is worth showing before detection is done", async () => {
  const { open, passed } = gate();
  const detection = detectBackends([backend("claude", "2", passed)], { log: silentLog });
  let isKnown = false;
  void detection.known.then(() => {
    isKnown = true;
  });
  await settle();
  expect(isKnown).toBe(false);
  open();
  await detection.known;
});

test("if the last daemon found only the demo, it is listed", async () => {
  const { open, passed } = gate();
  const all = [backend("claude", undefined, passed), backend("demo", "1", passed)];
  const detection = detectBackends(all, { log: silentLog, earlier: { demo: "1" } });
  expect(detection.found()).toEqual({ demo: "1" });
  open();
  await detection.done;
});
