// Agents are offered once the daemon has looked for all of them: right after its start it reports `detecting`.
import { describe, expect, test } from "vitest";
import type { HttpClient } from "../../../src/client/http.ts";
import { pollUntilDetected } from "../../../src/client/view/detected.ts";
import { createFleetDriver } from "../../../src/tui/daemon/fleet-driver.ts";
import { createApi, readStatus } from "../../../web/src/api/client.ts";

/** The daemon's replies in order; the last one repeats. */
function saying(...statuses: Record<string, string>[]) {
  const asked = { count: 0 };
  const status = () => {
    const backends = statuses[Math.min(asked.count, statuses.length - 1)];
    asked.count += 1;
    return Promise.resolve({ pid: 1, backends });
  };
  return { asked, status };
}

const EARLY = { claude: "detecting", codex: "detecting" };

test("it is asked again while an agent is being detected; the rest of the status stays", async () => {
  const { asked, status } = saying(EARLY, { ...EARLY, claude: "2.1" }, { claude: "2.1" });
  expect(await pollUntilDetected(status, 0)).toEqual({ pid: 1, backends: { claude: "2.1" } });
  expect(asked.count).toBe(3);
});

test("an agent whose detection never ends is left out", async () => {
  const { status } = saying({ claude: "2.1", codex: "detecting" });
  expect((await pollUntilDetected(status, 0)).backends).toEqual({ claude: "2.1" });
});

test("a daemon that reports no agents is not asked again", async () => {
  const status = (): Promise<{ pid: number; backends?: unknown }> => Promise.resolve({ pid: 1 });
  expect(await pollUntilDetected(status, 0)).toEqual({ pid: 1, backends: {} });
});

describe("no screen shows an agent as found, or as missing, too early", () => {
  test("the terminal", async () => {
    const { status } = saying(EARLY, { claude: "2.1" });
    const http = { status, withoutRetry: () => http } as unknown as HttpClient;
    expect(await createFleetDriver(http).backends()).toEqual(["claude", "demo"]);
  });

  test("the dashboard", async () => {
    const { status } = saying(EARLY, { claude: "2.1" });
    const fetch = async () => Response.json(await status());
    const api = createApi({ origin: "http://127.0.0.1:1", token: "t", fetch });
    expect((await readStatus(api)).backends).toEqual({ claude: "2.1" });
  });
});
