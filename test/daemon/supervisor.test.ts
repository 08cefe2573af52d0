import { expect, test } from "vitest";
import { findSupervisor, type Surroundings } from "../../src/daemon/supervisor.ts";

const linux: Surroundings = { platform: "linux", pid: 42, ppid: 7, uid: 1000, cgroup: "" };
const unit = (cgroup: string) => findSupervisor({ SYSTEMD_EXEC_PID: "42" }, { ...linux, cgroup });

test("a daemon that nothing supervises", () => {
  expect(findSupervisor({}, linux)).toBeUndefined();
  expect(findSupervisor({}, { ...linux, platform: "darwin", ppid: 1 })).toBeUndefined();
});

test("a daemon of a user unit is restarted and read by the unit's name", () => {
  const path = "/user.slice/user-1000.slice/user@1000.service/app.slice/agents.service";
  expect(unit(`0::${path}\n`)).toEqual({
    name: "systemd",
    restart: "systemctl --user restart agents.service",
    logs: "journalctl --user -u agents.service",
  });
});

test("a daemon of a system unit is not looked for among the user's", () => {
  expect(unit("0::/system.slice/blemeesd.service\n")?.restart).toBe("systemctl restart blemeesd.service");
});

test("without a readable control group the name is the one of our own unit", () => {
  expect(unit("")?.restart).toBe("systemctl --user restart blemeesd.service");
});

test("a daemon that was started in a terminal of a unit has the unit's variables, but is not its main process", () => {
  const env = { SYSTEMD_EXEC_PID: "41", INVOCATION_ID: "f00" };
  expect(findSupervisor(env, { ...linux, cgroup: "0::/user@1000.service/gnome-terminal.service\n" })).toBe(
    undefined,
  );
});

test.each([
  [{ XPC_SERVICE_NAME: "com.blemees.blemeesd" }, 1, "launchctl kickstart -k gui/1000/com.blemees.blemeesd"],
  [{ XPC_SERVICE_NAME: "application.com.apple.Terminal.1" }, 7, undefined],
  [{ XPC_SERVICE_NAME: "0" }, 1, undefined],
])("on macOS, %j with parent %d: %s", (env, ppid, restart) => {
  const found = findSupervisor(env, { ...linux, platform: "darwin", ppid });
  expect(found?.restart).toBe(restart);
});
