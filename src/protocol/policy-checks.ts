// What a rule may say beyond its shape. An allow rule must name exactly what it allows: a command by its words, a file by
// its directory, a tool by its name. Programs that run other programs cannot be allowed at all.
import {
  getBaseName,
  hasExecutingOption,
  isIn,
  READERS,
  runsOtherPrograms,
} from "../base/commands/programs.ts";
import { HOLES, isHoleName, readHole } from "./policy-holes.ts";

interface CheckedRule {
  then: string;
  max_uses?: number | undefined;
  when: {
    request_type?: string | string[] | undefined;
    tool?: unknown;
    argv?: string[] | undefined;
    paths_within?: string | string[] | undefined;
    cwd_within?: string | string[] | undefined;
    started_within?: string | string[] | undefined;
  };
}

export interface RuleFault {
  path: PropertyKey[];
  message: string;
}

/** Requests that a rule can allow. The others change modes or rights, or want an answer that only a person has. */
export const ALLOWABLE: ReadonlySet<string> = new Set(["command", "file_change", "tool"]);
/** Programs other than readers whose first operand is never a subcommand. */
const WITHOUT_SUBCOMMANDS = new Set("mkdir rmdir touch rm prettier eslint tsc".split(" "));

export function findAllowFault({ when, then, max_uses }: CheckedRule): RuleFault | undefined {
  const { argv, request_type, paths_within, cwd_within, started_within } = when;
  if (then === "ask" && max_uses !== undefined)
    return { path: ["max_uses"], message: "a rule that asks answers nothing, so it cannot be used up" };
  const fault = argv === undefined ? undefined : findHoleFault(argv);
  if (fault !== undefined) return { path: ["when", "argv"], message: fault };
  if (then !== "allow") return undefined;
  const unfit = [request_type ?? []].flat().find((type) => !ALLOWABLE.has(type));
  if (unfit !== undefined)
    return { path: ["when", "request_type"], message: `a rule cannot allow ${unfit} requests` };
  for (const [name, paths] of Object.entries({ paths_within, cwd_within, started_within })) {
    if ([paths ?? []].flat().some((path) => /^\/+$/.test(path)))
      return { path: ["when", name], message: "/ is every directory; name a smaller one" };
  }
  if (argv !== undefined) {
    const why = findProgramFault(argv);
    return why === undefined ? undefined : { path: ["when", "argv"], message: why };
  }
  if (paths_within === undefined && when.tool === undefined)
    return { path: ["when"], message: "an allow rule needs argv, paths_within or tool" };
  return undefined;
}

function findHoleFault(argv: readonly string[]): string | undefined {
  const unknown = argv.find((word) => {
    const name = readHole(word);
    return name !== undefined && !isHoleName(name);
  });
  if (unknown === undefined) return undefined;
  const known = Object.keys(HOLES).map((name) => `<${name}>`);
  return `unknown hole ${unknown}; known: ${known.join(", ")}`;
}

/** Why no rule may allow this command. */
function findProgramFault(argv: readonly string[]): string | undefined {
  const [program, ...rest] = argv;
  // Matches nothing.
  if (program === undefined) return undefined;
  if (readHole(program) !== undefined || program === "") return "the program must be a literal word";
  if (runsOtherPrograms(program))
    return `${program} runs other programs or code, so it cannot be allowed by a rule`;
  if (program.includes("/") && !program.startsWith("/"))
    return `${program} depends on the directory; name the program, or its absolute path`;
  const literals = argv.map((word) => (readHole(word) === undefined ? word : "x"));
  const bad = rest.find((_word, at) => hasExecutingOption([program, literals[at + 1] ?? ""]));
  if (bad !== undefined)
    return `${program} ${bad} runs another program or writes a file, so it cannot be allowed by a rule`;
  const first = rest.find((word) => !word.startsWith("-"));
  const isPlain = isIn(READERS, program) || WITHOUT_SUBCOMMANDS.has(getBaseName(program));
  if (first !== undefined && readHole(first) !== undefined && !isPlain)
    return `${first} could become a subcommand of ${program}; put a literal word before it, as in \`git show <rev>\``;
  return undefined;
}
