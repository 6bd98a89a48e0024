import { writeLiteral } from "../../../parts/samples/write-literal.ts";
import { isFile, type PlainCall } from "./plain-samples.ts";

type SdkCall = { sdk: "openai" | "anthropic"; method: string };

/** The SDK method of an operation, in OpenAI's and Anthropic's clients. */
const sdkCalls: Readonly<Record<string, SdkCall>> = {
  listModels: { sdk: "openai", method: "models.list" },
  getModel: { sdk: "openai", method: "models.retrieve" },
  createCompletion: { sdk: "openai", method: "completions.create" },
  getResponse: { sdk: "openai", method: "responses.retrieve" },
  deleteResponse: { sdk: "openai", method: "responses.delete" },
  cancelResponse: { sdk: "openai", method: "responses.cancel" },
  countInputTokens: { sdk: "openai", method: "responses.inputTokens.count" },
  compactResponse: { sdk: "openai", method: "responses.compact" },
  listInputItems: { sdk: "openai", method: "responses.inputItems.list" },
  createConversation: { sdk: "openai", method: "conversations.create" },
  getConversation: { sdk: "openai", method: "conversations.retrieve" },
  updateConversation: { sdk: "openai", method: "conversations.update" },
  deleteConversation: { sdk: "openai", method: "conversations.delete" },
  createConversationItems: { sdk: "openai", method: "conversations.items.create" },
  listConversationItems: { sdk: "openai", method: "conversations.items.list" },
  getConversationItem: { sdk: "openai", method: "conversations.items.retrieve" },
  deleteConversationItem: { sdk: "openai", method: "conversations.items.delete" },
  listFiles: { sdk: "openai", method: "files.list" },
  createFile: { sdk: "openai", method: "files.create" },
  getFile: { sdk: "openai", method: "files.retrieve" },
  deleteFile: { sdk: "openai", method: "files.delete" },
  getFileContent: { sdk: "openai", method: "files.content" },
  editImage: { sdk: "openai", method: "images.edit" },
  createTranslation: { sdk: "openai", method: "audio.translations.create" },
  countMessageTokens: { sdk: "anthropic", method: "messages.countTokens" },
};

export function findSdkCall(operationId: string): SdkCall | null {
  return sdkCalls[operationId] ?? null;
}

/** Anthropic's clients append the API version themselves. */
function findBaseUrl(sdk: SdkCall["sdk"], baseUrl: string): string {
  return sdk === "anthropic" ? baseUrl.replace(/\/v1$/, "") : baseUrl;
}

/** The last path id is the method's argument; earlier ones are named parameters. */
function listArguments(call: PlainCall): { id: string | null; fields: Record<string, unknown> } {
  const ids = call.parameters.filter(({ place }) => place === "path");
  const last = ids.at(-1);
  const outer = ids.slice(0, -1).map(({ name, example = "" }) => [name, example] as const);
  const query = call.parameters
    .filter(({ place, example }) => place === "query" && example !== undefined)
    .map(({ name, example, type }) => [name, type === "integer" ? Number(example) : example] as const);
  const body = Object.entries((call.request?.example ?? {}) as Record<string, unknown>);
  return { id: last?.example ?? null, fields: Object.fromEntries([...outer, ...query, ...body]) };
}

export function writeTypescriptSdk({ sdk, method }: SdkCall, call: PlainCall): string {
  const { id, fields } = listArguments(call);
  const names = { openai: ["OpenAI", "openai"], anthropic: ["Anthropic", "@anthropic-ai/sdk"] } as const;
  const [client, packageName] = names[sdk];
  const hasFile = Object.values(fields).some(isFile);
  const named = Object.keys(fields).length === 0 ? [] : [openFiles(writeLiteral(fields, "typescript", { before: 50 }))];
  const given = [...(id === null ? [] : [JSON.stringify(id)]), ...named].join(", ");
  return `${hasFile ? 'import { createReadStream } from "node:fs";\n' : ""}import ${client} from "${packageName}";

const client = new ${client}({ apiKey: process.env.SLUICE_API_KEY, baseURL: "${findBaseUrl(sdk, call.baseUrl)}" });

${showAnswer(`await client.${method}(${given})`, call)}
`;
}

function openFiles(literal: string): string {
  return literal.replaceAll(/"@([^"]+)"/g, 'createReadStream("$1")');
}

function showAnswer(asked: string, { id }: PlainCall): string {
  if (id !== "getFileContent") return `const answer = ${asked};\nconsole.log(answer);`;
  return `const answer = ${asked};\nconsole.log((await answer.arrayBuffer()).byteLength);`;
}

export function writePythonSdk({ sdk, method }: SdkCall, call: PlainCall): string {
  const { id, fields } = listArguments(call);
  const client = { openai: "OpenAI", anthropic: "Anthropic" }[sdk];
  const snake = method.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const named = Object.entries(fields).map(([name, value]) => {
    const written = writeLiteral(value, "python", { indent: 4 }).replaceAll(/"@([^"]+)"/g, 'open("$1", "rb")');
    return `    ${name}=${written},\n`;
  });
  const own = id === null ? "" : JSON.stringify(id);
  const given = named.length === 0 ? own : `\n${own === "" ? "" : `    ${own},\n`}${named.join("")}`;
  const shown = call.id === "getFileContent" ? "len(answer.read())" : "answer";
  return `import os
from ${sdk} import ${client}

client = ${client}(api_key=os.environ["SLUICE_API_KEY"], base_url="${findBaseUrl(sdk, call.baseUrl)}")

answer = client.${snake}(${given})
print(${shown})
`;
}
