// The filter, run by a small machine of our own: also for the processor that we are not on.
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { buildSeccompFilter, CHECKED_CALLS, REFUSED_CALLS } from "../../../src/runtime/sandbox/seccomp.ts";

const ALLOW = 0x7fff0000;
const REFUSE = 0x00050001;
const UNKNOWN = 0x00050026;
const KILL = 0x80000000;
const machines = [
  { arch: "x64", audit: 0xc000003e, column: 0, headers: "/usr/include/x86_64-linux-gnu/asm/unistd_64.h" },
  { arch: "arm64", audit: 0xc00000b7, column: 1, headers: "/usr/include/asm-generic/unistd.h" },
] as const;

/** What the kernel would do with a call: RET values of seccomp(2). Arguments may be 64 bits. */
function decide(program: Buffer, audit: number, nr: number, args: readonly bigint[] = []): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(nr, 0);
  data.writeUInt32LE(audit, 4);
  for (const [index, value] of args.entries()) data.writeBigUInt64LE(value, 16 + 8 * index);
  let register = 0;
  for (let at = 0; at < program.length / 8; at += 1) {
    const code = program.readUInt16LE(at * 8);
    const value = program.readUInt32LE(at * 8 + 4);
    const branch = (holds: boolean): number => program.readUInt8(at * 8 + (holds ? 2 : 3));
    if (code === 0x20) register = data.readUInt32LE(value);
    else if (code === 0x54) register = (register & value) >>> 0;
    else if (code === 0x15) at += branch(register === value);
    else if (code === 0x35) at += branch(register >= value);
    else if (code === 0x45) at += branch((register & value) !== 0);
    else if (code === 0x06) return value;
    else throw new Error(`instruction ${code} at ${at}`);
  }
  throw new Error("the program ran out");
}

describe.each(machines)("on $arch", ({ arch, audit, column, headers }) => {
  const program = buildSeccompFilter(arch) ?? Buffer.alloc(0);
  const check = (name: keyof typeof CHECKED_CALLS, ...args: (number | bigint)[]): number =>
    decide(program, audit, CHECKED_CALLS[name][column], args.map(BigInt));

  test("every refused call is refused, and the calls around them are not", () => {
    const refused = new Set(Object.values(REFUSED_CALLS).map((row) => row[column]));
    const checked = new Set<number>(Object.values(CHECKED_CALLS).map((row) => row[column]));
    for (let nr = 0; nr < 500; nr += 1) {
      if (checked.has(nr)) continue;
      expect([nr, decide(program, audit, nr)]).toEqual([nr, refused.has(nr) ? REFUSE : ALLOW]);
    }
  });

  test("another processor's calls end the process, and those of x32 do not exist", () => {
    for (const other of [0x40000003, 0xc000003e, 0xc00000b7, 0x40000028].filter((value) => value !== audit)) {
      expect(decide(program, other, 1)).toBe(KILL);
    }
    for (const nr of [0x40000000, 0x40000001, 0x40000065, 0xffffffff]) {
      expect(decide(program, audit, nr)).toBe(UNKNOWN);
    }
  });

  test("sockets are for the network and for routes only", () => {
    expect([2, 10].map((family) => check("socket", family, 1, 0))).toEqual([ALLOW, ALLOW]);
    expect(check("socket", 16, 3, 0)).toBe(ALLOW);
    expect([4, 9, 12, 15].map((protocol) => check("socket", 16, 3, protocol))).toEqual(Array(4).fill(REFUSE));
    expect([0, 1, 3, 17, 21, 29, 31, 38, 40, 44].map((f) => check("socket", f, 1, 0))).toEqual(
      Array(10).fill(REFUSE),
    );
    // The kernel looks at 32 bits, and so does the filter.
    expect(check("socket", 0x1_0000_0001n, 1, 0)).toBe(REFUSE);
  });

  test("socket pairs are allowed if they can reach no other process", () => {
    expect(check("socketpair", 1, 1 | 0x80000 | 0x800, 0)).toBe(ALLOW);
    expect(check("socketpair", 1, 5, 0)).toBe(ALLOW);
    expect(check("socketpair", 1, 2 | 0x80000, 0)).toBe(REFUSE);
    expect(check("socketpair", 30, 1, 0)).toBe(REFUSE);
  });

  test("processes and threads can be made, namespaces not", () => {
    expect(check("clone", 17)).toBe(ALLOW);
    expect(check("clone", 0x3d0f00)).toBe(ALLOW);
    for (const flag of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]) {
      expect(check("clone", flag | 17)).toBe(REFUSE);
      expect(check("unshare", flag)).toBe(REFUSE);
    }
    expect(check("unshare", 0x80)).toBe(REFUSE);
    expect(check("unshare", 0x400)).toBe(ALLOW);
    expect(check("clone3", 0, 88)).toBe(UNKNOWN);
  });

  test("nothing can be typed into a terminal", () => {
    expect([0x5412, 0x541c].map((request) => check("ioctl", 0, request))).toEqual([REFUSE, REFUSE]);
    expect(check("ioctl", 0, 0x1_0000_5412n)).toBe(REFUSE);
    expect(check("ioctl", 0, 0x5413)).toBe(ALLOW);
  });

  test.skipIf(!existsSync(headers))("the numbers are those of the kernel's headers", () => {
    const text = readFileSync(headers, "utf8");
    for (const [name, row] of Object.entries({ ...REFUSED_CALLS, ...CHECKED_CALLS })) {
      const number = new RegExp(`#define __NR(?:3264)?_${name}\\s+(\\d+)`).exec(text)?.[1];
      expect([name, number]).toEqual([name, String(row[column])]);
    }
  });
});

test("a processor without a table has no filter", () => {
  expect(buildSeccompFilter("riscv64")).toBeUndefined();
});
