// Approvals of old Codex: the MCP request `elicitation/create` with its own fields → the question to ask, and the
// decision → the answer. Codex reads only `decision`.

import { isObject, type JsonObject } from "../../../base/json.ts";
import { shellWord } from "../../../base/shell-word.ts";
import { asObject, asString, defined, omitNulls } from "../../../base/values.ts";
import type { Answer, Choice, Decision, RequestPayload, RequestType } from "../../../protocol/requests.ts";
import { cutTitle } from "../../request-title.ts";
import type { Ask } from "../../types.ts";
import type { McpState } from "./state.ts";

export const ELICITATION_METHOD = "elicitation/create";
/** For requests that can no longer be decided. Not `abort`: it would stop whatever turn is running when it arrives. */
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
  /** Not asked again after `acceptForSession`. */
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

/** Undefined if it is not one of Codex's own approvals. */
export function toAsk(state: McpState, native_id: string, params: JsonObject): Ask | undefined {
  const kind = KINDS.get(params["codex_elicitation"]);
  if (kind === undefined) return undefined;
  const about = kind.describe(params);
  const isShown = (about.command ?? "") !== "" || (about.changes ?? []).length > 0;
  const details = omitNulls({
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
      choices: makeChoices(kind, isShown),
      details,
    },
    ...defined({
      thread_id: asString(params["threadId"]) ?? state.threadId,
      native_turn_id: state.held.native_turn_id,
      item_id: asString(params["codex_call_id"]),
    }),
  };
}

/** Undefined if the answer is not a decision Codex knows. */
export function toReply(answer: Answer): { decision: string } | undefined {
  const decision = "decision" in answer ? DECISIONS[answer.decision] : undefined;
  return decision === undefined ? undefined : { decision };
}

/** What cannot be shown cannot be allowed. */
function makeChoices({ remembers }: Kind, isShown: boolean): Choice[] {
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
    title: cutTitle(`shell: ${command}`),
    command,
    tool_name: "shell",
    ...defined({ cwd: asString(params["codex_cwd"]), reason: asString(params["codex_reason"]) }),
  };
}

function describePatch(params: JsonObject): About {
  const changes = Object.entries(asObject(params["codex_changes"])).map(([path, change]) =>
    readChange(path, asObject(change)),
  );
  const paths = changes.map(({ path }) => path).join(", ");
  return {
    title: cutTitle(`apply_patch: ${paths || "no files named"}`),
    changes,
    tool_name: "apply_patch",
    ...defined({ reason: asString(params["codex_reason"]) }),
  };
}

/** `{type: "add", content}`, or in older versions `{add: {content}}`. */
function readChange(path: string, change: JsonObject): NonNullable<RequestPayload["changes"]>[number] {
  const kind = (["add", "delete", "update"] as const).find(
    (name) => change["type"] === name || isObject(change[name]),
  );
  const body = kind !== undefined && isObject(change[kind]) ? change[kind] : change;
  return {
    path,
    kind: kind ?? "update",
    ...defined({
      diff: asString(body["unified_diff"]) ?? asString(body["content"]),
      move_path: asString(body["move_path"]),
    }),
  };
}
