// Completion scripts for shells, made from the verb table. Ids are asked from the daemon as one types.
import type { Flag } from "../command.ts";
import { UsageError } from "../command.ts";
import { COMMON_FLAGS, PROGRAM_FLAGS } from "./help.ts";
import type { Verb } from "./verb.ts";
import { takesSession, VERBS } from "./verbs.ts";

const IDS = "blemeesctl sessions --live --ids 2>/dev/null";
const REQUEST_IDS = "blemeesctl requests --ids 2>/dev/null";
const SHELL_VERBS = VERBS.filter((verb) => verb.where !== "prompt");
const names = SHELL_VERBS.map((verb) => verb.name).join(" ");

const SCRIPTS: Record<string, () => string> = { bash, zsh, fish };

export function completionScript(shell: string): string {
  const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
  if (script === undefined) throw new UsageError(`usage: completion ${Object.keys(SCRIPTS).join("|")}`);
  return script();
}

function bash(): string {
  const cases = SHELL_VERBS.map((verb) => `    ${verb.name}) words="${wordsOf(verb)}" ;;`);
  return `# blemeesctl completion for bash: add to ~/.bashrc
#   source <(blemeesctl completion bash)
_blemeesctl() {
  local current="\${COMP_WORDS[COMP_CWORD]}" verb="" word words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) verb="$word"; break ;; esac
  done
  case "$verb" in
    "") words="${names} ${dashed(PROGRAM_FLAGS)}" ;;
${cases.join("\n")}
  esac
  case "$verb" in
    ${idVerbs().join("|")}) words="$words $(${IDS})" ;;
    ${answerVerbs().join("|")}) words="$words $(${REQUEST_IDS})" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _blemeesctl blemeesctl`;
}

function zsh(): string {
  const described = SHELL_VERBS.map((verb) => `    '${verb.name}:${quote(verb.summary)}'`);
  const cases = SHELL_VERBS.map((verb) => `    ${verb.name}) compadd -- ${wordsOf(verb)} ;;`);
  return `#compdef blemeesctl
# blemeesctl completion for zsh: source <(blemeesctl completion zsh)
_blemeesctl() {
  local -a verbs
  verbs=(
${described.join("\n")}
  )
  local verb="" word
  for word in "\${words[@]:1:$((CURRENT-2))}"; do
    case "$word" in -*) ;; *) verb="$word"; break ;; esac
  done
  case "$verb" in
    "") _describe command verbs; compadd -- ${dashed(PROGRAM_FLAGS)}; return ;;
${cases.join("\n")}
  esac
  case "$verb" in
    ${idVerbs().join("|")}) compadd -- $(${IDS}) ;;
    ${answerVerbs().join("|")}) compadd -- $(${REQUEST_IDS}) ;;
  esac
}
compdef _blemeesctl blemeesctl`;
}

function fish(): string {
  const verbs = SHELL_VERBS.flatMap((verb) => [
    `complete -c blemeesctl -f -n __fish_use_subcommand -a ${verb.name} -d '${quote(verb.summary)}'`,
    ...[...(verb.flags ?? []), ...COMMON_FLAGS].map((flag) =>
      fishFlag(flag, `__fish_seen_subcommand_from ${verb.name}`),
    ),
  ]);
  return [
    "# blemeesctl completion for fish: blemeesctl completion fish | source",
    ...PROGRAM_FLAGS.map((flag) => fishFlag(flag, "__fish_use_subcommand")),
    ...verbs,
    `complete -c blemeesctl -f -n '__fish_seen_subcommand_from ${idVerbs().join(" ")}' -a '(${IDS})'`,
    `complete -c blemeesctl -f -n '__fish_seen_subcommand_from ${answerVerbs().join(" ")}' -a '(${REQUEST_IDS})'`,
  ].join("\n");
}

function fishFlag({ name, short, value, summary }: Flag, when: string): string {
  const shortFlag = short === undefined ? "" : ` -s ${short}`;
  return `complete -c blemeesctl -n '${when}' -l ${name}${shortFlag}${value === undefined ? "" : " -r"} -d '${quote(summary)}'`;
}

function idVerbs(): string[] {
  return SHELL_VERBS.filter(takesSession).map((verb) => verb.name);
}

function answerVerbs(): string[] {
  return SHELL_VERBS.filter((verb) => verb.answer !== undefined).map((verb) => verb.name);
}

function wordsOf(verb: Verb): string {
  const words = verb.name === "completion" ? Object.keys(SCRIPTS).join(" ") : "";
  return `${words} ${dashed([...(verb.flags ?? []), ...COMMON_FLAGS])}`.trim();
}

function dashed(flags: readonly Flag[]): string {
  return flags.map(({ name }) => `--${name}`).join(" ");
}

/** Inside single quotes of a shell, where a colon would also end a name for zsh. */
function quote(text: string): string {
  return text.replaceAll("'", "").replaceAll(":", ";");
}
