// docs/http.md and schemas/openapi.json, from the table of routes.
import {
  BODY_ERRORS,
  COMMON_ERRORS,
  createOpenApi,
  type OpenApi,
  type Operation,
  type Shape,
} from "../../src/servers/http/openapi.ts";
import { ROUTES } from "../../src/servers/http/routes/index.ts";
import { code, page, table } from "./markdown.ts";

const COMMON: ReadonlySet<string> = new Set([...COMMON_ERRORS, ...BODY_ERRORS]);
const EXAMPLES = `SOCK=\${BLEMEESD_SOCKET:-$XDG_RUNTIME_DIR/blemeesd.sock}
api() { curl --silent --show-error --unix-socket "$SOCK" -H 'Content-Type: application/json' "$@"; }

api http://localhost/health
api http://localhost/sessions -d '{"backend":"demo","prompt":"approve","name":"first"}'
api 'http://localhost/sessions?live=true'
api http://localhost/sessions/ID/requests
api http://localhost/sessions/ID/requests/REQUEST/respond -d '{"decision":"accept"}'
api http://localhost/sessions/ID/input -H 'Idempotency-Key: 7' -d '{"text":"and now the tests"}'
api 'http://localhost/sessions/ID/wait?until=idle&timeout_s=600'
api 'http://localhost/sessions/ID/events?since_seq=0&limit=50'
api -N -H 'Accept: text/event-stream' 'http://localhost/sessions/ID/events?since_seq=0'
api -N http://localhost/events
api -X DELETE 'http://localhost/sessions/ID?tree=true'`;

const LOOPBACK = `blemeesd --http 7433
curl -H "Authorization: Bearer $(cat ~/.local/state/blemees/http-token)" http://127.0.0.1:7433/sessions`;

export function openApiFile(): string {
  return `${JSON.stringify(createOpenApi(ROUTES), null, 2)}\n`;
}

export function httpPage(): string {
  const document = createOpenApi(ROUTES);
  return page("HTTP API", "src/servers/http/routes/", [
    "HTTP/1.1 on the daemon's Unix socket, which also serves blemees/2: the first byte of a connection decides. With `--http [port]`, also on that port of 127.0.0.1. Bodies are JSON. As OpenAPI 3.1: `GET /openapi.json`, [schemas/openapi.json](../schemas/openapi.json).",
    "On the Unix socket:",
    `\`\`\`sh\n${EXAMPLES}\n\`\`\``,
    "On loopback every request needs the token, except the dashboard's own files (`/`, `/web/{file}`), which contain no data, and `POST /web/enter`, which takes a link's ticket. The token's file is created with the first port, readable only by you. To change the token, remove the file and restart the daemon.",
    `\`\`\`sh\n${LOOPBACK}\n\`\`\``,
    "## Rules",
    RULES,
    "## Routes",
    table(["route", "what it does"], routeRows(document)),
    ...operations(document).flatMap(({ method, path, operation }) => section(method, path, operation)),
    "## Shapes",
    "A field with `?` may be absent. `null` is listed where it is possible.",
    ...Object.entries(document.components.schemas).flatMap(([name, shape]) => shapeSection(name, shape)),
  ]);
}

const RULES = [
  '- An error is `{"error": {"code", "message", "data"?}}` with the status of its code ([errors.md](errors.md)); the message is for users and may change. Any route may return 400 `invalid_message`, 401 `unauthorized`, 403 `forbidden`, 500 `internal` and 503 `daemon_shutdown`; one with a body also 413 `oversize_message` and 415 `unsupported_media_type`. Unknown paths are 404 `not_found`, and unsupported methods 405 `method_not_allowed`.',
  "- POST and PATCH require `Content-Type: application/json`, even without a body. Unknown fields are refused.",
  "- `Host` must be `localhost`, `127.0.0.1` or `[::1]` (on loopback with the port). `Origin` must be absent or the daemon's own. There is no CORS, and there are no cookies.",
  "- On the Unix socket a token is optional, but a wrong one is refused.",
  "- The head of a request must arrive within 5 s, and all of it within 15 s. A client that reads nothing for `slow_consumer_s` is dropped.",
  "- Requests on one connection are served in order; the next one starts when the previous reply has been sent.",
  "- `Idempotency-Key` (or `idempotency_key` in the body): the same key with the same body is executed once; the reply is then 200 and `repeated`.",
  "- A stream starts with a comment and sends one every 15 s. After a disconnect, reconnect with `Last-Event-ID`: each event is delivered once. Events: a frame's type, `gap` (frames were pruned: `since_seq`, `first_available_seq`), `catching_up` (the client was slow and is fed from the log), `closed` (the last one). A frame that could not be stored has no `id`.",
].join("\n");

interface Entry {
  method: string;
  path: string;
  operation: Operation;
}

function operations({ paths }: OpenApi): Entry[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

function routeRows(document: OpenApi): string[][] {
  return operations(document).map(({ method, path, operation }) => [
    `[${code(`${method} ${path}`)}](#${operation.operationId.replaceAll("_", "-")})`,
    operation.summary.split(/(?<=\.) /)[0] ?? "",
  ]);
}

function section(method: string, path: string, operation: Operation): string[] {
  const { parameters = [], requestBody, responses } = operation;
  const body = requestBody?.content["application/json"]?.schema;
  return [
    `### ${operation.operationId.replaceAll("_", "-")}`,
    `${code(`${method} ${path}`)}: ${operation.summary}`,
    ...(parameters.length === 0
      ? []
      : [
          table(
            ["parameter", "in", "type", "meaning"],
            parameters.map((one) => [
              code(one.required ? one.name : `${one.name}?`),
              one.in,
              typeText(one.schema),
              one.description ?? "",
            ]),
          ),
        ]),
    ...(body === undefined ? [] : [`Body: ${typeText(body)}.`]),
    table(["status", "what", "body"], replyRows(responses)),
    ...refusalText(responses),
  ];
}

function replyRows(responses: Operation["responses"]): string[][] {
  return Object.entries(responses)
    .filter(([status]) => Number(status) < 400)
    .map(([status, { description, content }]) => [
      status,
      description,
      Object.entries(content)
        .map(([type, { schema }]) => (type === "application/json" ? typeText(schema) : code(type)))
        .join(", "),
    ]);
}

/** Without the errors that any route may return: the rules list those. */
function refusalText(responses: Operation["responses"]): string[] {
  const own = Object.entries(responses)
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([status, { description }]) => description.split(", ").map((name) => ({ status, name })))
    .filter(({ name }) => !COMMON.has(name))
    .map(({ status, name }) => `${status} ${code(name)}`);
  return own.length === 0 ? [] : [`Refused with ${own.join(", ")}.`];
}

function shapeSection(name: string, shape: Shape): string[] {
  const fields = fieldsOf(shape);
  if (fields.length === 0) return [`### ${name}`, typeText(shape)];
  const isLong = (type: string): boolean => type.split(" ").length > 25;
  const rows = fields.map(([field = "", type = ""]) => [field, isLong(type) ? "see below" : type]);
  const long = fields.filter(([, type = ""]) => isLong(type)).map(([field, type]) => `${field}: ${type}.`);
  return [`### ${name}`, table(["field", "type"], rows), ...long];
}

function fieldsOf(shape: Shape): string[][] {
  const properties = (shape["properties"] ?? {}) as Record<string, Shape>;
  const required = (shape["required"] ?? []) as string[];
  return Object.entries(properties).map(([name, field]) => [
    code(required.includes(name) ? name : `${name}?`),
    typeText(field),
  ]);
}

/** A JSON Schema as one line of text. */
function typeText(shape: Shape): string {
  const ref = shape["$ref"];
  if (typeof ref === "string") return refText(ref);
  if (shape["const"] !== undefined) return code(JSON.stringify(shape["const"]));
  const words = shape["enum"];
  if (Array.isArray(words)) return words.map((word) => code(String(word))).join(", ");
  const options = shape["anyOf"] ?? shape["oneOf"];
  if (Array.isArray(options)) return options.map((one) => typeText(one as Shape)).join(" or ");
  if (shape["type"] === "array") return `list of ${typeText((shape["items"] ?? {}) as Shape)}`;
  if (shape["type"] === "object" || shape["properties"] !== undefined) return objectText(shape);
  return typeof shape["type"] === "string" ? shape["type"] : "anything";
}

function objectText(shape: Shape): string {
  const fields = fieldsOf(shape);
  if (fields.length > 0) return `{ ${fields.map(([name]) => name).join(", ")} }`;
  const rest = shape["additionalProperties"];
  return typeof rest === "object" && rest !== null ? `map to ${typeText(rest as Shape)}` : "object";
}

function refText(ref: string): string {
  const name = ref.split("/").at(-1) ?? "";
  return `[${name}](#${name.toLowerCase()})`;
}
