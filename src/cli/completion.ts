// Completion scripts for shells, made from a program's table of commands. Ids are asked from the daemon as one types.
import { type Flag, UsageError } from "./command.ts";

export interface CompletedCommand {
  name: string;
  summary: string;
  flags?: readonly Flag[] | undefined;
  /** Words that it knows. */
  words?: readonly string[] | undefined;
  /** The key in `asks` of what else it takes. */
  takes?: string | undefined;
}

export interface CompletionTable {
  program: string;
  commands: readonly CompletedCommand[];
  programFlags: readonly Flag[];
  /** Those that every command takes. */
  commonFlags: readonly Flag[];
  /** Commands that print candidates, one a line. */
  asks: Readonly<Record<string, string>>;
  /** Those that print candidates for the value of a flag; `SESSION` stands for the first word behind the command. */
  flagAsks?: Readonly<Record<string, string>>;
}

const FILE = "file";

const SCRIPTS: Record<string, (table: CompletionTable) => string> = { bash, zsh, fish };
export const SHELLS: readonly string[] = Object.keys(SCRIPTS);

export function completionScript(shell: string, table: CompletionTable): string {
  const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
  if (script === undefined) throw new UsageError(`usage: completion ${SHELLS.join("|")}`);
  return script(table);
}

function bash(table: CompletionTable): string {
  const { program, commands, programFlags } = table;
  const names = commands.map(({ name }) => name).join(" ");
  const values = valuesOf(table).map(({ pattern, ask }) =>
    ask === undefined
      ? `    ${pattern}) COMPREPLY=($(compgen -f -- "$current")); return ;;`
      : `    ${pattern}) COMPREPLY=($(compgen -W "$(${ask.replace("SESSION", '"$first"')} 2>/dev/null)" -- "$current")); return ;;`,
  );
  const cases = commands.map((command) => `    ${command.name}) words="${wordsOf(command, table)}" ;;`);
  const asks = askingOf(table).map(
    ([names, ask]) => `    ${names.join("|")}) words="$words $(${ask} 2>/dev/null)" ;;`,
  );
  return `# ${program} completion for bash: add to ~/.bashrc
#   source <(${program} completion bash)
_${program}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" verb="" first="" previous="" word words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$previous$word" in -*) ;; *) if [ -z "$verb" ]; then verb="$word"; elif [ -z "$first" ]; then first="$word"; fi ;; esac
    case "$verb $word" in ${valued(table)}) previous="$word" ;; *) previous="" ;; esac
  done
  case "$verb $previous" in
${values.join("\n")}
  esac
  case "$verb" in
    "") words="${names} ${dashed(programFlags)}" ;;
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
  const values = valuesOf(table).map(({ pattern, ask }) =>
    ask === undefined
      ? `    ${pattern}) _files; return ;;`
      : `    ${pattern}) compadd -- $(${ask.replace("SESSION", '"$first"')} 2>/dev/null); return ;;`,
  );
  const described = commands.map(({ name, summary }) => `    '${name}:${quote(summary)}'`);
  const cases = commands.map((command) => `    ${command.name}) compadd -- ${wordsOf(command, table)} ;;`);
  const asks = askingOf(table).map(
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
  for word in "\${words[@]:1:$((CURRENT-2))}"; do
    case "$previous$word" in -*) ;; *) if [ -z "$verb" ]; then verb="$word"; elif [ -z "$first" ]; then first="$word"; fi ;; esac
    case "$verb $word" in ${valued(table)}) previous="$word" ;; *) previous="" ;; esac
  done
  case "$verb $previous" in
${values.join("\n")}
  esac
  case "$verb" in
    "") _describe command verbs; compadd -- ${dashed(programFlags)}; return ;;
${cases.join("\n")}
  esac
  case "$verb" in
${asks.join("\n")}
  esac
}
compdef _${program} ${program}`;
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
    ...askingOf(table).map(
      ([names, ask]) =>
        `complete -c ${program} -f -n '__fish_seen_subcommand_from ${names.join(" ")}' -a '(${ask} 2>/dev/null)'`,
    ),
  ].join("\n");
}

function fishFlag(table: CompletionTable, flag: Flag, when: string): string {
  const { name, short, value, summary } = flag;
  const shortFlag = short === undefined ? "" : ` -s ${short}`;
  const ask = table.flagAsks?.[flag.completes ?? ""]?.replace("SESSION", "(commandline -opc)[3]");
  const values = ask === undefined ? (flag.completes === FILE ? " -F" : "") : ` -f -a '(${ask} 2>/dev/null)'`;
  const taken = value === undefined ? "" : ` -r${values}`;
  return `complete -c ${table.program} -n '${when}' -l ${name}${shortFlag}${taken} -d '${quote(summary)}'`;
}

/** What completes the value of a flag, as patterns of `command flag`: a command's own, then those of all. */
function valuesOf(table: CompletionTable): { pattern: string; ask: string | undefined }[] {
  const rows = (command: string, flags: readonly Flag[]): { pattern: string; ask: string | undefined }[] =>
    flags.flatMap((flag) => {
      const ask = table.flagAsks?.[flag.completes ?? ""];
      if (ask === undefined && flag.completes !== FILE) return [];
      return [
        {
          pattern: dashes(flag)
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

/** The flags whose next word is their value, and no word of the command. */
function valued({ commands, programFlags, commonFlags }: CompletionTable): string {
  const patterns = (command: string, flags: readonly Flag[]): string[] =>
    flags
      .filter(({ value }) => value !== undefined)
      .flatMap((flag) => dashes(flag).map((given) => `${command}" ${given}"`));
  return [
    ...new Set(patterns("*", [...programFlags, ...commonFlags])),
    ...commands.flatMap(({ name, flags = [] }) => patterns(name, flags)),
  ].join("|");
}

function dashes({ name, short }: Flag): string[] {
  return [`--${name}`, ...(short === undefined ? [] : [`-${short}`])];
}

/** The commands that take each kind of candidate, with what prints it. */
function askingOf({ commands, asks }: CompletionTable): [string[], string][] {
  return Object.entries(asks).map(([kind, ask]) => [
    commands.filter(({ takes }) => takes === kind).map(({ name }) => name),
    ask,
  ]);
}

function wordsOf({ words = [], flags = [] }: CompletedCommand, { commonFlags }: CompletionTable): string {
  return `${words.join(" ")} ${dashed([...flags, ...commonFlags])}`.trim();
}

function dashed(flags: readonly Flag[]): string {
  return flags.map(({ name }) => `--${name}`).join(" ");
}

/** Inside single quotes of a shell, where a colon would also end a name for zsh. */
function quote(text: string): string {
  return text.replaceAll("'", "").replaceAll(":", ";");
}
