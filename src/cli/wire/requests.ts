// `requests` and the verbs that answer, in the shell, over the socket.
import { CodedError } from "../../base/coded-error.ts";
import { asString } from "../../base/values.ts";
import type { Client, RequestsFilter } from "../../client/index.ts";
import { splitRequest } from "../answers.ts";
import { answerRequest, listRequests, type RequestPort, readPipedAnswers, showRequest } from "../requests.ts";
import { claim } from "./claim.ts";
import type { ShellContext } from "./context.ts";
import type { Verb, VerbArguments, VerbFrame } from "./verb.ts";

export async function runRequests(
  client: Client,
  context: ShellContext,
  { flags }: VerbArguments,
  { type: _type, id: _id, ...filter }: VerbFrame & RequestsFilter,
): Promise<number> {
  const port = createPort(client);
  if (filter.request_id !== undefined)
    return showRequest(port, context, filter.request_id, (row) => ({
      type: "blemeesd.requests",
      requests: [row],
    }));
  if (!context.isJson) return listRequests(port, context, filter, { isIdsOnly: flags["ids"] === true });
  for await (const page of client.requestPages(filter)) await context.output.json(page);
  return 0;
}

export async function runAnswer(
  client: Client,
  context: ShellContext,
  { words, rest, flags }: VerbArguments,
  { name, isRefusal, answer }: Verb & { answer: NonNullable<Verb["answer"]> },
): Promise<number> {
  return answerRequest(createPort(client, flags["take"] === true), context, {
    verb: name,
    given: splitRequest(await readPipedAnswers(words, context), rest),
    shown: asString(flags["shown"]),
    isRefusal: isRefusal === true,
    toAnswer: (given, row) => answer(given, row, flags),
  });
}

function createPort(client: Client, isTaking = false): RequestPort {
  return {
    async list(filter) {
      const requests = await client.requests(filter);
      const ids = new Set(requests.map(({ session_id }) => session_id));
      return { requests, sessions: [...ids].map((session_id) => ({ session_id })) };
    },
    get: async (request_id) => (await client.requests({ request_id }))[0],
    async respond({ session_id, request_id }, answer, shown_hash) {
      const how = { shown_hash, source: "blemeesctl" } as const;
      try {
        return await client.respond(session_id, request_id, answer, how);
      } catch (error) {
        if (!(error instanceof CodedError) || error.code !== "answer_not_allowed") throw error;
      }
      // Only the owner may answer: become it, if there is none or `--take` was given.
      const session = await claim(client, session_id, isTaking);
      return session.respond(request_id, answer, how);
    },
    // The socket has no names of sessions.
    findSession: async (session_id) => ({ session_id }),
  };
}
