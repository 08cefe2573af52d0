import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseFlags } from "../../src/daemon/flags.ts";

const UNIT = "packaging/systemd/blemeesd.service";
const PLIST = "packaging/launchd/com.blemees.blemeesd.plist";
const python = (code: string, file: string) => spawnSync("python3", ["-c", code, file], { encoding: "utf8" });
const hasPython = spawnSync("python3", ["--version"]).status === 0;

/** Sections with their keys; systemd allows a key twice, so values are lists. */
function readUnit(): Record<string, Record<string, string[]>> {
  const sections: Record<string, Record<string, string[]>> = {};
  let section: Record<string, string[]> = {};
  for (const line of readFileSync(UNIT, "utf8").split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const header = /^\[(\w+)\]$/.exec(line)?.[1];
    if (header !== undefined) {
      section = {};
      sections[header] = section;
      continue;
    }
    const [, key = "", value = ""] = /^(\w+)=(.+)$/.exec(line) ?? [];
    expect(key, line).not.toBe("");
    section[key] = [...(section[key] ?? []), value];
  }
  return sections;
}

test("the systemd unit restarts the daemon after a failure and starts it with the user's session", () => {
  expect(readUnit()).toMatchObject({
    Unit: { After: ["default.target"] },
    Service: {
      Type: ["exec"],
      ExecStart: ["%h/.local/bin/blemeesd --takeover --leave-agents"],
      Restart: ["on-failure"],
      RestartSec: ["2s"],
    },
    Install: { WantedBy: ["default.target"] },
  });
});

test("systemd signals only the daemon, so a restart leaves the agents running", () => {
  expect(readUnit()["Service"]?.["KillMode"]).toEqual(["process"]);
});

test("the daemon knows the flags that the service managers pass", () => {
  for (const file of [UNIT, PLIST]) {
    const [, flags = ""] = /blemeesd( --[a-z -]+)/.exec(readFileSync(file, "utf8")) ?? [];
    const { takeover, values } = parseFlags(flags.trim().split(" "));
    expect([takeover, values], file).toEqual([true, { leave_agents: "true" }]);
  }
});

test("systemd waits longer than the daemon needs to stop", () => {
  expect(Number.parseInt(readUnit()["Service"]?.["TimeoutStopSec"]?.[0] ?? "", 10)).toBeGreaterThan(35);
});

test.runIf(hasPython)(
  "the launchd plist is well formed, and restarts only after a crash, not too fast",
  () => {
    const dump = "import json,plistlib,sys; print(json.dumps(plistlib.load(open(sys.argv[1],'rb'))))";
    const { stdout, stderr } = python(dump, PLIST);
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toMatchObject({
      Label: "com.blemees.blemeesd",
      KeepAlive: { SuccessfulExit: false },
      ThrottleInterval: 5,
      AbandonProcessGroup: true,
      RunAtLoad: true,
    });
  },
);

test("the package has the programs, their threads and the dashboard", () => {
  const packed = spawnSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { encoding: "utf8" });
  const [{ files }] = JSON.parse(packed.stdout) as [{ files: { path: string }[] }];
  const paths = files.map(({ path }) => path);
  for (const name of [
    "blemees.js",
    "blemeesd.js",
    "sm.js",
    "store-worker.js",
    "observe-worker.js",
    "web/index.html",
  ])
    expect(paths).toContain(`dist/${name}`);
  const page = readFileSync("dist/web/index.html", "utf8");
  const named = [...page.matchAll(/"\/(web\/[^"]+)"/g)].map(([, path = ""]) => `dist/${path}`);
  expect(named.length).toBeGreaterThan(1);
  for (const path of named) expect(paths).toContain(path);
});
