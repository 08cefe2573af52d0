import { expect, test } from "vitest";
import { RunEnd } from "../../src/backends/run-end.ts";
import { gate } from "../support/gate.ts";
import { Recorder } from "./recorder.ts";

function setUp() {
  const heard: string[] = [];
  const sink = new Recorder();
  sink.ended = ({ message }) => heard.push(`ended: ${message}`);
  const server = { isAlive: true, stop: async () => undefined };
  const release = async (how: string) => void heard.push(`release ${how}`);
  const end = new RunEnd({ lease: { server, isOwn: false, release }, sink, marker: "no-process-has-this" });
  return { end, heard };
}

test("the end is reported once, after the process was released, to every waiter", async () => {
  const { end, heard } = setUp();
  end.tell({ expected: false, message: "crashed" }, () => heard.push("told"));
  end.tell({ expected: true, message: "closed" }, () => heard.push("told again"));
  expect(end.hasBegun).toBe(true);
  await end.gone;
  expect(heard).toEqual(["release now", "ended: crashed", "told"]);
});

test("two concurrent stops wait for the same end, and the more urgent one shortens the wait of the other", async () => {
  const { end, heard } = setUp();
  const leave = async () => {
    heard.push("leave");
    await end.hurried;
    end.tell({ expected: true, message: "closed" }, () => undefined);
  };
  const patient = end.stop("finish", leave);
  expect([end.isWanted, end.isStopping]).toEqual([true, true]);
  await Promise.all([end.stop("now", leave), patient]);
  expect(heard).toEqual(["leave", "release now", "ended: closed"]);
});

test("stop resolves only after the end was reported", async () => {
  const { end, heard } = setUp();
  const left = gate();
  const stopped = end.stop("now", async () => left.open()).then(() => heard.push("stopped"));
  await left.passed;
  end.tell({ expected: true, message: "closed" }, () => undefined);
  await stopped;
  expect(heard).toEqual(["release now", "ended: closed", "stopped"]);
});
