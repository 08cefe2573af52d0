// The route that finds files of a session's directory, for completion in composers.
import * as z from "zod";
import { FilesReply } from "../../../protocol/files.ts";
import { defineWholeNumber } from "../query.ts";
import { defineJsonReply, type Route, route } from "../route.ts";

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 200;

export const FILE_ROUTES: readonly Route[] = [
  route({
    method: "get",
    path: "/sessions/{id}/files",
    name: "find_files",
    summary:
      "Files and directories below the session's directory whose paths contain these letters in order, best matches first. Those that git ignores are left out, and so are links that lead outside.",
    query: z.strictObject({
      match: z.string().max(500).default("").describe("Letters of the path. Default: any path."),
      limit: defineWholeNumber(1, MAX_LIMIT)
        .default(DEFAULT_LIMIT)
        .describe(`Maximum number (default ${DEFAULT_LIMIT}).`),
    }),
    replies: { 200: defineJsonReply("The files.", "FilesReply", FilesReply) },
    errors: ["session_unknown"],
    handle: async ({ param, query }, { manager }) => ({ body: await manager.files(param("id"), query) }),
  }),
];
