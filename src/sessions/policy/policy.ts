// Policy: answers requests by rules, counts their uses, and changes and explains the rules. decide.ts decides; the ledger
// stores and dispatches the answer like a person's.
import { dirname, resolve } from "node:path";
import { waitAtMost } from "../../base/child.ts";
import { CodedError, toMessage } from "../../base/coded-error.ts";
import { isBelow } from "../../base/commands/executables.ts";
import { Lookups } from "../../base/commands/lookups.ts";
import type { Log } from "../../base/log.ts";
import { explainIssues } from "../../base/schema.ts";
import { asStrings, defined } from "../../base/values.ts";
import {
  type PolicyPreview,
  PolicyRule,
  type PolicyVerdict,
  type PolicyView,
  type PolicyWhen,
  type RuleView,
} from "../../protocol/policy.ts";
import type { Answer, RequestRow } from "../../protocol/requests.ts";
import type { SessionRow } from "../../protocol/session.ts";
import type { RuleUses, Store } from "../../store/types.ts";
import { makePolicyAnswer } from "../requests/states.ts";
import type { PolicyPort, Ruling } from "../requests/types.ts";
import { decide, explain } from "./decide.ts";
import { describeRule } from "./describe.ts";
import { collectFacts, findDirectory } from "./facts.ts";
import { findMismatch } from "./match.ts";
import { type LoadedRules, RulesFile } from "./rules-file.ts";
import { suggestRules } from "./suggest.ts";
import type { CountedRule, RequestFacts, SessionFacts } from "./types.ts";

/** A file system that does not answer must not keep a request from being shown. */
const FACTS_LIMIT_MS = 2_000;
/** Requests that a new rule is compared with. */
export const PREVIEWED = 500;

/** A change of the rules, for the audit. */
export interface PolicyChange {
  change: "add" | "remove" | "file";
  /** The rule that was added or removed. */
  rule?: PolicyRule;
  /** Of the file after the change. */
  sha256: string;
  /** Ids of all rules after the change. */
  rule_ids: string[];
}

export interface PolicyParts {
  /** The rules file. */
  path: string;
  store: Pick<Store, "ruleUses" | "requests">;
  log: Log;
  /** The PATH that agents get. */
  agentPath: string | undefined;
  findSession(session_id: string): Promise<SessionRow | undefined>;
  /** `by`: who changed the rules; undefined if the file was edited. */
  changed(change: PolicyChange, by: string | undefined): void;
  now?: () => number;
}

export class Policy implements PolicyPort {
  readonly #parts: PolicyParts;
  readonly #now: () => number;
  readonly #file: RulesFile;
  /** Uses by rule; undefined until they are read from the store. */
  #uses: Map<string, RuleUses> | undefined;
  /** One reading for all: a second one could miss uses that were reserved meanwhile. */
  #reading: Promise<void> | undefined;
  /** A change of ours is being written. */
  #isChanging = false;
  readonly #lookups = new Lookups();
  /** A fault of the file that no session was informed of. */
  #unreported: string | undefined;

  constructor(parts: PolicyParts) {
    this.#parts = parts;
    this.#now = parts.now ?? Date.now;
    this.#file = new RulesFile(parts.path, {
      change: (before, now) => this.#onChange(before, now),
      fault: (message) => {
        this.#unreported = message;
        parts.log.error("policy.invalid", { message });
      },
    });
  }

  takeFault(): string | undefined {
    const fault = this.#unreported;
    this.#unreported = undefined;
    return fault;
  }

  mayDecide({ backend, request_type }: RequestRow): boolean {
    if (request_type === "budget") return false;
    if (this.#file.hasChanged()) return true;
    const includes = (wanted: string | string[] | undefined, value: string) =>
      wanted === undefined || [wanted].flat().includes(value);
    return this.#file.loaded.rules.some(
      ({ when }) => includes(when.backend, backend) && includes(when.request_type, request_type),
    );
  }

  /** The answer of a rule, with its use reserved; undefined: a person is asked. Never rejects. */
  async decide(row: RequestRow, session: SessionRow): Promise<Ruling | undefined> {
    try {
      const { effective } = await this.#file.refresh();
      const wantsWords = (argv: readonly string[]) => effective.some(({ when }) => namesPath(when, argv));
      const facts = await waitAtMost(FACTS_LIMIT_MS, this.#collectFacts(row, session, wantsWords));
      if (facts === undefined) return undefined;
      await this.#loadUses();
      // From here to the reservation without waiting: otherwise two requests could take the same use.
      const counted = this.#count(effective);
      const { decision, rule_id } = decide(...facts, counted, this.#now());
      const rule = effective.find(({ id }) => id === rule_id);
      if (decision === "ask" || rule === undefined) return undefined;
      const answer: Answer = decision === "allow" ? { decision: "accept" } : toRefusal(row, rule);
      this.#addUse(rule.id, 1);
      return { answer, rule_id: rule.id, release: () => this.#addUse(rule.id, -1) };
    } catch (error) {
      this.#parts.log.error("policy.failed", { request_id: row.request_id, message: toMessage(error) });
      return undefined;
    }
  }

  async view(): Promise<PolicyView> {
    const { rules, effective } = await this.#file.refresh();
    await this.#loadUses();
    const counted = this.#count(effective);
    const views = rules.map((rule, at) => this.#toView(rule, counted[at]));
    return { file: this.#file.path, rules: views, ...defined({ fault: this.#file.fault }) };
  }

  /** Throws `rule_exists` or `policy_invalid`. */
  async add(given: { id: string }, by: string): Promise<RuleView> {
    const rule = this.#check(given);
    await this.#change("add", rule, by, (rules) => {
      if (rules.some(({ id }) => id === rule.id))
        throw new CodedError("rule_exists", `the rule ${rule.id} exists; remove it first or use another id`);
      return [...rules, rule];
    });
    await this.#loadUses();
    const [counted] = this.#count([rule]);
    return this.#toView(rule, counted);
  }

  /** Throws `rule_unknown` or `policy_invalid`. */
  async remove(rule_id: string, by: string): Promise<PolicyRule> {
    const { rules } = await this.#file.refresh();
    const rule = rules.find(({ id }) => id === rule_id);
    if (rule === undefined) throw new CodedError("rule_unknown", `no rule ${rule_id} in ${this.#file.path}`);
    await this.#change("remove", rule, by, (now) => now.filter(({ id }) => id !== rule_id));
    return rule;
  }

  /** What policy would say about a request now, whatever its state. */
  async explain(row: RequestRow): Promise<PolicyVerdict> {
    const { effective } = await this.#file.refresh();
    const session = await this.#requireSession(row.session_id);
    const facts = await this.#collectFacts(row, session);
    await this.#loadUses();
    return explain(...facts, this.#count(effective), this.#now());
  }

  /** Rules that would have given the request's answer, each with what else it would have decided. */
  async suggest(row: RequestRow): Promise<PolicyPreview[]> {
    const session = await this.#requireSession(row.session_id);
    const [request, place] = await this.#collectFacts(row, session);
    const { answer, request_id } = row;
    const isRefused = answer !== undefined && "decision" in answer && /decline|cancel/.test(answer.decision);
    const decision = isRefused ? ("deny" as const) : ("allow" as const);
    const asked = { request, session: place, decision, request_id, nowMs: this.#now() };
    return Promise.all(suggestRules(asked).map((rule) => this.preview(rule)));
  }

  /** Which of the latest requests the rule would have decided, by itself, with files as they are now. */
  async preview(given: { id: string }): Promise<PolicyPreview> {
    const rule = this.#check(given);
    const rows = await this.#parts.store.requests({ newest: true, limit: PREVIEWED });
    const { max_uses: _unlimited, ...unlimited } = rule;
    const counted: CountedRule = { rule: unlimited, uses: 0 };
    const sessions = new Map<string, SessionRow | undefined>();
    const matches: PolicyPreview["matches"] = [];
    for (const row of rows) {
      const { session_id } = row;
      if (!sessions.has(session_id)) sessions.set(session_id, await this.#parts.findSession(session_id));
      const session = sessions.get(session_id);
      if (session === undefined) continue;
      const facts = await this.#collectFacts(row, session);
      // As of the time it was asked, so that an end in the past does not hide what the rule covers.
      if (findMismatch(counted, ...facts, row.requested_at_ms) !== undefined) continue;
      const { request_id, payload, requested_at_ms } = row;
      matches.push({
        session_id,
        request_id,
        title: payload.title,
        requested_at_ms,
        outcome: toOutcome(row),
      });
    }
    return { rule, text: describeRule(rule), compared: rows.length, matches };
  }

  /** Throws `policy_invalid`. */
  #check(given: { id: string }): PolicyRule {
    const rule = PolicyRule.safeParse(given);
    if (rule.success) return rule.data;
    const fault = `rule "${given.id}": ${explainIssues(rule.error.issues)}`;
    throw new CodedError("policy_invalid", `${this.#file.path}: ${fault}; nothing was changed`);
  }

  async #change(
    change: "add" | "remove",
    rule: PolicyRule,
    by: string,
    make: (rules: readonly PolicyRule[]) => PolicyRule[],
  ): Promise<void> {
    // An edit by hand is recorded as such before our own change.
    await this.#file.refresh();
    this.#isChanging = true;
    try {
      const now = await this.#file.change(make);
      this.#parts.changed({ change, rule, ...toSummary(now) }, by);
      this.#parts.log.info("policy.changed", { change, rule_id: rule.id, by });
    } finally {
      this.#isChanging = false;
    }
  }

  #onChange(_before: LoadedRules, now: LoadedRules): void {
    if (this.#isChanging) return;
    this.#parts.changed({ change: "file", ...toSummary(now) }, undefined);
    this.#parts.log.info("policy.loaded", { rules: now.rules.length });
  }

  /** `wantsWords`: whether a rule needs the places of a command's words; default: yes. */
  async #collectFacts(
    row: RequestRow,
    session: SessionRow,
    wantsWords?: (argv: readonly string[]) => boolean,
  ): Promise<[RequestFacts, SessionFacts]> {
    const cwd = session.cwd ?? row.payload.cwd;
    const find = (path: string) => findDirectory(this.#lookups, path);
    const more = asStrings(session.options?.["add_dir"]).map((dir) => resolve(cwd ?? "/", dir));
    const [facts, place, ...dirs] = await Promise.all([
      collectFacts(row, {
        ...{ path: this.#parts.agentPath, cwd, lookups: this.#lookups },
        ...defined({ wantsWords }),
      }),
      find(dirname(this.#file.path)),
      ...[...(cwd === undefined ? [] : [cwd]), ...more].map(find),
    ]);
    const [started] = cwd === undefined ? [] : dirs;
    const own = [place.real, place.lexical];
    const isOpen = dirs
      .flatMap(({ real, lexical }) => [real, lexical])
      .some((dir) => dir !== undefined && own.some((path) => path !== undefined && isBelow(path, dir)));
    const fault = isOpen
      ? `${this.#file.path} is in the session's directories, where its agent could change it`
      : facts.fault;
    return [
      { ...facts, ...defined({ fault }) },
      { ...toSessionFacts(session), ...(session.cwd === undefined ? {} : defined({ started })) },
    ];
  }

  #count(rules: readonly PolicyRule[]): CountedRule[] {
    return rules.map((rule) => ({
      rule,
      uses: this.#uses?.get(rule.id)?.uses ?? 0,
      ...(rule.until === undefined ? {} : { untilMs: Date.parse(rule.until) }),
    }));
  }

  /** Before `#count`. */
  #loadUses(): Promise<void> {
    this.#reading ??= this.#readUses();
    return this.#reading;
  }

  async #readUses(): Promise<void> {
    try {
      this.#uses = new Map((await this.#parts.store.ruleUses()).map((one) => [one.rule_id, one]));
    } catch (error) {
      this.#reading = undefined;
      throw error;
    }
  }

  /** The store counts when the answer is stored; this is the same count, ahead of it. */
  #addUse(rule_id: string, by: 1 | -1): void {
    const known = this.#uses?.get(rule_id) ?? { rule_id, uses: 0, last_used_at_ms: 0 };
    const last_used_at_ms = by === 1 ? this.#now() : known.last_used_at_ms;
    this.#uses?.set(rule_id, { rule_id, uses: known.uses + by, last_used_at_ms });
  }

  #toView(rule: PolicyRule, counted: CountedRule | undefined): RuleView {
    const { uses = 0, untilMs } = counted ?? {};
    const isExpired = untilMs !== undefined && untilMs <= this.#now();
    const isUsedUp = rule.max_uses !== undefined && uses >= rule.max_uses;
    const last = this.#uses?.get(rule.id)?.last_used_at_ms;
    return {
      rule,
      text: describeRule(rule),
      state: isExpired ? "expired" : isUsedUp ? "used_up" : "active",
      uses,
      ...(last === undefined || last === 0 ? {} : { last_used_at_ms: last }),
    };
  }

  async #requireSession(session_id: string): Promise<SessionRow> {
    const row = await this.#parts.findSession(session_id);
    if (row === undefined) throw new CodedError("session_unknown", `no session ${session_id}`);
    return row;
  }
}

/** A template of the same length with a hole for a path. */
function namesPath({ argv = [] }: PolicyWhen, words: readonly string[]): boolean {
  return argv.length === words.length && argv.includes("<path-within-cwd>");
}

/** The name that an agent gave to a session it spawned says nothing. */
function toSessionFacts({ session_id, name, parent }: SessionRow): SessionFacts {
  return { session_id, ...(parent === undefined ? defined({ label: name }) : {}) };
}

function toSummary({ rules, sha256 }: LoadedRules): Pick<PolicyChange, "sha256" | "rule_ids"> {
  return { sha256, rule_ids: rules.map(({ id }) => id) };
}

function toRefusal(row: RequestRow, { id, why }: PolicyRule): Answer {
  const choice = row.payload.choices.find(
    ({ decision, option }) => decision === "decline" && option === undefined,
  );
  if (choice === undefined) return makePolicyAnswer(row);
  const message = why === undefined || why === "" ? `Denied by the user's policy rule ${id}.` : why;
  return { decision: "decline", ...(choice.takes?.includes("message") ? { message } : {}) };
}

function toOutcome({ status, answer }: RequestRow): string {
  if (answer === undefined) return status;
  return "decision" in answer ? answer.decision : "answered";
}
