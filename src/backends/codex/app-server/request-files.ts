// Approval of a patch. The request carries neither paths nor diff: they are in the item that it names.
import type { JsonObject } from "../../../base/json.ts";
import { changesText } from "../../../protocol/change-words.ts";
import type { Choice, RequestPayload } from "../../../protocol/requests.ts";
import { titleOf } from "../../request-title.ts";
import { isObjectEntry, objectOf, optional, stringOf, textOf } from "../../values.ts";
import { changesOf } from "./item-tools.ts";
import { CANCEL, DECLINE, itemFor } from "./request-texts.ts";
import type { Asked } from "./requests.ts";
import type { CodexState } from "./state.ts";

type Change = NonNullable<RequestPayload["changes"]>[number];

const TOOL_NAME = "apply_patch";
const FOR_SESSION: Choice = { decision: "acceptForSession", remembers: ["changes of these files"] };

export function askFileChange(state: CodexState, params: JsonObject): Asked {
  const changes = changesOf(itemFor(state, params)).flatMap(toChange);
  return { request_type: "file_change", payload: toPayload(params, changes, DECLINE) };
}

/** `applyPatchApproval`, of clients that speak the first version. */
export function askLegacyFileChange(_state: CodexState, params: JsonObject): Asked {
  const changes = Object.entries(objectOf(params["fileChanges"])).filter(isObjectEntry).map(toLegacyChange);
  return {
    request_type: "file_change",
    payload: toPayload(params, changes, { ...DECLINE, takes: ["message"] }),
  };
}

function toPayload(params: JsonObject, changes: Change[], decline: Choice): RequestPayload {
  const root = textOf(params["grantRoot"]);
  const what = changesText(changes);
  const session =
    root === undefined ? FOR_SESSION : { ...FOR_SESSION, remembers: [`writing anywhere under ${root}`] };
  // What nobody can see, nobody can allow.
  const isShown = changes.length > 0 || root !== undefined;
  return {
    title: titleOf(`${TOOL_NAME}: ${what || (root === undefined ? "not told" : `write under ${root}`)}`),
    ...optional("reason", textOf(params["reason"])),
    ...(changes.length > 0 ? { changes } : {}),
    tool_name: TOOL_NAME,
    ...(root === undefined ? {} : { input: { grantRoot: root } }),
    choices: [...(isShown ? [{ decision: "accept" as const }, session] : []), decline, CANCEL],
  };
}

function toChange(change: JsonObject): Change[] {
  const path = textOf(change["path"]);
  if (path === undefined) return [];
  const kind = objectOf(change["kind"]);
  return [
    {
      path,
      kind: kindOf(kind["type"]),
      ...optional("diff", stringOf(change["diff"])),
      ...optional("move_path", textOf(kind["move_path"])),
    },
  ];
}

function toLegacyChange([path, change]: [string, JsonObject]): Change {
  return {
    path,
    kind: kindOf(change["type"]),
    ...optional("diff", stringOf(change["unified_diff"]) ?? stringOf(change["content"])),
    ...optional("move_path", textOf(change["move_path"])),
  };
}

function kindOf(type: unknown): Change["kind"] {
  return type === "add" || type === "delete" ? type : "update";
}
