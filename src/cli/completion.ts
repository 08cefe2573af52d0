// Shell completion scripts, made from a program's command table. Ids are fetched from the daemon on Tab.
import { type Flag, UsageError } from "./command.ts";

interface CompletedCommand {
  name: string;
  summary: string;
  flags?: readonly Flag[] | undefined;
  /** Fixed words. */
  words?: readonly string[] | undefined;
  /** A key of `asks`. */
  takes?: string | undefined;
}

export interface CompletionTable {
  program: string;
  commands: readonly CompletedCommand[];
  programFlags: readonly Flag[];
  /** Flags of every command. */
  commonFlags: readonly Flag[];
  /** Commands that print candidates, one per line. */
  asks: Readonly<Record<string, string>>;
  /** The same for values of flags; `SESSION` is replaced by the command's first argument. */
  flagAsks?: Readonly<Record<string, string>>;
}

const FILE = "file";

const SCRIPTS: Record<string, (table: CompletionTable) => string> = { bash, zsh, fish };
export const SHELLS: readonly string[] = Object.keys(SCRIPTS);

export function buildCompletionScript(shell: string, table: CompletionTable): string {
  const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
  if (script === undefined) throw new UsageError(`usage: completion ${SHELLS.join("|")}`);
  return script(table);
}

function bash(table: CompletionTable): string {
  const { program, commands, programFlags } = table;
  const names = commands.map(({ name }) => name).join(" ");
  const values = listValueCompletions(table).map(({ pattern, ask }) =>
    ask === undefined
      ? `    ${pattern}) COMPREPLY=($(compgen -f -- "$current")); return ;;`
      : `    ${pattern}) COMPREPLY=($(compgen -W "$(${ask.replace("SESSION", '"$first"')} 2>/dev/null)" -- "$current")); return ;;`,
  );
  const cases = commands.map((command) => `    ${command.name}) words="${listWords(command, table)}" ;;`);
  const asks = groupByKind(table).map(
    ([names, ask]) => `    ${names.join("|")}) words="$words $(${ask} 2>/dev/null)" ;;`,
  );
  return `# ${program} completion for bash: add to ~/.bashrc
#   source <(${program} completion bash)
_${program}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" verb="" first="" previous="" word words=""
${readWords("COMP_WORDS[@]:1:COMP_CWORD-1", table)}
  case "$verb $previous" in
${values.join("\n")}
  esac
  case "$verb" in
    "") words="${names} ${joinFlags(programFlags)}" ;;
${cases.join("\n")}
  esac
  case "$verb" in
${asks.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _${program} ${program}`;
}

function zsh(table: CompletionTable): string {
  const { program, commands, programFlags } = table;
  const values = listValueCompletions(table).map(({ pattern, ask }) =>
    ask === undefined
      ? `    ${pattern}) _files; return ;;`
      : `    ${pattern}) compadd -- $(${ask.replace("SESSION", '"$first"')} 2>/dev/null); return ;;`,
  );
  const described = commands.map(({ name, summary }) => `    '${name}:${quote(summary)}'`);
  const cases = commands.map((command) => `    ${command.name}) compadd -- ${listWords(command, table)} ;;`);
  const asks = groupByKind(table).map(
    ([names, ask]) => `    ${names.join("|")}) compadd -- $(${ask} 2>/dev/null) ;;`,
  );
  return `#compdef ${program}
# ${program} completion for zsh: source <(${program} completion zsh)
_${program}() {
  local -a verbs
  verbs=(
${described.join("\n")}
  )
  local verb="" first="" previous="" word
${readWords("words[@]:1:$((CURRENT-2))", table)}
  case "$verb $previous" in
${values.join("\n")}
  esac
  case "$verb" in
    "") _describe command verbs; compadd -- ${joinFlags(programFlags)}; return ;;
${cases.join("\n")}
  esac
  case "$verb" in
${asks.join("\n")}
  esac
}
compdef _${program} ${program}`;
}

/** The loop of bash and zsh over the words so far: finds the verb, its first argument and a flag that needs a value. */
function readWords(words: string, table: CompletionTable): string {
  return `  for word in "\${${words}}"; do
    case "$previous$word" in -*) ;; *) if [ -z "$verb" ]; then verb="$word"; elif [ -z "$first" ]; then first="$word"; fi ;; esac
    case "$verb $word" in ${valuePatterns(table)}) previous="$word" ;; *) previous="" ;; esac
  done`;
}

function fish(table: CompletionTable): string {
  const { program, commands, programFlags, commonFlags } = table;
  const verbs = commands.flatMap((command) => {
    const when = `__fish_seen_subcommand_from ${command.name}`;
    const words = command.words?.map((word) => `complete -c ${program} -f -n '${when}' -a ${word}`) ?? [];
    return [
      `complete -c ${program} -f -n __fish_use_subcommand -a ${command.name} -d '${quote(command.summary)}'`,
      ...words,
      ...[...(command.flags ?? []), ...commonFlags].map((flag) => fishFlag(table, flag, when)),
    ];
  });
  return [
    `# ${program} completion for fish: ${program} completion fish | source`,
    ...programFlags.map((flag) => fishFlag(table, flag, "__fish_use_subcommand")),
    ...verbs,
    ...groupByKind(table).map(
      ([names, ask]) =>
        `complete -c ${program} -f -n '__fish_seen_subcommand_from ${names.join(" ")}' -a '(${ask} 2>/dev/null)'`,
    ),
  ].join("\n");
}

function fishFlag(table: CompletionTable, flag: Flag, when: string): string {
  const { name, short, value, isValueOptional, summary } = flag;
  const shortFlag = short === undefined ? "" : ` -s ${short}`;
  const ask = table.flagAsks?.[flag.completes ?? ""]?.replace("SESSION", "(commandline -opc)[3]");
  const values = ask === undefined ? (flag.completes === FILE ? " -F" : "") : ` -f -a '(${ask} 2>/dev/null)'`;
  const taken = value === undefined || isValueOptional === true ? "" : ` -r${values}`;
  return `complete -c ${table.program} -n '${when}' -l ${name}${shortFlag}${taken} -d '${quote(summary)}'`;
}

/** Completions of flag values, as patterns of `command flag`: a command's own flags, then the common ones. */
function listValueCompletions(table: CompletionTable): { pattern: string; ask: string | undefined }[] {
  const rows = (command: string, flags: readonly Flag[]): { pattern: string; ask: string | undefined }[] =>
    flags.flatMap((flag) => {
      const ask = table.flagAsks?.[flag.completes ?? ""];
      if (ask === undefined && flag.completes !== FILE) return [];
      return [
        {
          pattern: flagForms(flag)
            .map((given) => `${command}" ${given}"`)
            .join("|"),
          ask,
        },
      ];
    });
  return [
    ...table.commands.flatMap(({ name, flags = [] }) => rows(name, flags)),
    ...rows("*", table.commonFlags),
    ...rows(
      "",
      table.programFlags.filter((flag) => !table.commonFlags.includes(flag)),
    ),
  ];
}

/** Patterns of the flags that take the next word as their value. */
function valuePatterns({ commands, programFlags, commonFlags }: CompletionTable): string {
  const patterns = (command: string, flags: readonly Flag[]): string[] =>
    flags
      .filter(({ value, isValueOptional }) => value !== undefined && isValueOptional !== true)
      .flatMap((flag) => flagForms(flag).map((given) => `${command}" ${given}"`));
  return [
    ...new Set(patterns("*", [...programFlags, ...commonFlags])),
    ...commands.flatMap(({ name, flags = [] }) => patterns(name, flags)),
  ].join("|");
}

function flagForms({ name, short }: Flag): string[] {
  return [`--${name}`, ...(short === undefined ? [] : [`-${short}`])];
}

/** For each kind of candidate, the commands that take it and the command that prints it. */
function groupByKind({ commands, asks }: CompletionTable): [string[], string][] {
  return Object.entries(asks).map(([kind, ask]) => [
    commands.filter(({ takes }) => takes === kind).map(({ name }) => name),
    ask,
  ]);
}

function listWords({ words = [], flags = [] }: CompletedCommand, { commonFlags }: CompletionTable): string {
  return `${words.join(" ")} ${joinFlags([...flags, ...commonFlags])}`.trim();
}

function joinFlags(flags: readonly Flag[]): string {
  return flags.map(({ name }) => `--${name}`).join(" ");
}

/** For a single-quoted shell string; in zsh a colon would end the name. */
function quote(text: string): string {
  return text.replaceAll("'", "").replaceAll(":", ";");
}
