// A seeded campaign against the inbound path of the socket, in this process: bytes → lines → JSON → dialect → options.
// Checks for one outcome per line, coded refusals, and the rules of inspect.ts.
import { CodedError } from "../../src/base/coded-error.ts";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import { LineSplitter } from "../../src/base/ndjson.ts";
import { isErrorCode } from "../../src/protocol/errors.ts";
import type { Request } from "../../src/servers/socket/dialect.ts";
import { type Random, seededRandom } from "../store/random.ts";
import { type Protocol, validFrame } from "./corpus.ts";
import { checkPrototypes, inspectRequest } from "./inspect.ts";
import { mutate } from "./mutate.ts";

/** The code under test, replaceable piece by piece for the controls. */
export interface Target {
  parse(text: string): JsonObject;
  accept(protocol: Protocol, frame: JsonObject): Request;
  checkOptions(backend: string, block: JsonObject): JsonObject;
}

export interface Tally {
  inputs: number;
  lines: number;
  accepted: number;
  refused: Record<string, number>;
}

const PROTOCOLS: Protocol[] = ["blemees/2", "blemees/2", "blemees/1"];
const IDS = ["4f5a7f8e-0d2b-4b8f-9d3a-2f6f4a3b1c0d", "a", "A.b_c-9"];
const MAX_LINE_BYTES = 64 * 1024;

/** Throws at the first input that misbehaves; the message names its seed. */
export function runCampaign(target: Target, inputs: number, firstSeed = 1): Tally {
  const tally: Tally = { inputs, lines: 0, accepted: 0, refused: {} };
  const feeds = new Map(PROTOCOLS.map((protocol) => [protocol, createFeed(target, protocol, tally)]));
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0; // most inputs are refused, and a stack costs more than all the rest
  try {
    for (let seed = firstSeed; seed < firstSeed + inputs; seed += 1) {
      const random = seededRandom(seed);
      const protocol = PROTOCOLS[random(PROTOCOLS.length)] ?? "blemees/2";
      const bytes = mutate(validFrame(protocol, IDS, random), random);
      try {
        feeds.get(protocol)?.(Buffer.concat([bytes, NEWLINE]), random);
        checkPrototypes();
      } catch (cause) {
        throw new Error(`seed ${seed} (${protocol}): ${String(cause)}\n${inspectable(bytes)}`, { cause });
      }
    }
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
  return tally;
}

/** A connection as the daemon has it, without the socket. */
function createFeed(
  target: Target,
  protocol: Protocol,
  tally: Tally,
): (bytes: Buffer, random: Random) => void {
  let outcomes = 0;
  const refuse = (code: string) => {
    outcomes += 1;
    tally.refused[code] = (tally.refused[code] ?? 0) + 1;
  };
  const splitter = new LineSplitter(MAX_LINE_BYTES, {
    badLine: () => refuse("not_utf8"),
    oversize: () => refuse("oversize_message"),
    line: (text) => {
      const refusal = receive(target, protocol, text);
      if (refusal !== undefined) return refuse(refusal);
      outcomes += 1;
      tally.accepted += 1;
    },
  });
  return (bytes, random) => {
    outcomes = 0;
    // As from a socket: now and then in two parts, split anywhere.
    const cut = random(3) === 0 ? random(bytes.length + 1) : 0;
    if (cut > 0) splitter.push(bytes.subarray(0, cut));
    if (cut < bytes.length) splitter.push(bytes.subarray(cut));
    let lines = 0;
    for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, at + 1)) lines += 1;
    if (outcomes !== lines) throw new Error(`${lines} lines, ${outcomes} outcomes`);
    tally.lines += lines;
  };
}

/** The code of the refusal, or undefined if the frame was accepted. Errors without a code are rethrown. */
function receive(target: Target, protocol: Protocol, text: string): string | undefined {
  try {
    const request = target.accept(protocol, target.parse(text));
    inspectRequest(request, checkedOptions(target, request));
    return undefined;
  } catch (error) {
    if (error instanceof CodedError && isErrorCode(error.code)) return error.code;
    throw error;
  }
}

/** Like the hub: only the chosen backend's block is checked. */
function checkedOptions(target: Target, { type, frame }: Request): JsonObject | undefined {
  if (type !== "blemeesd.open") return undefined;
  const backend = String(frame["backend"]);
  if (backend !== "claude" && backend !== "demo") throw new CodedError("unknown_backend", backend);
  const options = frame["options"];
  const block = isObject(options) && Object.hasOwn(options, backend) ? options[backend] : {};
  const checked = target.checkOptions(backend, isObject(block) ? block : {});
  return backend === "claude" ? checked : undefined;
}

const NEWLINE = Buffer.from("\n");

function inspectable(bytes: Buffer): string {
  return `${bytes.length} bytes: ${JSON.stringify(bytes.subarray(0, 2_000).toString("latin1"))}`;
}
