// Approvals of old Codex: the MCP request `elicitation/create` with fields of its own → what a person is asked, and
// the decision → the answer that Codex waits for. It reads `decision` and nothing else.
import { isObject, type JsonObject } from "../../../base/json.ts";
import { shellWord } from "../../../base/shell-word.ts";
import type { Answer, Choice, Decision, RequestPayload, RequestType } from "../../../protocol/requests.ts";
import { titleOf } from "../../request-title.ts";
import type { Ask } from "../../types.ts";
import { objectOf, optional, stringOf } from "../../values.ts";
import { present } from "./fields.ts";
import type { McpState } from "./state.ts";

export const ELICITATION_METHOD = "elicitation/create";
/** For what nobody will decide any more. Not `abort`: that would stop whatever turn runs when it arrives. */
export const REFUSAL = { decision: "denied" } as const;

const DECISIONS: Readonly<Partial<Record<Decision, string>>> = {
  accept: "approved",
  acceptForSession: "approved_for_session",
  decline: "denied",
  cancel: "abort",
};

type About = Pick<RequestPayload, "title"> & Partial<RequestPayload>;

interface Kind {
  request_type: RequestType;
  /** What is not asked again after `acceptForSession`. */
  remembers: string;
  describe(params: JsonObject): About;
}

const KINDS: ReadonlyMap<unknown, Kind> = new Map<unknown, Kind>([
  ["exec-approval", { request_type: "command", remembers: "this exact command", describe: describeCommand }],
  [
    "patch-approval",
    { request_type: "file_change", remembers: "changes to these files", describe: describePatch },
  ],
]);

/** Undefined when it is none of Codex's own approvals. */
export function toAsk(state: McpState, native_id: string, params: JsonObject): Ask | undefined {
  const kind = KINDS.get(params["codex_elicitation"]);
  if (kind === undefined) return undefined;
  const about = kind.describe(params);
  const isShown = (about.command ?? "") !== "" || (about.changes ?? []).length > 0;
  const details = present({
    message: params["message"],
    command: params["codex_command"],
    parsed_cmd: params["codex_parsed_cmd"],
    changes: params["codex_changes"],
  });
  const root = params["codex_grant_root"];
  return {
    native_id,
    request_type: kind.request_type,
    payload: {
      ...about,
      ...(typeof root === "string" ? { input: { grant_root: root } } : {}),
      choices: choicesOf(kind, isShown),
      details,
    },
    ...optional("thread_id", stringOf(params["threadId"]) ?? state.threadId),
    ...optional("native_turn_id", state.held.native_turn_id),
    ...optional("item_id", stringOf(params["codex_call_id"])),
  };
}

/** Undefined when the answer is no decision that Codex knows. */
export function toReply(answer: Answer): { decision: string } | undefined {
  const decision = "decision" in answer ? DECISIONS[answer.decision] : undefined;
  return decision === undefined ? undefined : { decision };
}

/** What nobody can see, nobody can allow. */
function choicesOf({ remembers }: Kind, isShown: boolean): Choice[] {
  const accepting: Choice[] = [
    { decision: "accept" },
    { decision: "acceptForSession", remembers: [remembers] },
  ];
  return [...(isShown ? accepting : []), { decision: "decline" }, { decision: "cancel" }];
}

function describeCommand(params: JsonObject): About {
  const argv = params["codex_command"];
  const command = Array.isArray(argv)
    ? argv.map((word) => shellWord(String(word))).join(" ")
    : String(argv ?? "");
  return {
    title: titleOf(`shell: ${command}`),
    command,
    tool_name: "shell",
    ...optional("cwd", stringOf(params["codex_cwd"])),
    ...optional("reason", stringOf(params["codex_reason"])),
  };
}

function describePatch(params: JsonObject): About {
  const changes = Object.entries(objectOf(params["codex_changes"])).map(([path, change]) =>
    changeOf(path, objectOf(change)),
  );
  const paths = changes.map(({ path }) => path).join(", ");
  return {
    title: titleOf(`apply_patch: ${paths || "no files named"}`),
    changes,
    tool_name: "apply_patch",
    ...optional("reason", stringOf(params["codex_reason"])),
  };
}

/** `{type: "add", content}`, or in older versions `{add: {content}}`. */
function changeOf(path: string, change: JsonObject): NonNullable<RequestPayload["changes"]>[number] {
  const kind = (["add", "delete", "update"] as const).find(
    (name) => change["type"] === name || isObject(change[name]),
  );
  const body = kind !== undefined && isObject(change[kind]) ? change[kind] : change;
  return {
    path,
    kind: kind ?? "update",
    ...optional("diff", stringOf(body["unified_diff"]) ?? stringOf(body["content"])),
    ...optional("move_path", stringOf(body["move_path"])),
  };
}
