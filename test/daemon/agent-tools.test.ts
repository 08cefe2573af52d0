import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { withAgentTools } from "../../src/daemon/agent-tools.ts";

test("puts our own sm before everything else on the agents' PATH, and changes nothing else", () => {
  const dir = mkdtempSync(join(tmpdir(), "tools-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const tools = pathToFileURL(`${dir}/`);
  expect(withAgentTools({ PATH: "/bin", HOME: "/h" }, tools)).toEqual({
    PATH: `${dir}:/bin`,
    HOME: "/h",
    BLEMEES_SM: join(dir, "sm"),
  });
  expect(withAgentTools({}, tools)).toMatchObject({ PATH: dir });
});

test("leaves the PATH alone when the tools are not built", () => {
  const env = { PATH: "/bin" };
  expect(withAgentTools(env, new URL("file:///nowhere/at/all/"))).toBe(env);
});
