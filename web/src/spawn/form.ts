// What the form for a new session holds, what is wrong with it, and what is sent. Pure.
import type { SpawnBody } from "../../../src/client/http/types.ts";
import type { SessionView } from "../../../src/protocol/views.ts";

export interface SpawnForm {
  backend: string;
  cwd: string;
  prompt: string;
  name: string;
  model: string;
  parent: string;
  budget: string;
  approvals: boolean;
}
export type Field = keyof SpawnForm;
export type Errors = Partial<Record<Field, string>>;

export const EMPTY_FORM: SpawnForm = {
  backend: "",
  cwd: "",
  prompt: "",
  name: "",
  model: "",
  parent: "",
  budget: "",
  approvals: true,
};

const MAX_NAME = 200;

export function checkForm(form: SpawnForm): Errors {
  const errors: Errors = {};
  const cwd = form.cwd.trim();
  if (form.backend === "") errors.backend = "Choose an agent.";
  if (cwd !== "" && !cwd.startsWith("/")) errors.cwd = "A whole path is needed: it begins with “/”.";
  if (form.name.trim().length > MAX_NAME) errors.name = `At most ${MAX_NAME} characters.`;
  if (form.budget.trim() !== "" && readBudget(form.budget) === undefined)
    errors.budget = "An amount in dollars, such as 2.50, or nothing.";
  return errors;
}

function readBudget(text: string): number | undefined {
  const plain = text.trim().replace(/^\$/, "").replace(",", ".");
  const amount = /^(\d+(\.\d*)?|\.\d+)$/.test(plain) ? Number(plain) : 0;
  // With nothing to spend no agent could begin.
  return amount > 0 ? amount : undefined;
}

/** Of a form without errors. What was left empty is left out: the daemon and the agent decide then. */
export function bodyOf(form: SpawnForm): SpawnBody {
  const max_cost_usd = readBudget(form.budget);
  const text = (key: "cwd" | "name" | "model" | "parent"): Partial<SpawnBody> =>
    form[key].trim() === "" ? {} : { [key]: form[key].trim() };
  return {
    backend: form.backend,
    ...text("cwd"),
    ...(form.prompt.trim() === "" ? {} : { prompt: form.prompt }),
    ...text("name"),
    ...text("model"),
    ...text("parent"),
    ...(form.approvals ? {} : { approvals: false }),
    ...(max_cost_usd === undefined ? {} : { budget: { max_cost_usd } }),
  };
}

const FIELD_OF_CODE: Readonly<Record<string, Field>> = {
  unknown_backend: "backend",
  auth_failed: "backend",
  session_unknown: "parent",
  family_limit: "parent",
};

/** At which field a refusal of the daemon belongs; undefined: to the form as a whole. */
export function fieldOfError({ code, message }: { code: string; message: string }): Field | undefined {
  const named = (["cwd", "model", "name", "prompt", "parent", "budget"] as const).find(
    (field) => message.startsWith(`/${field}`) || message.includes(`/${field}:`),
  );
  if (named !== undefined) return named;
  if (/\bcwd\b|director/i.test(message)) return "cwd";
  return FIELD_OF_CODE[code];
}

/** What is kept for the next time: what a person would type again. */
export type Remembered = Pick<SpawnForm, "backend" | "cwd" | "approvals"> & {
  models: Record<string, string>;
};

export function readRemembered(text: string | null): Partial<Remembered> {
  let kept: unknown;
  try {
    kept = JSON.parse(text ?? "{}");
  } catch {
    // Somebody else's, or torn: nothing is remembered then.
    return {};
  }
  if (typeof kept !== "object" || kept === null) return {};
  const { backend, cwd, approvals, models } = kept as Record<string, unknown>;
  return {
    ...(typeof backend === "string" ? { backend } : {}),
    ...(typeof cwd === "string" ? { cwd } : {}),
    ...(typeof approvals === "boolean" ? { approvals } : {}),
    ...(typeof models === "object" && models !== null ? { models: onlyTexts(models) } : {}),
  };
}

function onlyTexts(models: object): Record<string, string> {
  return Object.fromEntries(Object.entries(models).filter(([, model]) => typeof model === "string"));
}

/** Directories that sessions work in, the latest first, each once. */
export function knownDirectories(sessions: Iterable<SessionView>): string[] {
  const latest = [...sessions].sort((a, b) => b.last_active_at_ms - a.last_active_at_ms);
  return [...new Set(latest.flatMap(({ cwd }) => (cwd === undefined ? [] : [cwd])))].slice(0, 20);
}

/** Models that sessions of this agent use. */
export function knownModels(sessions: Iterable<SessionView>, backend: string): string[] {
  const models = [...sessions].flatMap((one) =>
    one.backend === backend && one.model !== undefined ? [one.model] : [],
  );
  return [...new Set(models)].sort();
}
