// Routes of the dashboard: its files and one-time links.
import { CodedError } from "../../../base/coded-error.ts";
import { EnterBody, EnterReply, LinkBody, WebLink } from "../../../protocol/wire/http.ts";
import { readBearer } from "../guard.ts";
import { defineJsonReply, type Route, route } from "../route.ts";
import { ENTER } from "../web/access.ts";
import { PAGE, type WebFile, type WebFiles } from "../web/files.ts";

/** The sender is not authenticated yet, and the body is empty. */
const MAX_ENTER_BYTES = 1_000;

export const WEB_ROUTES: readonly Route[] = [
  route({
    method: "get",
    path: PAGE,
    name: "dashboard",
    summary: "The dashboard's page. Contains no data and needs no token.",
    isOpen: true,
    replies: { 200: { meaning: "The page.", types: ["text/html"] } },
    errors: ["not_found"],
    handle: (_call, { web }) => fileAt(PAGE, web.files()),
  }),
  route({
    method: "get",
    path: "/web/{file}",
    name: "dashboard_file",
    summary: "A file of the dashboard, by its exact name. Needs no token.",
    isOpen: true,
    replies: {
      200: {
        meaning: "The file.",
        types: ["text/javascript", "text/css", "image/svg+xml", "application/manifest+json"],
      },
    },
    errors: ["not_found"],
    handle: ({ param }, { web }) => fileAt(`/web/${param("file")}`, web.files()),
  }),
  route({
    method: "post",
    path: "/web/links",
    name: "web_link",
    summary:
      "Creates a link that opens the dashboard once, within 10 minutes. If no loopback port is open, opens the one from the body, the settings, or 7433 (any free port if that is in use).",
    personOnly: "open the dashboard",
    body: { name: "LinkBody", schema: LinkBody },
    replies: { 201: defineJsonReply("The link.", "WebLink", WebLink) },
    errors: ["not_found"],
    handle: async ({ body }, { web }) => ({ status: 201, body: await web.link(body.port) }),
  }),
  route({
    method: "post",
    path: ENTER,
    name: "web_enter",
    summary: "Exchanges a link's ticket, sent as the bearer token, for the API token. Works once.",
    personOnly: "open the dashboard",
    body: { name: "EnterBody", schema: EnterBody, maxBytes: MAX_ENTER_BYTES },
    replies: { 200: defineJsonReply("The token.", "EnterReply", EnterReply) },
    errors: ["too_many_tries"],
    handle: async ({ incoming }, { web }) => ({
      body: { token: await web.enter(readBearer(incoming.headers) ?? "") },
    }),
  }),
];

function fileAt(path: string, files: WebFiles): { file: WebFile } {
  const file = files.get(path);
  if (file === undefined) throw new CodedError("not_found", `no dashboard file ${path}`);
  return { file };
}
