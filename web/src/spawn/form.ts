// The form for a new session: validation and conversion.
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
  worktree: boolean;
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
  worktree: false,
};

const MAX_NAME = 200;

export function checkForm(form: SpawnForm): Errors {
  const errors: Errors = {};
  const cwd = form.cwd.trim();
  if (form.backend === "") errors.backend = "Choose an agent.";
  if (cwd !== "" && !cwd.startsWith("/")) errors.cwd = "Enter an absolute path, starting with “/”.";
  if (form.name.trim().length > MAX_NAME) errors.name = `Maximum ${MAX_NAME} characters.`;
  if (form.budget.trim() !== "" && readBudget(form.budget) === undefined)
    errors.budget = "Enter an amount in dollars, such as 2.50, or leave it empty.";
  return errors;
}

function readBudget(text: string): number | undefined {
  const plain = text.trim().replace(/^\$/, "").replace(",", ".");
  const amount = /^(\d+(\.\d*)?|\.\d+)$/.test(plain) ? Number(plain) : 0;
  // With a zero budget no agent could start.
  return amount > 0 ? amount : undefined;
}

/** For a valid form. Empty fields are omitted, so that defaults apply. */
export function toSpawnBody(form: SpawnForm): SpawnBody {
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
    ...(form.worktree ? { worktree: {} } : {}),
  };
}

const FIELDS_BY_CODE: Readonly<Record<string, Field>> = {
  unknown_backend: "backend",
  auth_failed: "backend",
  session_unknown: "parent",
  family_limit: "parent",
  worktree_refused: "cwd",
};

/** The field that an error of the daemon is about; undefined for the whole form. */
export function findErrorField({ code, message }: { code: string; message: string }): Field | undefined {
  const named = (["cwd", "model", "name", "prompt", "parent", "budget"] as const).find(
    (field) => message.startsWith(`/${field}`) || message.includes(`/${field}:`),
  );
  if (named !== undefined) return named;
  if (/\bcwd\b|director/i.test(message)) return "cwd";
  return FIELDS_BY_CODE[code];
}

/** Choices remembered for the next session. */
export type Remembered = Pick<SpawnForm, "backend" | "cwd" | "approvals"> & {
  models: Record<string, string>;
};

export function readRemembered(text: string | null): Partial<Remembered> {
  let kept: unknown;
  try {
    kept = JSON.parse(text ?? "{}");
  } catch {
    // Invalid: nothing is remembered.
    return {};
  }
  if (typeof kept !== "object" || kept === null) return {};
  const { backend, cwd, approvals, models } = kept as Record<string, unknown>;
  return {
    ...(typeof backend === "string" ? { backend } : {}),
    ...(typeof cwd === "string" ? { cwd } : {}),
    ...(typeof approvals === "boolean" ? { approvals } : {}),
    ...(typeof models === "object" && models !== null ? { models: pickStrings(models) } : {}),
  };
}

function pickStrings(models: object): Record<string, string> {
  return Object.fromEntries(Object.entries(models).filter(([, model]) => typeof model === "string"));
}

/** Working directories of sessions, most recent first. */
export function knownDirectories(sessions: Iterable<SessionView>): string[] {
  const latest = [...sessions].sort((a, b) => b.last_active_at_ms - a.last_active_at_ms);
  return [...new Set(latest.flatMap(({ cwd }) => (cwd === undefined ? [] : [cwd])))].slice(0, 20);
}

/** Models used by sessions of this agent. */
export function knownModels(sessions: Iterable<SessionView>, backend: string): string[] {
  const models = [...sessions].flatMap((one) =>
    one.backend === backend && one.model !== undefined ? [one.model] : [],
  );
  return [...new Set(models)].sort();
}
