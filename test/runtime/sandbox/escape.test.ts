// Live attacks from inside the sandbox. Each is also run without it, where that is safe: an attack that never works
// proves nothing. Each leaves a mark in the workspace: a command that never ran proves nothing either.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { REFUSED_CALLS } from "../../../src/runtime/sandbox/seccomp.ts";
import type { Sandbox } from "../../../src/runtime/sandbox/types.ts";
import { attacksOn } from "./attacks.ts";
import { Ground, runIn, whyNoSandbox } from "./ground.ts";

const hasPerl = ["/usr/bin/perl", "/usr/local/bin/perl", "/bin/perl"].some((path) => existsSync(path));
const lacking = hasPerl ? await whyNoSandbox() : "there is no Perl to make system calls with";
const reason = process.platform === "linux" ? lacking : "these attacks are for Linux";
const isRoot = process.getuid?.() === 0;
const ground = new Ground();
// Servers and a process that the lines name.
if (reason === undefined) await ground.listen();
const attacks = attacksOn(ground);

afterAll(() => ground.close());

if (reason !== undefined) test.skip(`no escape was tried: ${reason}`, () => undefined);

describe.skipIf(reason !== undefined)("in the sandbox a command cannot", () => {
  let sandbox: Sandbox;
  let off: Sandbox;

  beforeAll(async () => {
    process.env["DEMIAN_TEST_SECRET"] = "TOPSECRET";
    sandbox = await ground.sandbox();
    off = await ground.sandbox({ mode: "off" });
  });

  afterAll(() => {
    delete process.env["DEMIAN_TEST_SECRET"];
  });

  beforeEach(() => ground.lay());

  test.each(attacks)("$name", async ({ command, control }) => {
    if (control === "anywhere" || (control === "root" && isRoot)) {
      const free = await runIn(off, ground.workspace, command);
      expect(free.output, "the control: without the sandbox it works").toContain("ESCAPED");
      ground.lay();
    }
    const held = await runIn(sandbox, ground.workspace, `${command}\necho yes > ran`);
    expect(held.adapter).toBe("linux-bwrap");
    expect(readFileSync(join(ground.workspace, "ran"), "utf8")).toBe("yes\n");
    expect(held.output).not.toContain("ESCAPED");
    // A system call that says how it was refused has also been made.
    expect(held.output.match(/^held$/gm)?.length ?? 0).toBe(command.match(/"held\\n"/g)?.length ?? 0);
    expect(existsSync(join(ground.outside, "new"))).toBe(false);
    expect(readFileSync(join(ground.outside, "victim"), "utf8")).toBe("untouched\n");
    expect(readFileSync(join(ground.workspace, ".env"), "utf8")).toContain("TOPSECRET");
  });

  test("make any of the refused system calls, while others work", async () => {
    const numbers = Object.values(REFUSED_CALLS).map((row) => row[process.arch === "arm64" ? 1 : 0]);
    const script = `for my $n (${numbers.join(",")}) { my $r = syscall($n, 0, 0, 0, 0, 0); print "$n: $r $!\\n" unless $r == -1 && $! == 1 } print "pid ", getppid() > 0 ? "ok" : "?", "\\n"`;
    const { output } = await runIn(sandbox, ground.workspace, `perl -e '${script}'`);
    expect(output).toBe("pid ok\n");
  });

  test("reach the network when it is denied, and can when it is not", async () => {
    const line = `cat < /dev/tcp/127.0.0.1/${ground.port}`;
    expect((await runIn(sandbox, ground.workspace, line)).output).toBe("ESCAPED\n");
    const denied = await runIn(
      await ground.sandbox({ network: "deny" }),
      ground.workspace,
      `${line}; echo ran`,
    );
    expect(denied.output).toMatch(/^(?!.*ESCAPED).*ran\n$/s);
  });

  test("write to the workspace in read-only mode, only to its own /tmp", async () => {
    const line = "echo x > new; echo y > /tmp/new && cat /tmp/new";
    const { output } = await runIn(await ground.sandbox({ mode: "read-only" }), ground.workspace, line);
    expect(output).toMatch(/Read-only file system\ny\n$/);
    expect(existsSync(join(ground.workspace, "new"))).toBe(false);
  });

  test("turn a writable .git into code that runs", async () => {
    const writable = await ground.sandbox({ writableGit: true });
    const line =
      "echo x > .git/written; echo x > .git/hooks/pre-commit; echo x >> .git/config; mv .git old; ls -d .git";
    const { output } = await runIn(writable, ground.workspace, line);
    expect(output).toContain(".git\n");
    expect(readFileSync(join(ground.workspace, ".git/written"), "utf8")).toBe("x\n");
    expect(existsSync(join(ground.workspace, ".git/hooks/pre-commit"))).toBe(false);
    expect(readFileSync(join(ground.workspace, ".git/config"), "utf8")).toBe("[core]\n");
    // One without hooks, as a template may leave it, does not get any.
    rmSync(join(ground.workspace, ".git/hooks"), { recursive: true });
    const again = await runIn(
      writable,
      ground.workspace,
      "mkdir -p .git/hooks; echo x > .git/hooks/pre-commit; echo ran",
    );
    expect(again.output).toMatch(/ran\n$/);
    expect(existsSync(join(ground.workspace, ".git/hooks/pre-commit"))).toBe(false);
  });
});
