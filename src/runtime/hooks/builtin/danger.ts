// Detects commands that no agent should run: by parsed words, including those after wrappers, and by patterns over the
// text where a pipe matters. The patterns are bounded, so that no input takes long.

import { getBaseName } from "../../../base/commands/programs.ts";
import { findNestedCommands } from "../../permissions/nested-commands.ts";
import type { Word } from "../../permissions/shell-words.ts";

type Words = readonly Word[];
type Command = readonly string[];

const DISK = /^\/dev\/(sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|loop|dm-|mapper\/|md\d|sr\d|mem$|kmem$|port$)/;
const HARMLESS_DEVICE = /^\/dev\/(null|zero|full|stdout|stderr|tty|fd\/\d+|shm\/.+)$/;
/** The root, a home directory or a system directory, or everything in it. */
const VITAL =
  /^(\/|~[a-z]*|\$HOME|\/(bin|boot|dev|etc|home|lib\d*|opt|proc|root|sbin|srv|sys|usr|var|Users|System|Library|Applications)|\/(home|Users)\/[^/]+)(\/\.{0,2})*(\/?\*)?$/;
const HERE = /^\.?\/?\*?$/;
const NETWORK = "runs code fetched from the network";
const FETCH = "(?:curl|wget|aria2c|fetch|lwp-request|lynx|w3m|https?|xh)\\b";
const SHELL = "(?:[^\\s|;&()]{0,100}/)?(?:ba|z|da|k|mk|c|tc|fi|a)?sh\\b(?![./-])";
const LANGUAGE = "(?:[^\\s|;&()]{0,100}/)?(?:python|perl|ruby|node|php|lua)[\\d.]*";
const BEFORE =
  "(?:(?:sudo|doas|env|exec|command|nohup|nice|xargs|time|stdbuf|busybox)\\b(?:\\s+-\\S+|\\s+\\w+=\\S*)*\\s+)*";
const FETCHES = new RegExp(`\\b${FETCH}`);
/** Runs its stdin: a shell, or an interpreter without a script. */
const RUNS_INPUT = new RegExp(`^&?\\s*${BEFORE}(?:${SHELL}|${LANGUAGE}(?:\\s+-)?\\s*(?:[&)]|$))`);
/** A substitution that fetches, and a program that runs its output. */
const FETCHED = new RegExp(`(?:[<$]\\(|\`)\\s*${BEFORE}${FETCH}`, "g");
const RUNS_WORDS = new RegExp(`(?:^|[\\s&(])(?:(?:${SHELL}|${LANGUAGE}|eval|exec|source|\\.)\\s|$)|^\\s*$`);
const DISK_REDIRECTION = />\|?\s*\/dev\/(sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|dm-|mapper\/|md\d|mem\b|kmem\b)/;
const FORK_LOOP = /\bfork\s+while\s+fork\b|\bwhile\s*\(?\s*(1|true)\s*\)?\s*[:{]?\s*(os\.)?fork\b/i;
/** Over the text without whitespace: a function or script that starts itself twice. */
const FORK_BOMB =
  /(?<![\w:.])([\w:.]{1,40})\(\)\{[^}]{0,200}?\1[|&]+\1|function([\w:.]{1,40}?)\{\2[|&]+\2|\$0[|&]+\$0/;
/** Linux's limit for one argument; the whole command is one argument of the shell. */
const MAX_CHARACTERS = 128 * 1024;

/** Completes the sentence "the command …". */
export function findDanger(text: string): string | undefined {
  if (text.length > MAX_CHARACTERS) return "is too long for a shell (over 128 KiB)";
  const commands = findNestedCommands(text);
  for (const command of commands) {
    const found = checkCommand(command, commands);
    if (found !== undefined) return found;
  }
  const bare = text.replace(/\\\r?\n/g, "").replace(/['"\\]/g, "");
  if (DISK_REDIRECTION.test(bare)) return "writes to a disk device";
  if (bare.split(/[;\n]|&&|\|\|/).some(runsFetched)) return NETWORK;
  return FORK_LOOP.test(bare) || FORK_BOMB.test(bare.replace(/\s+/g, "")) ? "is a fork bomb" : undefined;
}

/** One pipeline. */
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
function normalizePath({ text }: Word): string {
  return text
    .replace(/\$\{HOME\b[^}]{0,100}\}/g, "$HOME")
    .replace(/(\/\.)+(?=\/|$)/g, "/")
    .replace(/\/{2,}/g, "/");
}

function checkCommand([program, ...words]: Words, all: readonly Words[]): string | undefined {
  const name = getBaseName(program?.text ?? "");
  const check = CHECKS[name] ?? (/^mkfs(\.|$)|^mke2fs$/.test(name) ? checkFormat : undefined);
  return check?.(words.map(normalizePath), all);
}

const CHECKS: Readonly<Record<string, (words: Command, all: readonly Words[]) => string | undefined>> = {
  rm: (words, all) => {
    if (words.includes("--no-preserve-root")) return "deletes the root directory";
    if (!isRecursive(words)) return undefined;
    if (words.some((word) => VITAL.test(word))) return "deletes a system directory or a whole home directory";
    const isThere = all.some(
      ([cd, to]) => cd?.text === "cd" && VITAL.test(to === undefined ? "~" : normalizePath(to)),
    );
    return isThere && words.some((word) => HERE.test(word))
      ? "deletes everything in a system directory or home directory"
      : undefined;
  },
  chmod: checkRights,
  chown: checkRights,
  chgrp: checkRights,
  find: (words) => {
    const path = words.findIndex((word) => VITAL.test(word));
    const deletes = words.some(
      (word) => word === "-delete" || ["rm", "shred", "unlink"].includes(getBaseName(word)),
    );
    return path !== -1 && deletes ? "deletes files across the system" : undefined;
  },
  dd: (words) => {
    const to = words.find((word) => word.startsWith("of=/dev/"))?.slice("of=".length);
    return to !== undefined && !HARMLESS_DEVICE.test(to) ? "writes to a device" : undefined;
  },
  tee: checkDiskWrite,
  cp: checkDiskWrite,
  mv: checkDiskWrite,
  shred: checkDiskWrite,
  wipefs: checkDiskWrite,
  blkdiscard: checkDiskWrite,
  fdisk: checkDiskWrite,
  sfdisk: checkDiskWrite,
  sgdisk: checkDiskWrite,
  parted: checkDiskWrite,
  mkswap: checkFormat,
  kill: (words) => (words.slice(1).includes("-1") ? "kills every process of the user" : undefined),
};

function checkRights(words: Command): string | undefined {
  const isVital = isRecursive(words) && words.some((word) => VITAL.test(word));
  return isVital
    ? "changes permissions or ownership of a system directory or a whole home directory"
    : undefined;
}

function checkDiskWrite(words: Command): string | undefined {
  return words.some((word) => DISK.test(word)) ? "writes to a disk device" : undefined;
}

function checkFormat(words: Command): string | undefined {
  return words.some((word) => word.startsWith("/dev/")) ? "formats a device" : undefined;
}

function isRecursive(words: Command): boolean {
  return words.some((word) => /^-[A-Za-z]*[rR]/.test(word) || /^--rec/.test(word));
}
