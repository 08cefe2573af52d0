// openat(2) and related calls through /proc/self/fd/<n>/<name>: the kernel resolves the first part to the open
// directory itself, wherever it has been moved.
import {
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  unlinkSync,
} from "node:fs";
import { type At, checkName } from "./at.ts";

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

export const procAt: At = {
  kind: "proc",
  close: (fd) => closeSync(fd),
  openDirectory: (directory, name) =>
    openSync(toProcPath(directory, name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW),
  reopen: (directory) => openSync(`/proc/self/fd/${directory}/.`, O_RDONLY | O_DIRECTORY),
  openFile: (directory, name, flags, mode) =>
    openSync(toProcPath(directory, name), flags | O_NOFOLLOW | O_NONBLOCK, mode),
  stat: (directory, name) => lstatSync(toProcPath(directory, name)),
  readLink: (directory, name) => readlinkSync(toProcPath(directory, name)),
  makeDirectory: (directory, name, mode) => {
    mkdirSync(toProcPath(directory, name), { mode });
  },
  rename: (directory, from, to) => renameSync(toProcPath(directory, from), toProcPath(directory, to)),
  unlink: (directory, name) => unlinkSync(toProcPath(directory, name)),
  list: (directory) => readdirSync(`/proc/self/fd/${directory}`),
};

function toProcPath(directory: number, name: string): string {
  return `/proc/self/fd/${directory}/${checkName(name)}`;
}
