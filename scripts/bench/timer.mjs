// timer.c for machines without a C compiler: same arguments, but it does not know the CPU time.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { isAnswering } from "./hello.mjs";

const PATIENCE_MS = 20_000;
const [until, ...rest] = process.argv.slice(2);
const socketPath = until === "hello" ? rest.shift() : undefined;
const [program, ...args] = rest;
if (program === undefined) fail("usage: timer exit|hello [SOCKET] PROGRAM ARG...");

const startedAt = performance.now();
const child = spawn(/** @type {string} */ (program), args, { stdio: ["inherit", "ignore", "inherit"] });
const exited = once(child, "exit");
if (socketPath !== undefined) {
  while (!(await isAnswering(socketPath))) {
    if (child.exitCode !== null) fail("it exited before it listened");
    if (performance.now() - startedAt > PATIENCE_MS) fail("it does not listen");
  }
} else if ((await exited)[0] !== 0) fail("the program failed");
const wallMs = performance.now() - startedAt;
child.kill();
await exited;
console.log(JSON.stringify({ wall_ns: Math.round(wallMs * 1e6) }));

/** @param {string} what */
function fail(what) {
  process.stderr.write(`timer: ${what}\n`);
  process.exit(1);
}
