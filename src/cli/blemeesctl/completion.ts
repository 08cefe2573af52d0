// What the completion scripts of blemeesctl are made from: the verb table.
import { type CompletionTable, SHELLS, completionScript as scriptOf } from "../completion.ts";
import { COMMON_FLAGS, PROGRAM_FLAGS } from "./help.ts";
import type { Verb } from "./verb.ts";
import { takesSession, VERBS } from "./verbs.ts";

export function completionScript(shell: string): string {
  return scriptOf(shell, tableOf());
}

function tableOf(): CompletionTable {
  return {
    program: "blemeesctl",
    commands: VERBS.filter((verb) => verb.where !== "prompt").map((verb) => ({
      name: verb.name,
      summary: verb.summary,
      flags: verb.flags,
      words: verb.name === "completion" ? SHELLS : undefined,
      takes: takenBy(verb),
    })),
    programFlags: PROGRAM_FLAGS,
    commonFlags: COMMON_FLAGS,
    asks: { session: "blemeesctl sessions --live --ids", request: "blemeesctl requests --ids" },
  };
}

function takenBy(verb: Verb): string | undefined {
  if (verb.answer !== undefined) return "request";
  return takesSession(verb) ? "session" : undefined;
}
