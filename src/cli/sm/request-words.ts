// How `sm` calls what can be decided about a request.
import { revealLine } from "../../base/sanitize.ts";
import type { RequestRow } from "../../client/index.ts";
import type { RequestWords } from "../request-text.ts";

export const SM_WORDS: RequestWords = {
  show: "sm requests",
  verbs: {
    accept: "approve",
    acceptForSession: "approve --session",
    acceptAlways: "approve --always",
    decline: "decline",
    cancel: "decline --cancel",
  },
};

export function hintFor({ request_id, payload }: RequestRow): string {
  const id = revealLine(request_id);
  return payload.questions === undefined
    ? `Answer: sm approve ${id} (or sm decline)`
    : `Answer: sm answer ${id} 1=TEXT`;
}
