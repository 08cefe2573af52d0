// Broken frames through the real inbound path: 50,000 in the gate; FUZZ_INPUTS sets another number.
import { expect, test } from "vitest";
import { createDemoBackend } from "../../src/backends/acp/demo.ts";
import { checkClaudeOptions } from "../../src/backends/claude/options.ts";
import { type JsonObject, parseUntrusted } from "../../src/base/json.ts";
import { INBOUND } from "../../src/protocol/wire/blemees2.ts";
import { blemees1 } from "../../src/servers/socket/blemees1.ts";
import { blemees2 } from "../../src/servers/socket/blemees2.ts";
import { figure } from "../crash/figure.ts";
import { size } from "../support/sizes.ts";
import { runCampaign, type Target } from "./campaign.ts";

const INPUTS = size("FUZZ_INPUTS", 50_000);
const LONG = { timeout: 1_800_000 };
const CONTROL_INPUTS = 50_000;

const demo = createDemoBackend({ script: "demian.js", version: "1" }, { env: {} });
const wire: Target = {
  parse: parseUntrusted,
  accept: (protocol, frame) => (protocol === "blemees/1" ? blemees1 : blemees2).accept(frame),
  checkOptions: (backend, block) =>
    backend === "claude" ? { ...checkClaudeOptions(block) } : demo.checkOptions(block),
};

test(
  "every broken frame is accepted or refused with a known code, once, and nothing else happens",
  LONG,
  () => {
    const startedMs = performance.now();
    const tally = runCampaign(wire, INPUTS);
    const seconds = (performance.now() - startedMs) / 1000;
    figure(
      `fuzz: ${tally.inputs} inputs in ${seconds.toFixed(1)} s, ${tally.accepted} accepted, refused ${JSON.stringify(tally.refused)}`,
    );
    // Checks the mutations themselves: they reach every layer, and some frames are still valid.
    expect(tally.accepted).toBeGreaterThan(INPUTS / 100);
    const codes = [
      "invalid_message",
      "unknown_message",
      "unsafe_flag",
      "unknown_backend",
      "oversize_message",
    ];
    expect(Object.keys(tally.refused)).toEqual(expect.arrayContaining([...codes, "not_utf8"]));
  },
);

/** Typical bugs. The campaign must find each of them. */
const BUGS: Record<string, Partial<Target>> = {
  "a parser that reads a field of null": {
    parse(text) {
      const frame = parseUntrusted(text);
      if (Object.hasOwn(frame, "message")) void (frame["message"] as { content: unknown }).content;
      return frame;
    },
  },
  "a bare JSON.parse": { parse: (text) => JSON.parse(text) },
  "a merge that follows __proto__": {
    parse(text) {
      const merged: JsonObject = {};
      mergeInto(merged, JSON.parse(text));
      return parseUntrusted(text);
    },
  },
  "a dispatch through an object's own prototype": {
    accept(_protocol, frame) {
      const schema = INBOUND[frame["type"] as keyof typeof INBOUND];
      return { type: frame["type"] as keyof typeof INBOUND, frame: schema.parse(frame) };
    },
  },
  "options that are not checked": { checkOptions: (_backend, block) => block },
};

test.each(Object.keys(BUGS))("the campaign finds %s", (name) => {
  try {
    expect(() => runCampaign({ ...wire, ...BUGS[name] }, CONTROL_INPUTS)).toThrow(/^seed \d+/);
  } finally {
    delete (Object.prototype as JsonObject)["polluted"];
    delete (Object.prototype as JsonObject)["type"];
  }
});

function mergeInto(into: JsonObject, from: unknown): void {
  for (const [key, value] of Object.entries(from ?? {})) {
    const there = into[key];
    if (typeof value === "object" && typeof there === "object" && there !== null)
      mergeInto(there as JsonObject, value);
    else into[key] = value;
  }
}
