// Routes of the dashboard: its files, and the one-time links to it.
import { CodedError } from "../../../base/coded-error.ts";
import { EnterBody, EnterReply, LinkBody, WebLink } from "../../../protocol/wire/http.ts";
import { bearerOf } from "../guard.ts";
import { json, type Route, route } from "../route.ts";
import { ENTER } from "../web/access.ts";
import { PAGE, type WebFile, type WebFiles } from "../web/files.ts";

/** Whoever sends it has shown nothing yet, and there is nothing to say in it. */
const MAX_ENTER_BYTES = 1_000;

export const WEB_ROUTES: readonly Route[] = [
  route({
    method: "get",
    path: PAGE,
    name: "dashboard",
    summary: "The dashboard's page. It holds no data and needs no token.",
    replies: { 200: { meaning: "The page.", types: ["text/html"] } },
    errors: ["not_found"],
    handle: (_call, { web }) => fileAt(PAGE, web.files()),
  }),
  route({
    method: "get",
    path: "/web/{file}",
    name: "dashboard_file",
    summary: "A file of the dashboard, by its exact name. It needs no token either.",
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
      "A link that opens the dashboard once, within 10 minutes. Opens the loopback port if none is open: that of the body, of the settings, or 7433 (any free one when that is taken). A port that is open stays.",
    body: { name: "LinkBody", schema: LinkBody },
    replies: { 201: json("The link.", "WebLink", WebLink) },
    errors: ["not_found"],
    handle: async ({ body }, { web }) => ({ status: 201, body: await web.link(body.port) }),
  }),
  route({
    method: "post",
    path: ENTER,
    name: "web_enter",
    summary:
      "The API's token for the one-time word of a link, which is sent as the bearer token: the one route that takes it. It works once.",
    body: { name: "EnterBody", schema: EnterBody, maxBytes: MAX_ENTER_BYTES },
    replies: { 200: json("The token.", "EnterReply", EnterReply) },
    errors: ["too_many_tries"],
    handle: async ({ incoming }, { web }) => ({
      body: { token: await web.enter(bearerOf(incoming.headers) ?? "") },
    }),
  }),
];

function fileAt(path: string, files: WebFiles): { file: WebFile } {
  const file = files.get(path);
  if (file === undefined) throw new CodedError("not_found", `the dashboard has no ${path}`);
  return { file };
}
