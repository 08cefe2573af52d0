// Every verb of blemeesctl: help, completion, the prompt and the command line are made from this table.
// A verb with `frame` sends that frame, one with `answer` answers a request; the others are local to the prompt (repl.ts) or the shell (shell.ts).
import { randomBytes, randomUUID } from "node:crypto";
import { REQUEST_ID } from "../answers.ts";
import { type Flag, UsageError } from "../command.ts";
import { parseJsonObject, parseOpenPairs, parsePairs } from "../values.ts";
import { answerVerbs } from "./answer-verbs.ts";
import type { Frame, Verb, VerbArguments } from "./verb.ts";

const ANY = Number.POSITIVE_INFINITY;
const TAKE: Flag = { name: "take", summary: "take the session over from the client that drives it" };
const QUIET: Flag = { name: "quiet", short: "q", summary: "print only the answer" };

export const VERBS: readonly Verb[] = [
  {
    name: "run",
    usage: 'run [--backend NAME] [--cwd DIR] [--answers any] [options.KEY=VALUE…] "prompt"',
    summary: "open a session, stream one answer, close",
    where: "shell",
    words: [0, ANY],
    flags: [
      {
        name: "backend",
        short: "b",
        value: "NAME",
        summary: "which agent (default: the first one the daemon has)",
      },
      { name: "cwd", value: "DIR", summary: "where the agent works (default: here)" },
      { name: "answers", value: "WHO", summary: "who may answer what it asks: owner (default) or any" },
      QUIET,
    ],
    example: 'run --backend demo "use a tool, then tell me what you did"',
  },
  simple("ping", "is the daemon there?", () => ({ type: "blemeesd.ping", id: requestId() })),
  simple("status", "what the daemon is and does", () => ({ type: "blemeesd.status", id: requestId() })),
  {
    name: "sessions",
    usage: "sessions [CWD] [--live | --cold] [--ids]",
    summary: "list sessions, all or those of a directory",
    where: "both",
    words: [0, 1],
    flags: [
      { name: "live", summary: "only those in the daemon now (quick)" },
      { name: "cold", summary: "only those on disk" },
      { name: "ids", summary: "only the ids, one a line" },
    ],
    example: "sessions --live",
    frame: ({ words, flags }) => ({
      type: "blemeesd.list_sessions",
      id: requestId(),
      ...(words[0] === undefined ? {} : { cwd: words[0] }),
      ...(flags["live"] || flags["cold"] ? { live: flags["live"] === true } : {}),
    }),
  },
  ofSession("session-info", "session-info ID", "tokens, turns and state of a session", ({ words }) => ({
    type: "blemeesd.session_info",
    id: requestId(),
    session_id: words[0],
  })),
  {
    name: "open",
    usage: "open ID|new [backend=NAME] [resume=true] [last_seen_seq=N] [answers=any] [KEY=VALUE…]",
    summary: "open a session; other keys are options of the backend (default claude)",
    where: "both",
    words: [1, ANY],
    example: "open new backend=demo cwd=/tmp",
    frame: (given) => openFrame(given, {}),
  },
  {
    name: "resume",
    usage: "resume ID [backend=NAME] [last_seen_seq=N] [KEY=VALUE…]",
    summary: "open a session that existed before",
    where: "both",
    words: [1, ANY],
    frame: (given) => openFrame(given, { resume: true }),
  },
  {
    ...ofSession("close", "close ID [--delete]", "end a session", ({ words, flags }) => ({
      type: "blemeesd.close",
      session_id: words[0],
      delete: flags["delete"] === true,
    })),
    flags: [{ name: "delete", summary: "also remove what the daemon recorded" }, TAKE],
  },
  {
    ...ofSession("interrupt", "interrupt ID", "end the running turn", ({ words }) => ({
      type: "blemeesd.interrupt",
      session_id: words[0],
    })),
    flags: [TAKE],
  },
  {
    name: "send",
    usage: "send ID text…",
    summary: "send a message; in the shell: wait for the answer",
    where: "both",
    words: [1, ANY],
    verbatimFrom: 1,
    flags: [TAKE, QUIET],
    example: "send 5a01f0d8-… what is 2+2?",
    frame: ({ words, rest }) =>
      userFrame(words[0], { role: "user", content: needText(rest, "send ID text…") }),
  },
  {
    name: "send-json",
    usage: "send-json ID {…}",
    summary: "the same with a whole message object",
    where: "both",
    words: [1, ANY],
    verbatimFrom: 1,
    flags: [TAKE, QUIET],
    example: 'send-json ID {"role":"user","content":[{"type":"text","text":"hi"}]}',
    frame: ({ words, rest }) => userFrame(words[0], parseJsonObject(rest)),
  },
  {
    name: "watch",
    usage: "watch ID [last_seen_seq=N]",
    summary: "follow a session that somebody else drives",
    where: "both",
    words: [1, 2],
    flags: [QUIET],
    example: "watch ID last_seen_seq=0",
    frame: ({ words }) => ({
      type: "blemeesd.watch",
      id: requestId(),
      session_id: words[0],
      ...Object.fromEntries(parsePairs(words.slice(1))),
    }),
  },
  {
    ...ofSession("unwatch", "unwatch ID", "stop following", ({ words }) => ({
      type: "blemeesd.unwatch",
      id: requestId(),
      session_id: words[0],
    })),
    where: "prompt",
  },
  {
    name: "requests",
    usage: "requests [ID|REQUEST] [--all] [--ids]",
    summary: "what agents ask and nobody has answered: all, of one session, or that one whole",
    where: "both",
    words: [0, 1],
    flags: [
      { name: "all", summary: "also those that are over: answered, expired, withdrawn, orphaned" },
      { name: "ids", summary: "only the ids, one a line" },
      { name: "limit", value: "N", summary: "at most so many, the oldest" },
      { name: "after", value: "NEXT", summary: "those behind a list that said where it stopped" },
    ],
    example: "requests --all",
    frame: ({ words, flags }) => ({
      type: "blemeesd.list_requests",
      id: requestId(),
      ...(words[0] === undefined
        ? {}
        : { [REQUEST_ID.test(words[0]) ? "request_id" : "session_id"]: words[0] }),
      ...(flags["all"] ? { include_orphaned: true, include_settled: true } : {}),
      ...(flags["limit"] === undefined ? {} : { limit: wholeNumber("--limit", flags["limit"]) }),
      ...(flags["after"] === undefined ? {} : { after: flags["after"] }),
    }),
  },
  ...answerVerbs(TAKE),
  {
    name: "raw",
    usage: "raw {…}",
    summary: "send any JSON frame as it is",
    where: "both",
    words: [0, ANY],
    verbatimFrom: 0,
    example: 'raw {"type":"blemeesd.ping","id":"1"}',
    frame: ({ rest }) => parseJsonObject(rest) as Frame,
  },
  local("connect", "connect [PATH]", "connect (and say hello)", [0, 1]),
  local("disconnect", "disconnect", "leave the daemon", [0, 0]),
  local("hello", "hello", "say hello again", [0, 0]),
  local("pretty", "pretty on|off", "frames over several lines", [1, 1]),
  local("quiet", "quiet on|off", "hide agent.delta", [1, 1]),
  {
    ...local("help", "help [COMMAND]", "this text, or more about a command", [0, 1]),
    aliases: ["?"],
    where: "both",
  },
  { ...local("quit", "quit", "leave (also Ctrl-D)", [0, 0]), aliases: ["exit", ".q"] },
  {
    name: "completion",
    usage: "completion bash|zsh|fish",
    summary: "print a completion script for your shell",
    where: "shell",
    words: [1, 1],
    example: "completion bash >> ~/.bashrc",
  },
];

export function findVerb(name: string): Verb | undefined {
  return VERBS.find((verb) => verb.name === name || verb.aliases?.includes(name));
}

export function takesSession(verb: Verb): boolean {
  return /[ []ID\b/.test(verb.usage);
}

export function requestId(): string {
  return `req_${randomBytes(4).toString("hex")}`;
}

function simple(name: string, summary: string, frame: () => Frame): Verb {
  return { name, usage: name, summary, where: "both", words: [0, 0], frame };
}

function ofSession(name: string, usage: string, summary: string, frame: NonNullable<Verb["frame"]>): Verb {
  return { name, usage, summary, where: "both", words: [1, 1], frame };
}

function local(name: string, usage: string, summary: string, words: readonly [number, number]): Verb {
  return { name, usage, summary, where: "prompt", words };
}

function openFrame({ words }: VerbArguments, extra: object): Frame {
  const [id, ...pairs] = words;
  const { backend, top, options } = parseOpenPairs(pairs, "claude");
  return {
    type: "blemeesd.open",
    id: requestId(),
    session_id: id === "new" ? randomUUID() : id,
    backend,
    ...top,
    ...extra,
    options: { [backend]: options },
  };
}

function userFrame(session_id: string | undefined, message: object): Frame {
  return { type: "agent.user", session_id, message };
}

function wholeNumber(flag: string, said: string | true): number {
  const value = Number(said);
  if (!Number.isInteger(value) || value < 1)
    throw new UsageError(`${flag} is a number from 1 on, not ${said}`);
  return value;
}

function needText(text: string, usage: string): string {
  if (text === "") throw new UsageError(`usage: ${usage}`);
  return text;
}
