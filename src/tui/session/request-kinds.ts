// What each request type asks for, without loading the schemas.
import type { REQUEST_TYPES, RequestType } from "../../protocol/requests.ts";

export const REQUEST_KINDS: { readonly [Type in RequestType]: (typeof REQUEST_TYPES)[Type] } = {
  command: "permission",
  file_change: "permission",
  tool: "permission",
  permissions: "permission",
  plan: "permission",
  user_input: "input",
  elicitation: "input",
};
