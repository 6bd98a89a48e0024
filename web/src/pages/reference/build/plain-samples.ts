import type { Answer, Parameter } from "../../../api/reference-document.ts";
import { writeLiteral } from "../../../parts/samples/write-literal.ts";

export type PlainCall = {
  id: string;
  method: string;
  path: string;
  parameters: readonly Parameter[];
  answers: readonly Answer[];
  request: { mediaType: string; example: unknown } | null;
  baseUrl: string;
};

/** Form values that name a local file, or several. */
export function isFile(value: unknown): boolean {
  return Array.isArray(value) ? value.some(isFile) : typeof value === "string" && value.startsWith("@");
}

type Kind = "json" | "text" | "events" | "bytes";

/** Kind of the response, which decides how a sample reads it. */
function findKind({ answers }: PlainCall): Kind {
  const types = answers.flatMap(({ contents }) => contents.map(({ mediaType }) => mediaType));
  if (types.includes("application/json")) return "json";
  if (types.includes("text/event-stream")) return "events";
  return types.every((type) => type.startsWith("text/")) ? "text" : "bytes";
}

function writeUrl({ baseUrl, path, parameters }: PlainCall): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => findExample(parameters, name) ?? name);
  const query = parameters
    .filter(({ place, example }) => place === "query" && example !== undefined)
    .map(({ name, example = "" }) => [name, example]);
  return `${baseUrl}${filled}${query.length === 0 ? "" : `?${new URLSearchParams(query)}`}`;
}

function findExample(parameters: readonly Parameter[], name: string): string | undefined {
  return parameters.find((parameter) => parameter.name === name)?.example;
}

function listFields({ request }: PlainCall): [string, unknown][] {
  return Object.entries((request?.example ?? {}) as Record<string, unknown>);
}

function isForm({ request }: PlainCall): boolean {
  return request?.mediaType === "multipart/form-data";
}

/** Optional bodies are omitted. */
function hasBody(call: PlainCall): boolean {
  return call.request !== null && call.request.example !== undefined;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function quoteWords(text: string): string {
  return /^[\w@./-]+$/.test(text) ? text : quote(text);
}

export function writeOperationCurl(call: PlainCall): string {
  const url = writeUrl(call);
  const isPlain = call.method === "GET" || (call.method === "POST" && hasBody(call));
  const lines = [
    `curl -sS${isPlain ? "" : ` -X ${call.method}`}${findKind(call) === "events" ? "N" : ""} ${url.includes("&") ? `"${url}"` : url}`,
    ...(call.path.startsWith("/messages")
      ? [`-H "x-api-key: $SLUICE_API_KEY"`, `-H "anthropic-version: 2023-06-01"`]
      : [`-H "Authorization: Bearer $SLUICE_API_KEY"`]),
  ];
  if (isForm(call))
    lines.push(
      ...listFields(call).flatMap(([name, value]) =>
        [value].flat().map((one) => `-F ${name}=${quoteWords(String(one))}`),
      ),
    );
  else if (hasBody(call)) {
    lines.push(`-H "Content-Type: application/json"`, `-d ${quote(JSON.stringify(call.request?.example, null, 2))}`);
  }
  if (findKind(call) === "bytes") lines.push("--output file");
  return `${lines.join(" \\\n  ")}\n`;
}

const pythonUses: Record<Kind, string> = {
  json: "print(answer.json())",
  text: "print(answer.text)",
  bytes: "print(len(answer.content))",
  events: `for line in answer.iter_lines(decode_unicode=True):
    print(line)`,
};

export function writeRequests(call: PlainCall): string {
  const kind = findKind(call);
  const body = hasBody(call)
    ? [`    json=${writeLiteral(call.request?.example, "python", { indent: 4, before: 5 })},\n`]
    : [];
  return `import os
import requests

answer = requests.${call.method.toLowerCase()}(
    "${writeUrl(call)}",
    headers={"Authorization": f"Bearer {os.environ['SLUICE_API_KEY']}"},
${body.join("")}${kind === "events" ? "    stream=True,\n" : ""})
answer.raise_for_status()
${pythonUses[kind]}
`;
}

const typescriptUses: Record<Kind, string> = {
  json: "console.log(await answer.json());",
  text: "console.log(await answer.text());",
  bytes: "console.log((await answer.arrayBuffer()).byteLength);",
  events: `const lines = answer.body?.pipeThrough(new TextDecoderStream()) ?? [];
for await (const text of lines) console.log(text);`,
};

export function writeFetch(call: PlainCall): string {
  const authorization = "Authorization: `Bearer ${process.env.SLUICE_API_KEY}`";
  const lines = [
    ...(call.method === "GET" ? [] : [`  method: "${call.method}",`]),
    `  headers: { ${authorization}${hasBody(call) ? ', "Content-Type": "application/json"' : ""} },`,
    ...(hasBody(call)
      ? [`  body: JSON.stringify(${writeLiteral(call.request?.example, "typescript", { indent: 2, before: 22 })}),`]
      : []),
  ];
  return `const answer = await fetch("${writeUrl(call)}", {
${lines.join("\n")}
});
if (!answer.ok) throw new Error(await answer.text());
${typescriptUses[findKind(call)]}
`;
}
