// Agents are offered once the daemon has looked for all of them: right after its start it says `detecting`.
import { describe, expect, test } from "vitest";
import type { HttpClient } from "../../../src/client/http.ts";
import { untilDetected } from "../../../src/client/view/detected.ts";
import { createFleetDriver } from "../../../src/tui/daemon/fleet-driver.ts";
import { WebClient } from "../../../web/src/api/client.ts";

/** What the daemon says, one after the other; the last for ever. */
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

test("it is asked again while an agent is being looked for; the rest of the status stays", async () => {
  const { asked, status } = saying(EARLY, { ...EARLY, claude: "2.1" }, { claude: "2.1" });
  expect(await untilDetected(status, 0)).toEqual({ pid: 1, backends: { claude: "2.1" } });
  expect(asked.count).toBe(3);
});

test("an agent that is looked for without an end is left out", async () => {
  const { status } = saying({ claude: "2.1", codex: "detecting" });
  expect((await untilDetected(status, 0)).backends).toEqual({ claude: "2.1" });
});

test("a daemon that says nothing about agents is not asked again", async () => {
  const status = (): Promise<{ pid: number; backends?: unknown }> => Promise.resolve({ pid: 1 });
  expect(await untilDetected(status, 0)).toEqual({ pid: 1, backends: {} });
});

describe("neither screen takes an agent for found, or for missing, too early", () => {
  test("the terminal", async () => {
    const { status } = saying(EARLY, { claude: "2.1" });
    const http = { status, withoutRetry: () => http } as unknown as HttpClient;
    expect(await createFleetDriver(http).backends()).toEqual(["claude", "demo"]);
  });

  test("the dashboard", async () => {
    const { status } = saying(EARLY, { claude: "2.1" });
    const fetch = async () => Response.json(await status());
    const client = new WebClient({ origin: "http://127.0.0.1:1", token: "t", fetch } as never);
    expect((await client.status()).backends).toEqual({ claude: "2.1" });
  });
});
