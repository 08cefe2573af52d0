// "Make a rule of this": when it is offered, what it shows before a rule is saved, and what it says when that fails.
import { beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { PolicyPreview } from "../../src/client/http/types.ts";
import type { RequestRow } from "../../src/protocol/requests.ts";
import { markupOf } from "./markup.ts";

interface Element {
  app: unknown;
  request: RequestRow;
  render(): unknown;
  dispatchEvent: (event: CustomEvent) => boolean;
}

const ANSWERED = {
  ...{ request_id: "r1", session_id: "s1", status: "resolved", answer: { decision: "accept" } },
} as RequestRow;
const RULE = { id: "ls-1" } as PolicyPreview["rule"];
const MATCH = { session_id: "s1", request_id: "r1", title: "Bash: <b>ls\u202e", requested_at_ms: 1 };
const PREVIEW: PolicyPreview = {
  ...{ rule: RULE, text: "allow: the command ls\u200b", compared: 7 },
  matches: [{ ...MATCH, outcome: "accept" }],
};

let Maker: new () => Element;
beforeAll(async () => {
  await import("../../web/src/session/rule-maker.ts");
  Maker = customElements.get("x-rule-maker") as unknown as typeof Maker;
});

let maker: Element;
let suggestRules: ReturnType<typeof vi.fn>;
let addRule: ReturnType<typeof vi.fn>;
let events: string[];
beforeEach(() => {
  suggestRules = vi.fn(async () => [PREVIEW]);
  addRule = vi.fn(async () => ({ rule: RULE }));
  maker = new Maker();
  maker.app = { api: { suggestRules, addRule } };
  maker.request = ANSWERED;
  events = [];
  maker.dispatchEvent = ({ type, detail }) => events.push(`${type} ${detail}`) > 0;
});

const draw = (): string => markupOf(maker.render()).replace(/\s+/g, " ");

/** The handler of the only button. */
function findClick(value: unknown): (() => unknown) | undefined {
  if (typeof value === "function") return value as () => unknown;
  if (Array.isArray(value)) return value.map(findClick).find((found) => found !== undefined);
  if (typeof value !== "object" || value === null || !("values" in value)) return undefined;
  return findClick(value.values);
}
const click = async (): Promise<void> => void (await findClick(maker.render())?.());

test.each<[string, Partial<RequestRow>]>([
  ["is pending", { status: "pending" }],
  ["has expired", { status: "expired" }],
  ["was answered by a rule", { rule_id: "ls-1" }],
  ["has answers instead of a decision", { answer: { answers: {} } }],
])("it is not offered if the request %s", (_why, more) => {
  expect(draw()).toContain("Make a rule of this…");
  maker.request = { ...ANSWERED, ...more };
  expect(draw()).toBe("");
});

test("the rule and exactly what it would have decided are shown before it is saved", async () => {
  await click();
  expect(suggestRules).toHaveBeenCalledWith("s1", "r1");
  expect(draw()).toContain("allow: the command ls&#60;U+200B&#62;</pre>");
  expect(draw()).toContain("Of the last 7 requests, it would have decided 1:");
  expect(draw()).toContain("<code>Bash: &#60;b&#62;ls&#60;U+202E&#62;</code> (accept)");
  expect(addRule).not.toHaveBeenCalled();
  await click();
  expect(addRule).toHaveBeenCalledWith(RULE);
  expect(draw()).toContain("Saved the rule <code>ls-1</code>");
  expect(events).toEqual(["request-kept r1", "request-released r1"]);
});

test("without a suggestion it says where the reason is, and offers nothing to save", async () => {
  suggestRules.mockResolvedValue([]);
  await click();
  expect(draw()).toContain("No rule can be made of this request; <code>sm policy explain</code>");
  expect(draw()).not.toContain("<button");
});

test("a failure is shown, and it can be tried again", async () => {
  await click();
  addRule.mockRejectedValueOnce(new Error("the rule ls-1 exists"));
  await click();
  expect(draw()).toContain('role="alert">the rule ls-1 exists</p>');
  await click();
  expect(draw()).toContain("Saved the rule");
});
