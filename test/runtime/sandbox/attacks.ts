// The attacks: each prints ESCAPED when it works. `control` says where the same line is known to work without a sandbox
// ("anywhere", or for "root"); with "nowhere" only the marker shows that the line was run.
import { CHECKED_CALLS, REFUSED_CALLS } from "../../../src/runtime/sandbox/seccomp.ts";
import type { Ground } from "./ground.ts";

export interface Attack {
  name: string;
  command: string;
  control: "anywhere" | "root" | "nowhere";
}

const column = process.arch === "arm64" ? 1 : 0;
const EPERM = 1;
const ENOSYS = 38;

/** A raw system call from Perl, which every Debian has. It escapes unless it fails with `errno`. */
export function call(name: string, args: string, errno = EPERM): string {
  const numbers = REFUSED_CALLS[name] ??
    (CHECKED_CALLS as Record<string, readonly [number, number]>)[name] ?? [-1, -1];
  return `perl -e 'my @a = (${args}); my $r = syscall(${numbers[column]}, @a); print(($r == -1 && $! == ${errno}) ? "held\\n" : "ESCAPED $r $!\\n")'`;
}

const connect = (address: string): string =>
  `perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) or die "no socket: $!"; connect(S, ${address}) or die "no way: $!"; print <S>'`;

export function attacksOn(ground: Ground): Attack[] {
  const { workspace, outside, state, settings, base, bystander } = ground;
  const all = (control: Attack["control"], rows: Record<string, string>): Attack[] =>
    Object.entries(rows).map(([name, command]) => ({ name, command, control }));
  return [
    ...all("anywhere", {
      "write a new file outside": `echo x > ${outside}/new && echo ESCAPED`,
      "append to a file outside": `echo x >> ${outside}/victim && echo ESCAPED`,
      "delete a file outside": `rm -f ${outside}/victim && echo ESCAPED`,
      "change a mode outside": `chmod 777 ${outside}/victim && echo ESCAPED`,
      "move the workspace's files out": `mv README.md ${outside}/ && echo ESCAPED`,
      "write through a symbolic link": `ln -s ${outside} link; echo x > link/new && echo ESCAPED`,
      "write through a link to a file": `ln -s ${outside}/victim link; echo x >> link && echo ESCAPED`,
      "write through a hard link": `ln ${outside}/victim hard && echo x >> hard && echo ESCAPED`,
      "write through /proc/self/cwd": `(cd /proc/self/cwd/../outside && echo x > new && echo ESCAPED)`,
      "write through /proc/self/root": `echo x > /proc/self/root${outside}/new && echo ESCAPED`,
      "write next to the workspace": `echo x > ../evil && echo ESCAPED; rm -f ../evil`,
      "write to the home directory": `[ -w "$HOME" ] && echo ESCAPED`,
      "read a hidden directory": `grep -q TOPSECRET ${state}/secret && echo ESCAPED`,
      "list a hidden directory": `ls ${state} | grep -q secret && echo ESCAPED`,
      "read a hidden directory through a link": `ln -s ${state} link; grep -q TOPSECRET link/secret && echo ESCAPED`,
      "read a hidden directory through dots": `grep -q TOPSECRET ${outside}/../state/secret && echo ESCAPED`,
      "read a hidden file": `grep -q TOPSECRET ${settings} && echo ESCAPED`,
      "read .env": "grep -q TOPSECRET .env && echo ESCAPED",
      "read .env further down": "grep -q TOPSECRET packages/a/.env.local && echo ESCAPED",
      "read .env with a recursive search": "grep -rqs TOPSECRET . && echo ESCAPED",
      "read .env through a link": "ln -s .env link; grep -q TOPSECRET link && echo ESCAPED",
      "read .env through a hard link": "ln .env hard && grep -q TOPSECRET hard && echo ESCAPED",
      "read .env by another name": "grep -q TOPSECRET packages/settings && echo ESCAPED",
      "read .env by another name further down": "grep -q TOPSECRET packages/lib/x && echo ESCAPED",
      "read .envrc": "grep -q TOPSECRET .envrc && echo ESCAPED",
      "read .env through /proc": `grep -q TOPSECRET /proc/self/root${workspace}/.env && echo ESCAPED`,
      "read .env after a move of its directory":
        "mv packages p; grep -q TOPSECRET p/a/.env.local && echo ESCAPED",
      "delete .env": "rm -f .env && echo ESCAPED",
      "replace .env": "echo KEY=evil > new; mv -f new .env && echo ESCAPED",
      "add a git hook": "echo evil > .git/hooks/pre-commit && echo ESCAPED",
      "change git's config": "echo evil >> .git/config && echo ESCAPED",
      "change git's config as git does": "cp .git/config new; mv -f new .git/config && echo ESCAPED",
      "replace .git": "mv .git old && mkdir .git && echo ESCAPED",
      "change the config of a nested repository": "echo evil >> packages/a/.git/config && echo ESCAPED",
      "change our project config": "echo evil > .demian/config.json && echo ESCAPED",
      "replace .demian": "mv .demian old && mkdir .demian && echo ESCAPED",
      "reach a socket in a hidden directory": connect(`sockaddr_un("${state}/daemon.sock")`),
      "reach a socket that is in sight": connect(`sockaddr_un("${base}/open.sock")`),
      "reach an abstract socket": connect(`pack("S x a*", AF_UNIX, "${ground.abstractName}")`),
      "get a datagram socket by socketpair": `perl -MSocket -e 'socketpair(A, B, AF_UNIX, SOCK_DGRAM, 0) and print "ESCAPED\\n"'`,
      "signal a process outside": `kill -0 ${bystander} && echo ESCAPED`,
      "see a process outside": `grep -qs 86399 /proc/${bystander}/cmdline && echo ESCAPED`,
      "make a user namespace by unshare": call("unshare", "0x10000000"),
      "make a user namespace by clone": `${call("clone", "0x10000011, 0, 0, 0, 0")} | sort -u`,
      "make one by clone3, whose flags cannot be seen": call("clone3", "0, 0", ENOSYS),
      "trace a process": call("ptrace", "0, 0, 0, 0"),
      "read the memory of a process": call("process_vm_readv", "$$, 0, 0, 0, 0, 0"),
      "type into a terminal": call("ioctl", '0, 0x5412, "x"'),
      "type into a terminal with a disguised number": call("ioctl", '0, 0x100005412, "x"'),
    }),
    ...all("root", {
      "change a file of the system": "[ -w /etc/passwd ] && echo ESCAPED",
      "set the core pattern": "exec 7<>/proc/sys/kernel/core_pattern && echo ESCAPED",
      "write to a kernel setting": "exec 7<>/proc/sys/kernel/hostname && echo ESCAPED",
      "get a capability": "grep -q '^CapEff:.*[1-9a-f]' /proc/self/status && echo ESCAPED",
      "make a device": "mknod device c 1 3 && echo ESCAPED",
      "change the root": `perl -e 'chroot("/") and print "ESCAPED\\n"'`,
      "use the root of another process": `echo x > /proc/${bystander}/root${outside}/new && echo ESCAPED`,
      "enter a namespace of another process": `perl -e 'open(F, "/proc/${bystander}/ns/uts") and syscall(${REFUSED_CALLS["setns"]?.[column]}, fileno(F), 0) == 0 and print "ESCAPED\\n"'`,
      "become another user": "setpriv --reuid=65534 --clear-groups true && echo ESCAPED",
      "open a raw packet socket": `perl -e 'socket(S, 17, 3, 0) and print "ESCAPED\\n"'`,
    }),
    ...all("nowhere", {
      "mount the root writable": `mount -o remount,rw / && echo ESCAPED; ${call("mount", '0, "/", 0, 0x1020, 0')}`,
      "mount one directory on another": `mount --bind . ${outside} && echo ESCAPED; ${call("mount", `"${workspace}", "${outside}", 0, 0x1000, 0`)}`,
      "mount by the newer calls": `${call("open_tree", '-100, "/", 1')}; ${call("fsopen", '"tmpfs", 0')}`,
      "unmount what hides": `umount ${state} && echo ESCAPED; umount -l ${workspace}/.env && echo ESCAPED; ${call("umount2", `"${state}", 2`)}`,
      "write through /proc/1/root": `echo x > /proc/1/root${outside}/new && echo ESCAPED`,
      "leave by /proc/1/cwd": `ls /proc/1/cwd/${state} 2>/dev/null | grep -q secret && echo ESCAPED`,
      "use a file handle": `${call("name_to_handle_at", '-100, "/", 0, 0, 0')}; ${call("open_by_handle_at", "0, 0, 0")}`,
      "open a vsock": `perl -e 'socket(S, 40, 1, 0) ? print("ESCAPED\\n") : print($! == 1 ? "held\\n" : "ESCAPED $!\\n")'`,
      "open a socket of the kernel's cipher machine": `perl -e 'socket(S, 38, 5, 0) ? print("ESCAPED\\n") : print($! == 1 ? "held\\n" : "ESCAPED $!\\n")'`,
      "open a netlink socket other than for routes": `perl -e 'socket(S, 16, 3, 15) ? print("ESCAPED\\n") : print($! == 1 ? "held\\n" : "ESCAPED $!\\n")'`,
      "use the kernel's keys": `${call("keyctl", "0, -3, 0")}; ${call("add_key", '"user", "a", "b", 1, -3')}`,
      "load a BPF program": call("bpf", "0, 0, 0"),
      "use io_uring": call("io_uring_setup", "8, 0"),
      "use sudo": "sudo -n true && echo ESCAPED",
      "use a setuid program": "grep -q '^NoNewPrivs:.*1' /proc/self/status || echo ESCAPED",
      "see real devices":
        "for d in sda vda nvme0n1 mem kmsg kvm fuse loop0; do [ -e /dev/$d ] && echo ESCAPED; done; true",
      "make a control group":
        "mkdir /sys/fs/cgroup/demian-escape && echo ESCAPED; rmdir /sys/fs/cgroup/demian-escape 2>/dev/null",
      "leave its control group":
        "for f in /sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/*/cgroup.procs; do { echo 0 > $f; } 2>/dev/null && echo ESCAPED; done; true",
      "write to sysfs":
        "for f in /sys/kernel/uevent_helper /sys/kernel/mm/ksm/run; do [ -w $f ] && echo ESCAPED; done; true",
      "ask the kernel to reboot":
        "for f in sysrq-trigger irq/default_smp_affinity; do [ -w /proc/$f ] && echo ESCAPED; done; true",
      "find a descriptor that was left open": "ls /proc/self/fd | grep -vxE '[0-3]' && echo ESCAPED",
      "find a descriptor in the first process": `for f in /proc/1/fd/*; do readlink $f | grep -q ${base} && echo ESCAPED; done; true`,
      "read from our input": "read -r -t 1 line && echo ESCAPED",
      "write to our terminal": "echo x 2>/dev/null > /dev/tty && echo ESCAPED",
      "read our environment": "cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep -q TOPSECRET && echo ESCAPED",
      "find our own variables": "env | grep -E 'DEMIAN_COMMAND_ID|BLEMEES_RUN_ID' && echo ESCAPED",
    }),
  ];
}
