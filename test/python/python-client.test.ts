// A client in another language, written from the protocol: if it and our schemas agree, the contract is real.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { INBOUND, type InboundType } from "../../src/protocol/wire/blemees2.ts";
import { startDaemon } from "../support/daemon.ts";
import type { Frame } from "../support/raw-client.ts";
import { checkOutbound } from "../support/schemas.ts";

interface Entry {
  dir: "in" | "out";
  conn: number;
  frame: Frame;
  bad?: true;
}

const hasPython = spawnSync("python3", ["--version"]).status === 0;

test.skipIf(!hasPython)(
  "a Python client drives every verb, and the schemas describe everything it sent and received",
  async () => {
    const daemon = await startDaemon();
    try {
      const cwd = join(daemon.home, "project");
      mkdirSync(cwd);
      const record = join(daemon.home, "record.ndjson");
      const { code, output } = await runClient([daemon.socket, record, cwd]);
      expect(output).toMatch(/^ok \d+ checks\n$/);
      expect(code).toBe(0);

      const entries = readFileSync(record, "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as Entry);
      const sent = entries.filter((entry) => entry.dir === "out");
      for (const { frame, bad } of sent) {
        const accepted = INBOUND[frame.type as InboundType]?.safeParse(frame).success ?? false;
        expect(accepted, JSON.stringify(frame)).toBe(bad !== true);
      }
      checkOutbound(entries.filter((entry) => entry.dir === "in").map((entry) => entry.frame));
      expect(new Set(sent.filter((entry) => entry.bad !== true).map((entry) => entry.frame.type))).toEqual(
        new Set(Object.keys(INBOUND)),
      );
    } finally {
      await daemon.close();
    }
  },
);

test.skipIf(hasPython)("python3 is missing: the Python client was not run", () => undefined);

function runClient(args: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn("python3", [join(import.meta.dirname, "client.py"), ...args], { timeout: 55_000 });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, output })));
}
