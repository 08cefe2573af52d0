// Loads a bundle with its compiled code from an earlier start, so that V8 neither parses nor compiles it again: half of
// the time that a program needs to start. Without that code, or if it does not fit, the bundle is compiled as usual.
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import v8 from "node:v8";
import vm from "node:vm";
import { crc32 } from "node:zlib";

/** A program that runs longer has used what it needs to start; a shorter one keeps its code when it exits. */
const KEEP_AFTER_MS = 2_000;
/** At the end of the file: checksums of the source and of the compiled code, neither of which V8 checks, and IS_PARTIAL. */
const TRAILER_BYTES = 12;
/** Kept by a run that showed only its help and used little code. The next other run replaces it. */
const IS_PARTIAL = 1;
const HELP = ["help", "--help", "-h"];
const WRITABLE_BY_OTHERS = 0o022;

/**
 * `file`: a function expression in ASCII, with the parameters of a CommonJS module and one that does what import() does.
 * Returns what the module exports.
 */
export function loadBundle(file: string, require: NodeJS.Require, env: NodeJS.ProcessEnv): unknown {
  const source = readFileSync(file);
  const sum = crc32(source);
  const place = findPlace(file, env);
  const kept = place === undefined ? undefined : readCode(place, sum);
  const isPartial = process.argv.some((argument) => HELP.includes(argument));
  const script = new vm.Script(source.toString("latin1"), { filename: file, cachedData: kept?.code });
  const module = { exports: {} };
  // In Node 20, kept code cannot load modules itself: V8 does not keep what that needs.
  const load = (specifier: string): Promise<unknown> => import(/* @vite-ignore */ specifier);
  script.runInThisContext()(module.exports, require, module, file, dirname(file), load);
  const isRight = script.cachedDataRejected === false && (isPartial || kept?.isPartial === false);
  if (place !== undefined && !isRight) keepLater(place, () => serialize(script, sum, isPartial));
  return module.exports;
}

/**
 * Belongs to the user: below a shared directory, another user could plant code for us to run. One file per program,
 * Node version and set of V8's flags (compiled code fits only one), which the next version of the program replaces.
 */
function findPlace(file: string, env: NodeJS.ProcessEnv): string | undefined {
  const base = env["XDG_CACHE_HOME"] || (env["HOME"] && join(env["HOME"], ".cache"));
  if (!base) return undefined;
  const name = `${basename(file, ".js")}-${process.version}-${process.arch}-${v8.cachedDataVersionTag()}`;
  return join(base, "blemees", "code-cache", name);
}

interface Kept {
  code: Buffer;
  isPartial: boolean;
}

function readCode(place: string, sourceSum: number): Kept | undefined {
  const bytes = readOwnFile(place);
  if (bytes === undefined || bytes.length < TRAILER_BYTES) return undefined;
  const code = bytes.subarray(0, -TRAILER_BYTES);
  const isRight =
    bytes.readUInt32LE(code.length) === sourceSum && bytes.readUInt32LE(code.length + 4) === crc32(code);
  return isRight ? { code, isPartial: bytes.readUInt32LE(code.length + 8) === IS_PARTIAL } : undefined;
}

function readOwnFile(path: string): Buffer | undefined {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch {
    return undefined; // nothing is kept yet
  }
  try {
    const { uid, mode } = fstatSync(fd);
    const isOurs = uid === process.getuid?.() && (mode & WRITABLE_BY_OTHERS) === 0;
    return isOurs ? readFileSync(fd) : undefined;
  } catch {
    return undefined; // a directory, or a failing disk
  } finally {
    closeSync(fd);
  }
}

function keepLater(place: string, collect: () => Buffer): void {
  const keep = (): void => {
    clearTimeout(timer);
    process.off("exit", keep);
    keepCode(place, collect);
  };
  const timer = setTimeout(keep, KEEP_AFTER_MS).unref();
  process.once("exit", keep);
}

function keepCode(place: string, collect: () => Buffer): void {
  const draft = `${place}.${process.pid}`;
  let fd: number | undefined;
  try {
    mkdirSync(dirname(place), { recursive: true, mode: 0o700 });
    // Before the code is collected, which takes 3 ms: in a sandbox nothing can be kept.
    fd = openSync(draft, "w", 0o600);
    writeFileSync(fd, collect());
    renameSync(draft, place);
  } catch {
    if (fd !== undefined) rmSync(draft, { force: true }); // the disk is full
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function serialize(script: vm.Script, sourceSum: number, isPartial: boolean): Buffer {
  const code = script.createCachedData();
  const trailer = Buffer.alloc(TRAILER_BYTES);
  trailer.writeUInt32LE(sourceSum, 0);
  trailer.writeUInt32LE(crc32(code), 4);
  trailer.writeUInt32LE(isPartial ? IS_PARTIAL : 0, 8);
  return Buffer.concat([code, trailer]);
}
