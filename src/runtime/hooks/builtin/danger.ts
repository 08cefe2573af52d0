// Commands that nobody wants an agent to run. Structure where it helps (words without quotes, wrappers looked through),
// patterns over the text where a pipe matters; those are bounded, so that no text takes long.
import { nestedCommands } from "../../permissions/nested-commands.ts";
import { baseName } from "../../permissions/programs.ts";
import type { Word } from "../../permissions/shell-words.ts";

type Words = readonly Word[];
type Command = readonly string[];

const DISK = /^\/dev\/(sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|loop|dm-|mapper\/|md\d|sr\d|mem$|kmem$|port$)/;
const HARMLESS_DEVICE = /^\/dev\/(null|zero|full|stdout|stderr|tty|fd\/\d+|shm\/.+)$/;
/** The root, a home directory, or a directory of the system, with or without what is in it. */
const VITAL =
  /^(\/|~[a-z]*|\$HOME|\/(bin|boot|dev|etc|home|lib\d*|opt|proc|root|sbin|srv|sys|usr|var|Users|System|Library|Applications)|\/(home|Users)\/[^/]+)(\/\.{0,2})*(\/?\*)?$/;
const HERE = /^\.?\/?\*?$/;
const NETWORK = "runs what it fetches from the network";
const FETCH = "(?:curl|wget|aria2c|fetch|lwp-request|lynx|w3m|https?|xh)\\b";
const SHELL = "(?:[^\\s|;&()]{0,100}/)?(?:ba|z|da|k|mk|c|tc|fi|a)?sh\\b(?![./-])";
const LANGUAGE = "(?:[^\\s|;&()]{0,100}/)?(?:python|perl|ruby|node|php|lua)[\\d.]*";
const BEFORE =
  "(?:(?:sudo|doas|env|exec|command|nohup|nice|xargs|time|stdbuf|busybox)\\b(?:\\s+-\\S+|\\s+\\w+=\\S*)*\\s+)*";
const FETCHES = new RegExp(`\\b${FETCH}`);
/** What comes out of a pipe is run: a shell, or a language without a program. */
const RUNS_INPUT = new RegExp(`^&?\\s*${BEFORE}(?:${SHELL}|${LANGUAGE}(?:\\s+-)?\\s*(?:[&)]|$))`);
/** A substitution that fetches, and what runs its words or its file. */
const FETCHED = new RegExp(`(?:[<$]\\(|\`)\\s*${BEFORE}${FETCH}`, "g");
const RUNS_WORDS = new RegExp(`(?:^|[\\s&(])(?:(?:${SHELL}|${LANGUAGE}|eval|exec|source|\\.)\\s|$)|^\\s*$`);
const DISK_REDIRECTION = />\|?\s*\/dev\/(sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|dm-|mapper\/|md\d|mem\b|kmem\b)/;
const FORK_LOOP = /\bfork\s+while\s+fork\b|\bwhile\s*\(?\s*(1|true)\s*\)?\s*[:{]?\s*(os\.)?fork\b/i;
/** Over the text without blanks: a function that starts itself twice, or a script that does. */
const FORK_BOMB =
  /(?<![\w:.])([\w:.]{1,40})\(\)\{[^}]{0,200}?\1[|&]+\1|function([\w:.]{1,40}?)\{\2[|&]+\2|\$0[|&]+\$0/;
/** Linux takes no longer word, and the whole command is one word for the shell. */
const MAX_CHARACTERS = 128 * 1024;

/** Completes the sentence "the command …"; undefined: nothing is seen. */
export function findDanger(text: string): string | undefined {
  if (text.length > MAX_CHARACTERS) return "is longer than a shell takes (128 KiB)";
  const commands = nestedCommands(text);
  for (const command of commands) {
    const found = judge(command, commands);
    if (found !== undefined) return found;
  }
  const bare = text.replace(/\\\r?\n/g, "").replace(/['"\\]/g, "");
  if (DISK_REDIRECTION.test(bare)) return "writes to a disk device";
  if (bare.split(/[;\n]|&&|\|\|/).some(runsFetched)) return NETWORK;
  return FORK_LOOP.test(bare) || FORK_BOMB.test(bare.replace(/\s+/g, "")) ? "is a fork bomb" : undefined;
}

/** Of one pipeline. */
function runsFetched(pipeline: string): boolean {
  const stages = pipeline.split("|");
  const source = stages.findIndex((stage) => FETCHES.test(stage));
  if (source === -1) return false;
  if (stages.slice(source + 1).some((stage) => RUNS_INPUT.test(stage))) return true;
  return stages.some((stage) => {
    const last = [...stage.matchAll(FETCHED)].at(-1)?.index;
    return last !== undefined && RUNS_WORDS.test(stage.slice(0, last));
  });
}

/** `${HOME}` is `$HOME`; `//` and `/./` are `/`. */
function normal({ text }: Word): string {
  return text
    .replace(/\$\{HOME\b[^}]{0,100}\}/g, "$HOME")
    .replace(/(\/\.)+(?=\/|$)/g, "/")
    .replace(/\/{2,}/g, "/");
}

function judge([program, ...words]: Words, all: readonly Words[]): string | undefined {
  const name = baseName(program?.text ?? "");
  const check = CHECKS[name] ?? (/^mkfs(\.|$)|^mke2fs$/.test(name) ? formats : undefined);
  return check?.(words.map(normal), all);
}

const CHECKS: Readonly<Record<string, (words: Command, all: readonly Words[]) => string | undefined>> = {
  rm: (words, all) => {
    if (words.includes("--no-preserve-root")) return "deletes the root directory";
    if (!isRecursive(words)) return undefined;
    if (words.some((word) => VITAL.test(word)))
      return "deletes a directory of the system or a whole home directory";
    const isThere = all.some(
      ([cd, to]) => cd?.text === "cd" && VITAL.test(to === undefined ? "~" : normal(to)),
    );
    return isThere && words.some((word) => HERE.test(word)) ? "deletes everything where it goes" : undefined;
  },
  chmod: changesAll,
  chown: changesAll,
  chgrp: changesAll,
  find: (words) => {
    const path = words.findIndex((word) => VITAL.test(word));
    const deletes = words.some(
      (word) => word === "-delete" || ["rm", "shred", "unlink"].includes(baseName(word)),
    );
    return path !== -1 && deletes ? "deletes files all over the system" : undefined;
  },
  dd: (words) => {
    const to = words.find((word) => word.startsWith("of=/dev/"))?.slice("of=".length);
    return to !== undefined && !HARMLESS_DEVICE.test(to) ? "writes to a device" : undefined;
  },
  tee: writesDisk,
  cp: writesDisk,
  mv: writesDisk,
  shred: writesDisk,
  wipefs: writesDisk,
  blkdiscard: writesDisk,
  fdisk: writesDisk,
  sfdisk: writesDisk,
  sgdisk: writesDisk,
  parted: writesDisk,
  mkswap: formats,
  kill: (words) => (words.slice(1).includes("-1") ? "ends every process of the user" : undefined),
};

function changesAll(words: Command): string | undefined {
  const isVital = isRecursive(words) && words.some((word) => VITAL.test(word));
  return isVital ? "changes the rights of a directory of the system or a whole home directory" : undefined;
}

function writesDisk(words: Command): string | undefined {
  return words.some((word) => DISK.test(word)) ? "writes to a disk device" : undefined;
}

function formats(words: Command): string | undefined {
  return words.some((word) => word.startsWith("/dev/")) ? "formats a device" : undefined;
}

function isRecursive(words: Command): boolean {
  return words.some((word) => /^-[A-Za-z]*[rR]/.test(word) || /^--rec/.test(word));
}
