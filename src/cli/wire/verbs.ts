// Every verb of `blemees wire` (blemeesctl). A verb with `frame` sends that frame, one with `answer` answers a request;
// the others are local to the prompt (repl.ts) or the shell (shell.ts).

import { randomBytes, randomUUID } from "node:crypto";
import { defined } from "../../base/values.ts";
import { REQUEST_ID } from "../answers.ts";
import { defineFlag, type Flag, UsageError } from "../command.ts";
import { ANY } from "../program.ts";
import { parseJsonObject, parseOpenPairs, parsePairs } from "../values.ts";
import { answerVerbs } from "./answer-verbs.ts";
import type { Verb, VerbArguments, VerbFrame } from "./verb.ts";

const TAKE: Flag = defineFlag("--take", "take the session over from its owner");
const QUIET: Flag = defineFlag("-q, --quiet", "print only the answer and errors");

export const RUN: Verb = {
  name: "run",
  usage: 'run [--backend NAME] [--cwd DIR] [--answers any] [options.KEY=VALUE…] "prompt"',
  summary: "open a session, stream one turn, close it",
  where: "shell",
  words: [0, ANY],
  flags: [
    defineFlag("-b, --backend NAME", "the agent (default: the first one of the daemon)"),
    defineFlag("--cwd DIR", "working directory (default: the current one)"),
    defineFlag("--answers WHO", "clients that may answer its requests: owner (default) or any"),
    QUIET,
  ],
  examples: ['run --backend demo "use a tool, then tell me what you did"'],
};

export const VERBS: readonly Verb[] = [
  RUN,
  simple("ping", "check that the daemon answers", () => ({ type: "blemeesd.ping", id: createRequestId() })),
  simple("status", "show the daemon's status", () => ({ type: "blemeesd.status", id: createRequestId() })),
  {
    name: "sessions",
    usage: "sessions [CWD] [--live | --cold] [--ids]",
    summary: "list sessions, all or of a directory",
    where: "both",
    words: [0, 1],
    flags: [
      defineFlag("--live", "only live sessions"),
      defineFlag("--cold", "only sessions on disk"),
      defineFlag("--ids", "print only the ids, one per line"),
    ],
    examples: ["sessions --live"],
    frame: ({ words, flags }) => ({
      type: "blemeesd.list_sessions",
      id: createRequestId(),
      ...defined({ cwd: words[0] }),
      ...(flags["live"] || flags["cold"] ? { live: flags["live"] === true } : {}),
    }),
  },
  ofSession("session-info", "session-info ID", "show tokens, turns and state of a session", ({ words }) => ({
    type: "blemeesd.session_info",
    id: createRequestId(),
    session_id: words[0],
  })),
  {
    name: "open",
    usage: "open ID|new [backend=NAME] [resume=true] [last_seen_seq=N] [answers=any] [KEY=VALUE…]",
    summary: "open a session; other keys are options of the backend (default claude)",
    where: "both",
    words: [1, ANY],
    examples: ["open new backend=demo cwd=/tmp"],
    frame: (given) => openFrame(given, {}),
  },
  {
    name: "resume",
    usage: "resume ID [backend=NAME] [last_seen_seq=N] [KEY=VALUE…]",
    summary: "resume an existing session",
    where: "both",
    words: [1, ANY],
    frame: (given) => openFrame(given, { resume: true }),
  },
  {
    ...ofSession("close", "close ID [--delete]", "close a session", ({ words, flags }) => ({
      type: "blemeesd.close",
      session_id: words[0],
      delete: flags["delete"] === true,
    })),
    flags: [defineFlag("--delete", "also delete its history"), TAKE],
  },
  {
    ...ofSession("interrupt", "interrupt ID", "stop the running turn", ({ words }) => ({
      type: "blemeesd.interrupt",
      session_id: words[0],
    })),
    flags: [TAKE],
  },
  {
    name: "send",
    usage: "send ID text…",
    summary: "send a message; in the shell, wait for the answer",
    where: "both",
    words: [1, ANY],
    verbatimFrom: 1,
    flags: [TAKE, QUIET],
    examples: ["send 5a01f0d8-… what is 2+2?"],
    frame: ({ words, rest }) =>
      userFrame(words[0], { role: "user", content: needText(rest, "send ID text…") }),
  },
  {
    name: "send-json",
    usage: "send-json ID {…}",
    summary: "send a whole message object",
    where: "both",
    words: [1, ANY],
    verbatimFrom: 1,
    flags: [TAKE, QUIET],
    examples: ['send-json ID {"role":"user","content":[{"type":"text","text":"hi"}]}'],
    frame: ({ words, rest }) => userFrame(words[0], parseJsonObject(rest)),
  },
  {
    name: "watch",
    usage: "watch ID [last_seen_seq=N]",
    summary: "follow a session that another client owns",
    where: "both",
    words: [1, 2],
    flags: [QUIET],
    examples: ["watch ID last_seen_seq=0"],
    frame: ({ words }) => ({
      type: "blemeesd.watch",
      id: createRequestId(),
      session_id: words[0],
      ...Object.fromEntries(parsePairs(words.slice(1))),
    }),
  },
  {
    ...ofSession("unwatch", "unwatch ID", "stop following a session", ({ words }) => ({
      type: "blemeesd.unwatch",
      id: createRequestId(),
      session_id: words[0],
    })),
    where: "prompt",
  },
  {
    name: "requests",
    usage: "requests [ID|REQUEST] [--all] [--ids]",
    summary: "list pending requests: all, of a session, or one with its details",
    where: "both",
    words: [0, 1],
    flags: [
      defineFlag("--all", "include settled requests: answered, expired, withdrawn, orphaned"),
      defineFlag("--ids", "print only the ids, one per line"),
      defineFlag("--limit N", "at most N, the oldest"),
      defineFlag("--after NEXT", "continue a list that ended with this cursor"),
    ],
    examples: ["requests --all"],
    frame: ({ words, flags }) => ({
      type: "blemeesd.list_requests",
      id: createRequestId(),
      ...(words[0] === undefined
        ? {}
        : { [REQUEST_ID.test(words[0]) ? "request_id" : "session_id"]: words[0] }),
      ...(flags["all"] ? { include_orphaned: true, include_settled: true } : {}),
      ...(flags["limit"] === undefined ? {} : { limit: wholeNumber("--limit", flags["limit"]) }),
      ...defined({ after: flags["after"] }),
    }),
  },
  ...answerVerbs(TAKE),
  {
    name: "raw",
    usage: "raw {…}",
    summary: "send a raw JSON frame",
    where: "both",
    words: [0, ANY],
    verbatimFrom: 0,
    examples: ['raw {"type":"blemeesd.ping","id":"1"}'],
    frame: ({ rest }) => parseJsonObject(rest) as VerbFrame,
  },
  local("connect", "connect [PATH]", "connect, and send hello", [0, 1]),
  local("disconnect", "disconnect", "disconnect from the daemon", [0, 0]),
  local("hello", "hello", "send hello again", [0, 0]),
  local("pretty", "pretty on|off", "print frames indented", [1, 1]),
  local("quiet", "quiet on|off", "hide agent.delta", [1, 1]),
  {
    ...local("help", "help [COMMAND]", "show this text, or the help of a command", [0, 1]),
    aliases: ["?"],
  },
  { ...local("quit", "quit", "exit (also Ctrl-D)", [0, 0]), aliases: ["exit", ".q"] },
];

export function findVerb(name: string): Verb | undefined {
  return VERBS.find((verb) => verb.name === name || verb.aliases?.includes(name));
}

export function takesSession(verb: Verb): boolean {
  return /[ []ID\b/.test(verb.usage);
}

export function createRequestId(): string {
  return `req_${randomBytes(4).toString("hex")}`;
}

function simple(name: string, summary: string, frame: () => VerbFrame): Verb {
  return { name, usage: name, summary, where: "both", words: [0, 0], frame };
}

function ofSession(name: string, usage: string, summary: string, frame: NonNullable<Verb["frame"]>): Verb {
  return { name, usage, summary, where: "both", words: [1, 1], frame };
}

function local(name: string, usage: string, summary: string, words: readonly [number, number]): Verb {
  return { name, usage, summary, where: "prompt", words };
}

function openFrame({ words }: VerbArguments, extra: object): VerbFrame {
  const [id, ...pairs] = words;
  const { backend, top, options } = parseOpenPairs(pairs, "claude");
  return {
    type: "blemeesd.open",
    id: createRequestId(),
    session_id: id === "new" ? randomUUID() : id,
    backend,
    ...top,
    ...extra,
    options: { [backend]: options },
  };
}

function userFrame(session_id: string | undefined, message: object): VerbFrame {
  return { type: "agent.user", session_id, message };
}

function wholeNumber(flag: string, said: string | true): number {
  const value = Number(said);
  if (!Number.isInteger(value) || value < 1)
    throw new UsageError(`${flag} must be a whole number of at least 1, not ${said}`);
  return value;
}

function needText(text: string, usage: string): string {
  if (text === "") throw new UsageError(`usage: ${usage}`);
  return text;
}
