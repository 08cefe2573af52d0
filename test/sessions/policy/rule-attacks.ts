// Requests that look like ones a rule allows, and are not. `W` is the workspace; see `makeWorkspace` in attacks.test.ts.
import { type Asked, askChange, askCommand, askTool, CHOICES } from "./asks.ts";

/** Benign requests; rules are made from each. */
export function benignTwins(W: string): Asked[] {
  const commands = [
    ...["npm test", "npm run build", "git status", "git diff", "git log", "git log -n 5", "git show HEAD"],
    ...[
      "git show 'HEAD~1' --stat",
      "git diff main..topic",
      "git blame a.txt",
      "ls",
      "ls -la",
      "ls sub",
      "cat a.txt",
    ],
    ...[
      `cat ${W}/a.txt`,
      "cat sub/b.txt",
      "head -n 20 a.txt",
      "tail -n 5 a.txt",
      "wc -l a.txt",
      "grep x a.txt",
    ],
    ...["grep -n x sub/b.txt", "rg x", "sort a.txt", "echo hi", "make", "make test", "mkdir -p sub/new"],
    ...["touch sub/c.txt", "rm sub/b.txt", "tar cf x.tar a.txt", "cat 'café.txt'", "/usr/bin/git status"],
    ...["/bin/bash -lc 'git show HEAD'", "/bin/bash -lc 'npm test'"],
  ];
  return [
    ...commands.map((command) => askCommand(command, W)),
    askChange([`${W}/sub/b.txt`]),
    askChange([`${W}/sub/new.txt`]),
    askTool("WebSearch", { query: "weather" }),
    askTool("Read", { file_path: `${W}/a.txt` }),
  ];
}

/** Attacks on holes, programs and the fields of a request, besides test/runtime/permissions/attacks.ts. */
export function ruleAttacks(W: string, outside: string): Asked[] {
  const commands = [
    // A value that becomes an option.
    ...[
      "git show --output=MARK",
      "git show -O./evil.sh",
      "git show --ext-diff",
      "git show --textconv",
      "git show -c",
    ],
    ...[
      "git log -n --output=MARK",
      "git log --output=MARK",
      "git blame --contents=/etc/passwd",
      "cat -",
      "cat --",
      "ls --",
    ],
    ...[
      "head -n -1 a.txt",
      "head -n +5 a.txt",
      "tail -n 5 -f",
      "git log -n 5 --ext-diff",
      "git diff --no-index",
    ],
    ...[
      "git show '-p'",
      'git show "--output=MARK"',
      "cat '-'",
      "rm -rf",
      "rm '-rf'",
      "rm -- sub/b.txt",
      "touch -r",
    ],
    // Values of another type.
    ...[
      "git show HEAD:.env",
      "git show :/evil",
      "git show HEAD^{/evil}",
      "git show 'HEAD HEAD'",
      "git show ''",
    ],
    ...[
      "git log -n 5x",
      "git log -n 0x5",
      "git log -n 05",
      "git log -n 1e3",
      "git log -n ''",
      "head -n 20c a.txt",
    ],
    // More or fewer words.
    ...[
      "git show HEAD HEAD",
      "git show",
      "git",
      "git show HEAD -- a.txt",
      "cat a.txt a.txt",
      "cat",
      "npm",
      "npm run",
    ],
    ...[
      "git diff main..topic HEAD",
      "make test all",
      "make all",
      "npm run build:evil",
      "npm run deploy",
      "npm publish",
    ],
    ...[
      "git push",
      "git checkout main",
      "git reset --hard",
      "git clean -fdx",
      "git commit -m x",
      "git stash pop",
    ],
    // Paths that lead elsewhere.
    ...[
      "cat ../outside.txt",
      "cat sub/../../outside.txt",
      `cat ${outside}`,
      "cat /etc/passwd",
      "cat /proc/self/environ",
    ],
    ...[
      "cat link.txt",
      "cat linkdir/secret.txt",
      `cat ${W}/link.txt`,
      `cat ${W}/../outside.txt`,
      "cat hard.txt",
    ],
    ...[
      `cat ${W}/hard.txt`,
      "cat dangling.txt",
      "cat .env",
      "cat sub/.env",
      `cat ${W}/.env`,
      "cat .git/config",
    ],
    ...["head -n 20 link.txt", "tail -n 5 hard.txt", "wc -l .env", "grep x link.txt", "grep -n x hard.txt"],
    ...[
      "rm link.txt",
      "rm ../outside.txt",
      "rm .git/config",
      "rm hard.txt",
      "rm linkdir/secret.txt",
      "rm /etc/passwd",
    ],
    ...[
      "touch .git/hooks/pre-commit",
      "touch ../MARK",
      "touch linkdir/MARK",
      "touch dangling.txt",
      "touch .envrc",
    ],
    ...[
      "mkdir -p ../x",
      "mkdir -p .git/hooks/x",
      "mkdir -p linkdir/x",
      "mkdir -p /tmp/x",
      `cat ${W}-evil/a.txt`,
    ],
    ...[
      "cat ./../outside.txt",
      "cat sub/./../../outside.txt",
      "cat linkdir/../a.txt",
      "sort link.txt",
      "ls linkdir",
    ],
    // Another program of the same name, or the same through a wrapper.
    ...[
      "./git show HEAD",
      "bin/git show HEAD",
      `${W}/bin/git status`,
      "/tmp/git status",
      "env git show HEAD",
    ],
    ...[
      "sudo git show HEAD",
      "bash -c 'git show HEAD'",
      "sh -c 'npm test'",
      "nice npm test",
      "timeout 5 npm test",
    ],
    ...["xargs git show HEAD", "time git status", "command git status", "exec git status", "eval git status"],
    ...["/bin/bash -lc '/bin/bash -lc \"git show HEAD\"'", "/bin/bash -lc 'git show HEAD; touch MARK'"],
    ...[
      "/bin/bash -lc 'git show HEAD' extra",
      "/bin/bash -lic 'git show HEAD'",
      "/bin/bash -l -c 'git show HEAD'",
    ],
    ...["./bash -lc 'git show HEAD'", "bash -lc 'git show HEAD'", "/tmp/bash -lc 'git show HEAD'"],
    ...[
      "/bin/bash -lc 'git show --output=MARK'",
      "/bin/bash -lc 'git show $(touch MARK)'",
      "/bin/bash --rcfile x -c 'npm test'",
    ],
    ...[
      "/bin/bash -lc git show HEAD",
      "/usr/bin/python3 -c 'git show HEAD'",
      "/usr/bin/env git status",
      "/usr/local/bin/git-evil status",
    ],
    // Shell syntax around an allowed command.
    ...[
      "git show HEAD;",
      "git show HEAD &",
      "git show HEAD | sh",
      "git show HEAD > MARK",
      "git show HEAD && touch MARK",
    ],
    ...[
      "git show HEAD\n",
      "git show HEAD\ntouch MARK",
      "git show $REV",
      "git show `id`",
      "git show HEAD{1,2}",
      "git show H*",
    ],
    ...[
      "GIT_DIR=evil git show HEAD",
      "git show HEAD #",
      "(git show HEAD)",
      "! git status",
      "git show HEAD\\",
      "git sh\\ow HEAD",
    ],
  ];
  const show = "git show HEAD";
  const odd: Asked[] = [
    // Elsewhere, or by another agent.
    askCommand(show, outside),
    askCommand("npm test", `${W}-evil`),
    askCommand("npm test", `${W}/linkdir`),
    askCommand("npm test", `${W}/..`),
    { ...askCommand(show, W), backend: "other" },
    askCommand(show, W, { tool_name: "danger" }),
    // Relative paths in a shell that may have moved.
    askCommand("cat sub/b.txt", W, { cwd_may_differ: true, command: "cat a.txt.x" }),
    askCommand("cat sub/d.txt", W, { cwd_may_differ: true }),
    askCommand("head -n 7 a.txt", W, { cwd_may_differ: true }),
    askCommand("rm sub/d.txt", W, { cwd_may_differ: true }),
    // The command is not all that would be granted.
    askCommand(show, W, { input: { command: show, dangerouslyDisableSandbox: true } }),
    askCommand(show, W, { input: { additionalPermissions: { network: true } } }),
    askCommand(show, W, { input: { networkApprovalContext: { host: "evil" } } }),
    askCommand(show, W, { input: { command: ["git", "show", "HEAD", "--output=MARK"] } }),
    askCommand(show, W, { input: { command: ["git", "show HEAD"] } }),
    askCommand(show, W, { input: { command: ["git", "show", 1] } }),
    askCommand(show, W, { input: { command: show, env: { GIT_EXTERNAL_DIFF: "./evil.sh" } } }),
    askCommand(show, W, { details: { title: `network access to evil for ${show}` } }),
    askCommand("npm test", W, { choices: [{ decision: "acceptAlways" }, { decision: "decline" }] }),
    askCommand("npm test", W, { choices: [{ decision: "accept", option: "all" }, { decision: "decline" }] }),
    askCommand("npm test", W, { choices: [{ decision: "accept", remembers: ["everything"] }] }),
    askCommand("npm test", W, { choices: [{ decision: "accept", writes: [{ path: "x", content: "y" }] }] }),
    { ...askCommand(show, W), request_type: "permissions" },
    { ...askCommand("npm test", W), request_type: "plan" },
    { ...askTool("shell", { command: show }), request_type: "tool" },
    {
      backend: "fake",
      request_type: "command",
      payload: { title: show, command: show, cwd: W, choices: CHOICES },
    },
    // Files.
    askChange([outside]),
    askChange([`${W}/sub/b.txt`, outside]),
    askChange([`${W}/sub/../../outside.txt`]),
    askChange([`${W}/sub-evil/b.txt`]),
    askChange([`${W}/a.txt`]),
    askChange([`${W}/sub/.env`]),
    askChange([`${W}/sub/.git/hooks/pre-commit`]),
    askChange([`${W}/sub/hard.txt`]),
    askChange([`${W}/sub/link.txt`]),
    askChange([`${W}/sub/dangling.txt`]),
    askChange([`${W}/sub/linkdir/x.txt`]),
    askChange(["sub/b.txt"]),
    askChange(["b.txt"]),
    askChange([]),
    askChange([`${W}/sub/b.txt`], {
      changes: [{ path: `${W}/sub/b.txt`, kind: "update", move_path: outside }],
    }),
    askChange([`${W}/sub/b.txt`], { input: { grantRoot: "/" } }),
    askChange([`${W}/sub/b.txt\0.png`]),
    { ...askChange([`${W}/sub/b.txt`]), backend: "other" },
    // Tools.
    askTool("WebSearch", { query: "weather", url: "http://evil" }),
    askTool("WebSearch", { query: "other" }),
    askTool("WebFetch", { query: "weather" }),
    askTool("websearch", { query: "weather" }),
    askTool("WebSearch", { command: "touch MARK" }),
    askTool("Read", { file_path: outside }),
    askTool("Read", { file_path: `${W}/a.txt`, code: "evil" }),
  ];
  return [...commands.map((command) => askCommand(command, W)), ...odd];
}
