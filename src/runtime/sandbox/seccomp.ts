// Builds a BPF program for `bwrap --seccomp` that refuses system calls that lead out of a sandbox and that no command needs:
// what namespaces and mounts leave open, such as Unix sockets of the host, nested namespaces and kernel interfaces.

interface Architecture {
  /** The kernel's AUDIT_ARCH_*. */
  audit: number;
  /** Column in the tables below. */
  column: 0 | 1;
}

const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
  x64: { audit: 0xc000003e, column: 0 },
  arm64: { audit: 0xc00000b7, column: 1 },
};

/** Always refused: [x86_64, aarch64]. */
export const REFUSED_CALLS: Readonly<Record<string, readonly [number, number]>> = {
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  pidfd_getfd: [438, 438],
  keyctl: [250, 219],
  add_key: [248, 217],
  request_key: [249, 218],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  setns: [308, 268],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  swapon: [167, 224],
  swapoff: [168, 225],
  reboot: [169, 142],
  acct: [163, 89],
  // io_uring opens sockets and files without passing this filter.
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
};

/** Refused depending on their arguments. */
export const CHECKED_CALLS = {
  socket: [41, 198],
  socketpair: [53, 199],
  clone: [56, 220],
  clone3: [435, 435],
  unshare: [272, 97],
  ioctl: [16, 29],
} as const satisfies Record<string, readonly [number, number]>;

const EPERM = 1;
const ENOSYS = 38;
/** Start of x86_64's x32 table, where every call has another number. */
const X32_CALLS = 0x40000000;
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const NETLINK_ROUTE = 0;
const SOCK_TYPE_MASK = 0xf;
const SOCK_STREAM = 1;
const SOCK_SEQPACKET = 5;
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const NEW_NAMESPACES = 0x7e020000;
/** CLONE_NEWTIME; for clone these bits are the exit signal. */
const NEW_TIME = 0x80;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;

const LOAD = 0x20;
const AND = 0x54;
const JUMP_EQUAL = 0x15;
const JUMP_FROM = 0x35;
const JUMP_BITS = 0x45;
const RETURN = 0x06;
const RETURN_ALLOW = 0x7fff0000;
const RETURN_ERRNO = 0x00050000;
const RETURN_KILL = 0x80000000;
/** Offsets in `struct seccomp_data`. Arguments have 64 bits; only the low halves matter here. */
const CALL_OFFSET = 0;
const ARCH_OFFSET = 4;
const argument = (index: number): number => 16 + 8 * index;

/** `arch` is `process.arch`; undefined if it is not supported. */
export function buildSeccompFilter(arch: string): Buffer | undefined {
  const machine = ARCHITECTURES[arch];
  if (machine === undefined) return undefined;
  const call = (name: keyof typeof CHECKED_CALLS): number => CHECKED_CALLS[name][machine.column];
  const code = new Assembler();

  code.op(LOAD, ARCH_OFFSET);
  code.jump(JUMP_EQUAL, machine.audit, { no: "kill" });
  code.op(LOAD, CALL_OFFSET);
  code.jump(JUMP_FROM, X32_CALLS, { yes: "unknown" });
  for (const numbers of Object.values(REFUSED_CALLS)) {
    code.jump(JUMP_EQUAL, numbers[machine.column], { yes: "refuse" });
  }
  // clone3's flags are in memory, out of reach. C libraries fall back to clone if it is missing.
  code.jump(JUMP_EQUAL, call("clone3"), { yes: "unknown" });
  code.jump(JUMP_EQUAL, call("socket"), { yes: "socket" });
  code.jump(JUMP_EQUAL, call("socketpair"), { yes: "socketpair" });
  code.jump(JUMP_EQUAL, call("clone"), { yes: "clone" });
  code.jump(JUMP_EQUAL, call("unshare"), { yes: "unshare" });
  code.jump(JUMP_EQUAL, call("ioctl"), { yes: "ioctl", no: "allow" });

  // An allowlist: each family is separate kernel code, and a network namespace does not cover all.
  code.label("socket");
  code.op(LOAD, argument(0));
  code.jump(JUMP_EQUAL, AF_INET, { yes: "allow" });
  code.jump(JUMP_EQUAL, AF_INET6, { yes: "allow" });
  code.jump(JUMP_EQUAL, AF_NETLINK, { no: "refuse" });
  code.op(LOAD, argument(2));
  code.jump(JUMP_EQUAL, NETLINK_ROUTE, { yes: "allow", no: "refuse" });

  // Programs use socket pairs to talk to their children. A datagram socket could still send to any path or name.
  code.label("socketpair");
  code.op(LOAD, argument(0));
  code.jump(JUMP_EQUAL, AF_UNIX, { no: "refuse" });
  code.op(LOAD, argument(1));
  code.op(AND, SOCK_TYPE_MASK);
  code.jump(JUMP_EQUAL, SOCK_STREAM, { yes: "allow" });
  code.jump(JUMP_EQUAL, SOCK_SEQPACKET, { yes: "allow", no: "refuse" });

  code.label("clone");
  code.op(LOAD, argument(0));
  code.jump(JUMP_BITS, NEW_NAMESPACES, { yes: "refuse", no: "allow" });

  code.label("unshare");
  code.op(LOAD, argument(0));
  code.jump(JUMP_BITS, NEW_NAMESPACES | NEW_TIME, { yes: "refuse", no: "allow" });

  code.label("ioctl");
  code.op(LOAD, argument(1));
  code.jump(JUMP_EQUAL, TIOCSTI, { yes: "refuse" });
  code.jump(JUMP_EQUAL, TIOCLINUX, { yes: "refuse", no: "allow" });

  code.label("allow");
  code.op(RETURN, RETURN_ALLOW);
  code.label("refuse");
  code.op(RETURN, RETURN_ERRNO | EPERM);
  code.label("unknown");
  code.op(RETURN, RETURN_ERRNO | ENOSYS);
  code.label("kill");
  code.op(RETURN, RETURN_KILL);
  return code.assemble();
}

interface Instruction {
  code: number;
  value: number;
  yes?: string;
  no?: string;
}

const INSTRUCTION_BYTES = 8;
const MAX_JUMP = 255;

/** Assembles instructions with labels; a jump without a label continues with the next instruction. */
class Assembler {
  readonly #code: Instruction[] = [];
  readonly #labels = new Map<string, number>();

  op(code: number, value: number): void {
    this.#code.push({ code, value });
  }

  jump(code: number, value: number, to: { yes?: string; no?: string }): void {
    this.#code.push({ code, value, ...to });
  }

  label(name: string): void {
    this.#labels.set(name, this.#code.length);
  }

  assemble(): Buffer {
    const bytes = Buffer.alloc(this.#code.length * INSTRUCTION_BYTES);
    for (const [index, { code, value, yes, no }] of this.#code.entries()) {
      const at = index * INSTRUCTION_BYTES;
      bytes.writeUInt16LE(code, at);
      bytes.writeUInt8(this.#distance(index, yes), at + 2);
      bytes.writeUInt8(this.#distance(index, no), at + 3);
      bytes.writeUInt32LE(value >>> 0, at + 4);
    }
    return bytes;
  }

  #distance(from: number, label: string | undefined): number {
    if (label === undefined) return 0;
    const distance = (this.#labels.get(label) ?? -1) - from - 1;
    if (distance < 0 || distance > MAX_JUMP) throw new RangeError(`no jump from ${from} to "${label}"`);
    return distance;
  }
}
