// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts for a shell
import { describe, expect, test } from "vitest";
import { mightRun } from "../../../src/runtime/permissions/command-rules.ts";

describe("a denial of `git push` sees it in", () => {
  test.each([
    "git push",
    "git push origin main",
    "ls; git push",
    "ls&&git push",
    "ls || git push",
    "true | git push",
    "ls\ngit push",
    "(git push)",
    "{ git push; }",
    "! git push",
    "if true; then git push; fi",
    "for r in a b; do git push $r; done",
    "f() { git push; }; f",
    "function f { git push; }; f",
    "echo $(git push)",
    'echo "$(git push)"',
    "echo `git push`",
    "cat <(git push)",
    "X=$(git push)",
    "X=1 git push",
    "git -C dir push",
    "git --no-pager -c a=b push",
    "/usr/bin/git push",
    "g'i't pu\"sh\"",
    "g\\it pus\\h",
    "$'git' $'\\x70ush'",
    "git \\\n push",
    "sudo git push",
    "sudo -u me git push",
    "env A=b git push",
    "timeout 5 git push",
    "nice -n 5 nohup git push",
    "xargs git push",
    "echo push | xargs git",
    "find . -exec git push ';'",
    "bash -c 'git push'",
    'sh -c "cd x && git push"',
    "bash -c 'bash -c \"git push\"'",
    "timeout 5 bash -c 'git push'",
    "eval git push",
    "eval 'git push'",
    "exec git push",
    "command git push",
    "trap 'git push' EXIT",
    "python3 -c 'import os; os.system(\"git push\")'",
    "node -e 'child_process.execSync(\"git push\")'",
    "ssh host 'git push'",
    "cat x | bash",
    "bash <<EOF\ngit push\nEOF",
    "bash <<< 'git push'",
    "time git push",
    "git push>log",
    "2>&1 git push",
    "while git push; do :; done",
    "case x in x) git push;; esac",
  ])("`%s`", (command) => {
    expect(mightRun("git push", command)).toBe(true);
  });

  test.each([
    "X=git; $X push",
    "git $X",
    "git${IFS}push",
    "{git,push}",
    "/usr/bin/gi? push",
    "$(echo git) push",
    "sudo $X push",
    'eval "$X"',
    'bash -c "$X"',
    'git "$@"',
  ])("`%s`, where only the shell knows", (command) => {
    expect(mightRun("git push", command)).toBe(true);
  });

  test("what is too deep or too long to be read", () => {
    expect(mightRun("git push", `${"$(".repeat(200_000)}ls`)).toBe(true);
    expect(mightRun("git push", `echo ${"a".repeat(300_000)}`)).toBe(true);
    expect(mightRun("git push", `${"sudo ".repeat(5000)}ls`)).toBe(true);
  });
});

describe("a denial of `git push` does not see it in", () => {
  test.each([
    "git status",
    "git pull",
    "ls",
    "echo git",
    "grep -r 'git push' docs",
    "echo push",
    "git log --oneline",
    "mygit push",
    "git-push",
    "npm test && git status",
    "awk '{print $1}' a.txt",
    'cd "$dir" && ls',
    '[ -n "$x" ] && ls "$x"',
    "[[ $x == y ]] && ls",
    "for f in *.ts; do wc -l $f; done",
    "timeout 5 grep x a.txt",
    "bash run.sh",
    "python3 -m pytest -k 'a and b'",
    "echo $HOME",
    "$HOME/bin/tool x",
    "A=$B ls",
    "ls > out.txt 2>&1",
    "sed -n '1,5p' a.txt",
    "",
  ])("`%s`", (command) => {
    expect(mightRun("git push", command)).toBe(false);
  });
});

test("letters of short options are found in any arrangement", () => {
  for (const command of ["rm -rf x", "rm -fr x", "rm -r -f x", "rm x -rfv", "sudo rm -f -r x"]) {
    expect(mightRun("rm -rf", command), command).toBe(true);
  }
  expect(mightRun("rm -rf", "rm -r x")).toBe(false);
});

describe("a command made to take forever", () => {
  const quoted = (text: string) => `"${text.replace(/["\\$`]/g, "\\$&")}"`;
  const nested = (depth: number): string =>
    depth === 0 ? "echo a b" : `sudo ${"sh ".repeat(60)}${quoted(nested(depth - 1))}`;

  test.each([
    ["shells within wrappers", nested(4)],
    ["very many shells", `sudo ${"sh ".repeat(40_000)}`],
    ["very many wrappers with arguments", `sudo ${"env x ".repeat(20_000)}`],
    ["substitutions that do not end", "$(".repeat(60_000)],
  ])("counts as unknown: %s", (_name, command) => {
    expect(mightRun("git push", command)).toBe(true);
  });

  test("a long list of files after a wrapper does not", () => {
    const files = Array.from({ length: 5000 }, (_, n) => `src/file-${n}.ts`).join(" ");
    expect(mightRun("git push", `timeout 60 npx eslint ${files}`)).toBe(false);
  });
});
