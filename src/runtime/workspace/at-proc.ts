// openat(2) and its family by /proc/self/fd/<n>/<name>: the kernel resolves the first part to the very directory that
// is open, whatever its path is by now.
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
  openDirectory: (directory, name) => openSync(pathOf(directory, name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW),
  reopen: (directory) => openSync(`/proc/self/fd/${directory}/.`, O_RDONLY | O_DIRECTORY),
  openFile: (directory, name, flags, mode) =>
    openSync(pathOf(directory, name), flags | O_NOFOLLOW | O_NONBLOCK, mode),
  stat: (directory, name) => lstatSync(pathOf(directory, name)),
  readLink: (directory, name) => readlinkSync(pathOf(directory, name)),
  makeDirectory: (directory, name, mode) => {
    mkdirSync(pathOf(directory, name), { mode });
  },
  rename: (directory, from, to) => renameSync(pathOf(directory, from), pathOf(directory, to)),
  unlink: (directory, name) => unlinkSync(pathOf(directory, name)),
  list: (directory) => readdirSync(`/proc/self/fd/${directory}`),
};

function pathOf(directory: number, name: string): string {
  return `/proc/self/fd/${directory}/${checkName(name)}`;
}
