// Help texts, made from the verb table.
import type { Flag } from "../command.ts";
import { flagLines, usageLines } from "../help-lines.ts";
import type { Verb } from "./verb.ts";
import { VERBS } from "./verbs.ts";

export const COMMON_FLAGS: readonly Flag[] = [
  {
    name: "socket",
    value: "PATH",
    completes: "file",
    summary: "the daemon's socket (default: $BLEMEESD_SOCKET, $XDG_RUNTIME_DIR/blemeesd.sock, …)",
  },
  { name: "json", summary: "print the daemon's frames, one JSON object a line" },
  { name: "help", short: "h", summary: "show help, also after a command" },
];
export const PROGRAM_FLAGS: readonly Flag[] = [
  ...COMMON_FLAGS,
  { name: "no-connect", summary: "start the prompt without connecting" },
  { name: "version", short: "V", summary: "print the version" },
];

export function programHelp(): string {
  return [
    "usage: blemeesctl [--socket PATH] [--json] [COMMAND …]",
    "",
    '  blemeesctl run --backend demo "use a tool"    one answer, streamed',
    "  blemeesctl sessions --live                    what runs now",
    "  blemeesctl                                    a prompt that speaks the protocol",
    "",
    "Commands:",
    ...usageLines(VERBS.filter((verb) => verb.where !== "prompt")),
    "",
    "Only at the prompt:",
    ...usageLines(VERBS.filter((verb) => verb.where === "prompt")),
    "",
    "Flags:",
    ...flagLines(PROGRAM_FLAGS),
    "",
    "Exit status: 0 done, 1 failed, 2 wrong usage.",
  ].join("\n");
}

export function promptHelp(): string {
  return [
    "Commands:",
    ...usageLines(VERBS.filter((verb) => verb.where !== "shell")),
    "",
    'Values: null, true, false, numbers, JSON, else text; quote blanks: title="two words".',
    "`help COMMAND` says more about one of them.",
  ].join("\n");
}

export function verbHelp(verb: Verb): string {
  const flags = verb.where === "prompt" ? (verb.flags ?? []) : [...(verb.flags ?? []), ...COMMON_FLAGS];
  return [
    `usage: ${verb.where === "prompt" ? "" : "blemeesctl "}${verb.usage}`,
    "",
    ...(verb.example === undefined
      ? []
      : [`  ${verb.where === "prompt" ? "" : "blemeesctl "}${verb.example}`, ""]),
    `${verb.summary[0]?.toUpperCase()}${verb.summary.slice(1)}.`,
    ...(verb.aliases === undefined ? [] : [`Also: ${verb.aliases.join(", ")}`]),
    ...(flags.length === 0 ? [] : ["", "Flags:", ...flagLines(flags)]),
  ].join("\n");
}
