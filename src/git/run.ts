// Runs git: an absolute program, a fixed argv, no shell, a short environment, limits of time and output. What a repository
// configures to run (hooks, fsmonitor, pager, editor, external diff) does not run; filters and textconv are the business of
// the commands that could start them (checkpoint.ts).
import { type Child, startChild } from "../base/child.ts";
import { CodedError } from "../base/coded-error.ts";
import { defined } from "../base/values.ts";

type Env = Readonly<Record<string, string | undefined>>;

export interface GitOrder {
  /** The subcommand and its arguments. Values of others go after `--` or `--end-of-options`, or to stdin. */
  args: readonly string[];
  /** Absolute. */
  cwd: string;
  /** GIT_DIR, GIT_WORK_TREE, GIT_INDEX_FILE and the like. */
  env?: Readonly<Record<string, string>>;
  /** Settings for this call, such as `core.excludesFile=/path`. */
  config?: readonly string[];
  input?: Buffer;
  timeoutMs?: number;
  /** The call fails if git writes more, unless what it wrote so far is enough. */
  maxBytes?: number;
  isCutAtLimit?: boolean;
  /** Also reads the user's and the system's configuration: for commands that need credentials or a name. */
  usesUserConfig?: boolean;
  signal?: AbortSignal;
}

export interface GitResult {
  /** 0 on success; undefined if a signal ended it. */
  code?: number;
  stdout: Buffer;
  /** Its last lines, on one line. */
  stderr: string;
  /** The output is incomplete, because of `isCutAtLimit`. */
  isCut?: true;
}

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_ERROR_LINES = 20;
const GRACE_MS = 200;

/** Later than any configuration file. */
const SETTINGS = [
  "core.fsmonitor=false",
  "core.hooksPath=/dev/null",
  "core.untrackedCache=false",
  "core.pager=cat",
  "core.editor=false",
  "core.askPass=",
  "core.quotePath=false",
  "diff.external=",
  "diff.submodule=short",
  "submodule.recurse=false",
  "commit.gpgSign=false",
  "log.showSignature=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "protocol.ext.allow=never",
  "advice.detachedHead=false",
];

/** From the daemon's environment: what git needs to run, and to find the user's configuration and credentials. */
const KEPT = ["PATH", "TMPDIR"];
const KEPT_FOR_USER = ["HOME", "XDG_CONFIG_HOME", "USER", "LOGNAME", "SSH_AUTH_SOCK", "SSL_CERT_FILE"];

const OWN_ENV = {
  LC_ALL: "C",
  GIT_TERMINAL_PROMPT: "0",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_LITERAL_PATHSPECS: "1",
  GIT_PAGER: "cat",
  GIT_EDITOR: "false",
  GIT_ADVICE: "0",
};
const NO_USER_ENV = {
  HOME: "/dev/null",
  XDG_CONFIG_HOME: "/dev/null",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_ATTR_NOSYSTEM: "1",
};

export class Git {
  readonly program: string;
  readonly #env: Env;

  constructor(program: string, env: Env) {
    this.program = program;
    this.#env = env;
  }

  /** Returns the exit code. Throws `git_failed` if git does not start, takes too long or writes too much. */
  async run(order: GitOrder): Promise<GitResult> {
    const { timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES, isCutAtLimit = false, signal } = order;
    if (signal?.aborted === true) throw gitError(order, "was cancelled");
    const chunks: Buffer[] = [];
    const errors: string[] = [];
    let bytes = 0;
    let fault: string | undefined;
    let isCut = false;
    let child: Child | undefined;
    const end = (why: string): void => {
      fault ??= why;
      void child?.stop({ graceMs: GRACE_MS });
    };
    const timer = setTimeout(end, timeoutMs, `took longer than ${timeoutMs} ms`).unref();
    const cancel = () => end("was cancelled");
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      child = await startChild(this.#toChild(order), {
        output: (chunk) => {
          bytes += chunk.length;
          if (bytes <= maxBytes) return void chunks.push(Buffer.from(chunk));
          isCut = isCutAtLimit;
          if (isCut) void child?.stop({ graceMs: GRACE_MS });
          else end(`wrote more than ${maxBytes} bytes`);
        },
        errorLine: (line) => {
          errors.push(line);
          if (errors.length > MAX_ERROR_LINES) errors.shift();
        },
      });
      if (fault !== undefined) end(fault);
      const { code } = await child.done;
      if (fault !== undefined) throw gitError(order, fault);
      return {
        ...defined({ code }),
        stdout: Buffer.concat(chunks),
        stderr: errors.join("; ").slice(0, 2000),
        ...(isCut ? { isCut: true as const } : {}),
      };
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", cancel);
    }
  }

  /** The output of a command that must succeed. Throws `git_failed`. */
  async expect(order: GitOrder): Promise<Buffer> {
    const { code, stdout, stderr } = await this.run(order);
    if (code !== 0) throw gitError(order, stderr === "" ? `ended with code ${code ?? "none"}` : stderr);
    return stdout;
  }

  #toChild({ args, cwd, env = {}, config = [], input = Buffer.alloc(0), usesUserConfig = false }: GitOrder) {
    const settings = [...SETTINGS, ...config].flatMap((setting) => ["-c", setting]);
    return {
      command: this.program,
      args: ["--no-pager", ...settings, ...args],
      cwd,
      input,
      env: {
        ...pick(this.#env, usesUserConfig ? [...KEPT, ...KEPT_FOR_USER] : KEPT),
        ...OWN_ENV,
        ...(usesUserConfig ? {} : NO_USER_ENV),
        ...env,
      },
      // It starts nothing that would outlive it; when it is stopped, its descendants are looked for.
      endsWhole: true,
    };
  }
}

export function gitError({ args }: Pick<GitOrder, "args">, what: string): CodedError {
  return new CodedError("git_failed", `git ${args[0] ?? ""} ${what}`);
}

function pick(env: Env, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}
