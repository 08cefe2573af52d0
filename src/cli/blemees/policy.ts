// `sm policy`: rules that answer requests without asking.
import { CodedError } from "../../base/coded-error.ts";
import { defined } from "../../base/values.ts";
import type { HttpClient, PolicyVerdict, RequestRow, RuleView } from "../../client/index.ts";
import { formatPreview } from "../../client/view/rule-text.ts";
import { pickRequest, REQUEST_ID } from "../answers.ts";
import {
  type Arguments,
  defineFlag,
  didYouMean,
  readNumberFlag,
  readTextFlag,
  UsageError,
} from "../command.ts";
import { formatTable, show } from "../output.ts";
import { ANY } from "../program.ts";
import { SETTLED } from "../requests.ts";
import type { BlemeesCommand, BlemeesContext } from "./command.ts";

type Action = (given: Arguments, context: BlemeesContext) => Promise<number>;

const ACTIONS: Readonly<Record<string, Action>> = {
  list: listRules,
  add: addRule,
  rm: removeRule,
  test: testRequest,
  explain: explainRequest,
};
const NAMES = Object.keys(ACTIONS);
const DECISIONS = ["allow", "deny", "ask"];

export const POLICY: BlemeesCommand = {
  name: "policy",
  usage: `policy ${NAMES.join("|")} …`,
  summary: "rules that answer requests without asking: list, add, remove, or try one on a request",
  words: [1, ANY],
  completes: NAMES,
  flags: [
    defineFlag("--id ID", "add: the rule's id (default: made from the rule)"),
    defineFlag("--backend NAME", "add: only requests of this agent; may be repeated", { isMany: true }),
    defineFlag("--session ID", "add: only requests of this session", { isMany: true }),
    defineFlag("--label NAME", "add: only sessions with this name that you started", { isMany: true }),
    defineFlag("--type TYPE", "add: only requests of this type: command, file_change, tool, …", {
      isMany: true,
    }),
    defineFlag("--tool NAME", "add: only this tool", { isMany: true }),
    defineFlag("--paths-within DIR", "add: only files in this directory", {
      isMany: true,
      completes: "file",
    }),
    defineFlag("--cwd-within DIR", "add: only commands run in this directory", {
      isMany: true,
      completes: "file",
    }),
    defineFlag("--started-within DIR", "add: only in sessions started in this directory", {
      isMany: true,
      completes: "file",
    }),
    defineFlag("--until TIME", "add: no effect from this time on, such as 2026-12-31T00:00:00Z"),
    defineFlag("--max-uses N", "add: answers this many requests"),
    defineFlag("--why TEXT", "add: a note; with deny it is sent to the agent"),
    defineFlag("--from REQUEST", "add: make the rule from this request"),
    defineFlag("--wider", "add --from: with holes for numbers, revisions and paths"),
    defineFlag("--dry-run", "add: only show the rule, and which requests it would have decided"),
  ],
  examples: [
    "policy list",
    "policy add allow -- git show '<rev>'",
    "policy add deny --why 'ask me first' -- git push",
    "policy add allow --type file_change --paths-within /home/me/project/docs",
    "policy add --from req_5a01f0d8 --dry-run",
    "policy explain req_5a01f0d8",
    "policy rm git-show-1a2b3c",
  ],
  notes: [
    "add: the words after -- are the command, each exactly or a hole: <rev>, <int>, <word>, <path-within-cwd>. deny beats",
    "ask beats allow; without a rule you are asked. test and explain: what the rules say about a request, and why.",
    "Agents cannot use this command. The rules are in policy.toml beside the daemon's config.toml.",
  ],
  async run({ words: [name = "", ...words], ...given }, context) {
    const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
    if (action === undefined)
      throw new UsageError(
        `unknown action "${name}"${didYouMean(name, NAMES) || `; the actions are ${NAMES.join(", ")}`}`,
      );
    return action({ ...given, words }, context);
  },
};

async function listRules({ words }: Arguments, context: BlemeesContext): Promise<number> {
  if (words.length > 0) throw new UsageError("usage: policy list");
  const view = await (await context.connect()).policy();
  if (view.fault !== undefined) context.output.note(`${view.fault}\nThe last good rules apply.`);
  if (view.rules.length === 0 && !context.isJson) context.output.note(`No rules in ${view.file}`);
  const cells = ({ rule, text, state, uses }: RuleView) => [
    rule.id,
    state === "active" ? "" : state.replace("_", " "),
    rule.max_uses === undefined ? `${uses} used` : `${uses} of ${rule.max_uses} used`,
    text,
  ];
  return show(context, view, () => formatTable(view.rules.map(cells), context.output.columns));
}

async function addRule(given: Arguments, context: BlemeesContext): Promise<number> {
  const http = await context.connect();
  const rule = await makeRule(http, given);
  const preview = await http.previewRule(rule);
  if (given.flags["dry-run"]) return show(context, preview, () => formatPreview(preview));
  const added = await http.addRule(rule);
  return show(context, added, () => [...formatPreview(preview), `added ${added.rule.id}`]);
}

async function makeRule(
  http: HttpClient,
  given: Arguments,
): Promise<{ id: string; [field: string]: unknown }> {
  const { words, many, flags } = given;
  const limits = defined({
    until: readTextFlag(given, "until"),
    max_uses: readNumberFlag(given, "max-uses", { least: 1, isWhole: true }),
    why: readTextFlag(given, "why"),
  });
  const from = readTextFlag(given, "from");
  if (from !== undefined) {
    if (words.length > 0) throw new UsageError("use --from or a rule of your own, not both");
    const { session_id, request_id } = await findRequest(http, from);
    const suggestions = await http.suggestRules(session_id, request_id);
    const found = flags["wider"] ? suggestions.at(-1) : suggestions[0];
    if (found === undefined)
      throw new CodedError(
        "policy_invalid",
        `no rule can be made from ${request_id}; see \`sm policy explain ${request_id}\``,
      );
    return { ...found.rule, ...limits, id: readTextFlag(given, "id") ?? found.rule.id };
  }
  const [decision = "", ...argv] = words;
  if (!DECISIONS.includes(decision))
    throw new UsageError(
      `usage: policy add ${DECISIONS.join("|")} [flags] [-- command…]${didYouMean(decision, DECISIONS)}`,
    );
  const when = defined({
    backend: many["backend"],
    session: many["session"],
    label: many["label"],
    request_type: many["type"],
    tool: many["tool"],
    paths_within: many["paths-within"],
    cwd_within: many["cwd-within"],
    started_within: many["started-within"],
    argv: argv.length === 0 ? undefined : argv,
  });
  const id =
    readTextFlag(given, "id") ??
    makeId(decision, argv[0] ?? many["tool"]?.[0] ?? many["type"]?.[0] ?? "rule");
  // biome-ignore lint/suspicious/noThenProperty: the name in the rules file; a rule is never awaited
  return { id, when, then: decision, ...limits };
}

/** Unique enough to be added; the daemon refuses one that exists. */
function makeId(decision: string, subject: string): string {
  const name = subject
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return `${decision}-${name || "rule"}-${Math.random().toString(36).slice(2, 8)}`;
}

async function removeRule({ words: [id, ...more] }: Arguments, context: BlemeesContext): Promise<number> {
  if (id === undefined || more.length > 0) throw new UsageError("usage: policy rm RULE");
  const removed = await (await context.connect()).removeRule(id);
  return show(context, removed, () => [`removed ${removed.id}`]);
}

async function testRequest(given: Arguments, context: BlemeesContext): Promise<number> {
  const verdict = await explainOne(given, context);
  return show(context, verdict, () => [decisionLine(verdict)]);
}

async function explainRequest(given: Arguments, context: BlemeesContext): Promise<number> {
  const verdict = await explainOne(given, context);
  return show(context, verdict, () => [
    decisionLine(verdict),
    ...formatTable(
      verdict.rules.map(({ rule_id, decision, matches, reason }) => [
        `  ${rule_id}`,
        decision,
        matches ? "matches" : `does not match: ${reason}`,
      ]),
      context.output.columns,
    ),
  ]);
}

async function explainOne(
  { words: [id, ...more] }: Arguments,
  context: BlemeesContext,
): Promise<PolicyVerdict> {
  if (id === undefined || more.length > 0) throw new UsageError("usage: policy test|explain REQUEST");
  const http = await context.connect();
  const { session_id, request_id } = await findRequest(http, id);
  return http.explainRequest(session_id, request_id);
}

function decisionLine({ decision, rule_id, reason }: PolicyVerdict): string {
  const by = rule_id === undefined ? "no rule matches" : `rule ${rule_id}`;
  return `${decision}: ${by}${reason === undefined || rule_id !== undefined ? "" : `; ${reason}`}`;
}

async function findRequest(http: HttpClient, id: string): Promise<RequestRow> {
  if (!REQUEST_ID.test(id)) throw new UsageError(`"${id}" is not a request; see \`sm requests --all\``);
  return pickRequest(await http.allRequests(SETTLED), id);
}
