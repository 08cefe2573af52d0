// Tables of programs that run others, and of programs that only read. A missing name costs a question or relies on the
// sandbox; it never widens a grant, which is for one exact argv.

const names = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

export const SHELLS = names(`
  sh bash dash zsh ksh mksh pdksh ash fish csh tcsh rbash rzsh yash elvish nu nushell xonsh pwsh powershell oil osh busybox
  toybox`);

export const INTERPRETERS = names(`
  node nodejs bun deno tsx ts-node esno swc-node python pypy ipython jython micropython perl raku ruby irb jruby php lua luajit
  awk gawk mawk nawk original-awk osascript tclsh wish expect guile racket sbcl clisp ecl ocaml ghci runghc runhaskell julia
  r rscript octave erl elixir iex escript groovy scala kotlin jshell java swift dotnet gdb lldb ed ex vi vim nvim view vimdiff emacs
  nano pico less more man m4 bc dc sqlite3 psql mysql mongosh redis-cli ipython jupyter uv pipx rlwrap gnuplot`);

/** Start a program named in their arguments. */
export const WRAPPERS = names(`
  env sudo doas su runuser pkexec sg newgrp xargs parallel nice ionice chrt taskset numactl nohup timeout time watch strace ltrace
  perf valgrind rr script scriptreplay ssh rsh mosh scp sftp rsync setsid setpriv setarch linux32 linux64 prlimit cpulimit stdbuf
  unbuffer find fd fdfind flock chroot unshare nsenter bwrap firejail proot fakeroot systemd-run dbus-run-session xvfb-run
  faketime hyperfine entr watchexec nodemon concurrently npx pnpx bunx uvx direnv dotenv asdf mise nix nix-shell nix-env docker
  podman kubectl tmux screen at batch crontab socat nc ncat telnet run-parts start-stop-daemon ld.so ld-linux.so ld-linux-x86-64.so
  ld-linux-aarch64.so open xdg-open capsh sem cargo-watch catchsegv ssh-agent dbus-launch`);

/** Shell builtins. */
export const BUILTINS = names(`
  eval source . exec command builtin trap alias unalias export set shopt declare typeset local readonly let read mapfile readarray
  printf test [ unset enable hash bind complete compgen compopt fc history jobs fg bg disown wait kill suspend ulimit umask cd
  pushd popd dirs getopts shift return break continue exit logout times type caller coproc help : autoload zmodload emulate`);

/** Builtins whose arguments are commands. */
export const EVALUATORS = names("eval exec command builtin trap alias coproc");

/** Append arguments read from elsewhere. */
export const APPENDERS = names("xargs parallel sem");

/** Start nothing and read no commands from files, so the same argv always does the same. */
export const READERS = names(`
  ls cat head tail wc grep egrep fgrep rg pwd echo date file stat du df tree basename dirname realpath readlink uniq cut cmp diff
  comm nl od xxd hexdump md5sum sha1sum sha256sum sha512sum cksum tr rev fold column paste join seq sleep uname whoami id nproc true false
  which jq sort`);

/** Run their argument or write a file. Long options may be abbreviated, so prefixes count. */
const EXECUTING_OPTIONS = [
  /^--(pre(=|$)|hostname-bin|to-command|checkpoint-action|use-compress-prog|compress-prog|rsh(=|$)|exec(=|$|-batch))/,
  /^--(ext-diff|textconv|open-files-in-pager|upload-pack|receive-pack|script-shell|eval(=|$))/,
  /^-(exec|execdir|ok|okdir|delete|fprint|fprint0|fprintf|fls)$/,
];
/** The same for a single program. */
const EXECUTING_IN: Readonly<Record<string, RegExp>> = {
  date: /^-[A-Za-z]*s|^--s/,
  file: /^-[A-Za-z]*C|^--c/,
  git: /^-[A-Za-z]*O|^-c$|^--(ou|ext|textc|up|rec|config)/,
  sort: /^-[A-Za-z]*o|^--(o|c)/,
  tar: /^-[A-Za-z]*[IF]/,
  tree: /^-[A-Za-z]*[oR]/,
  // Writes to the second file.
  uniq: /^[^-]/,
  xxd: /^[^-]|^-[A-Za-z]*r/,
};

/** Only read. Programs started by `.git/config` are left to the sandbox, where `.git` is read-only. */
export const GIT_READERS = names(`
  status diff log show branch rev-parse ls-files ls-tree blame describe shortlog rev-list cat-file merge-base name-rev whatchanged
  count-objects`);

export function runsOtherPrograms(word: string): boolean {
  return [SHELLS, INTERPRETERS, WRAPPERS, BUILTINS].some((table) => isIn(table, word));
}

/** Compares the last part of a path, with or without a version suffix: "python3.11" is python. */
export function isIn(table: ReadonlySet<string>, word: string): boolean {
  const base = getBaseName(word);
  return table.has(base) || table.has(base.replace(/[-.]?\d+(\.\d+)*[a-z]?$/, ""));
}

export function getBaseName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1).toLowerCase();
}

/** An argument makes the program run another or write a file. */
export function hasExecutingOption(argv: readonly string[]): boolean {
  const [program = "", ...rest] = argv;
  const own = EXECUTING_IN[getBaseName(program)];
  return rest.some((word) => own?.test(word) === true || EXECUTING_OPTIONS.some((one) => one.test(word)));
}
