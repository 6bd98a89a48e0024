import type { ErrorCode } from "../errors/error-table.ts";
import { errorAnswers } from "./error-answers.ts";

/**
 * Every endpoint of the API: its key scope, its stability, and whether every call costs money. Operators can disable
 * preview endpoints; keys can be limited to scopes.
 */
const endpointTable = {
  listModels: { scope: "models", stability: "beta", readsMemory: true, anthropicForm: "if-asked" },
  getModel: { scope: "models", stability: "preview", readsMemory: true, anthropicForm: "if-asked" },
  listPrices: { scope: "pricing", stability: "preview", readsMemory: true },
  createQuote: { scope: "quotes", stability: "preview" },
  createCompletion: { scope: "chat", wire: "completions", stability: "preview", spends: true },
  createChatCompletion: { scope: "chat", stability: "beta", spends: true },
  createConversation: { scope: "chat", wire: "responses", stability: "preview" },
  getConversation: { scope: "chat", wire: "responses", stability: "preview" },
  updateConversation: { scope: "chat", wire: "responses", stability: "preview" },
  deleteConversation: { scope: "chat", wire: "responses", stability: "preview" },
  createConversationItems: { scope: "chat", wire: "responses", stability: "preview" },
  listConversationItems: { scope: "chat", wire: "responses", stability: "preview" },
  getConversationItem: { scope: "chat", wire: "responses", stability: "preview" },
  deleteConversationItem: { scope: "chat", wire: "responses", stability: "preview" },
  createResponse: { scope: "chat", wire: "responses", stability: "preview", spends: true },
  countInputTokens: { scope: "chat", wire: "responses", stability: "preview" },
  compactResponse: { scope: "chat", wire: "responses", stability: "preview", spends: true },
  createMessage: { scope: "chat", wire: "messages", stability: "preview", spends: true, anthropicForm: "always" },
  countMessageTokens: { scope: "chat", wire: "messages", stability: "preview", anthropicForm: "always" },
  getResponse: { scope: "chat", wire: "responses", stability: "preview" },
  deleteResponse: { scope: "chat", wire: "responses", stability: "preview" },
  cancelResponse: { scope: "chat", wire: "responses", stability: "preview" },
  listInputItems: { scope: "chat", wire: "responses", stability: "preview" },
  getBalance: { scope: "balance", stability: "preview" },
  listBuckets: { scope: "balance", stability: "preview" },
  listLedgerEntries: { scope: "balance", stability: "preview" },
  listHolds: { scope: "balance", stability: "preview" },
  getUsage: { scope: "usage", stability: "preview" },
  listCharges: { scope: "usage", stability: "preview" },
  getCharge: { scope: "usage", stability: "preview" },
  listRequests: { scope: "usage", wire: "requests", stability: "preview" },
  summarizeRequests: { scope: "usage", wire: "requests", stability: "preview" },
  exportRequests: { scope: "usage", wire: "requests", stability: "preview" },
  getRequest: { scope: "usage", wire: "requests", stability: "preview" },
  getRequestContent: { scope: "contents", wire: "requests", stability: "preview" },
  deleteRequestContent: { scope: "contents", wire: "requests", stability: "preview" },
  createFile: { scope: "files", stability: "preview" },
  listFiles: { scope: "files", stability: "preview" },
  getFile: { scope: "files", stability: "preview" },
  getFileContent: { scope: "files", stability: "preview" },
  deleteFile: { scope: "files", stability: "preview" },
  createImage: { scope: "images", stability: "preview", spends: true },
  editImage: { scope: "images", stability: "preview", spends: true },
  createVideo: { scope: "videos", stability: "preview", spends: true },
  createAvatar: { scope: "avatars", stability: "preview", spends: true },
  createDrama: { scope: "dramas", stability: "preview" },
  createDramaShot: { scope: "dramas", stability: "preview" },
  createEmbedding: { scope: "embeddings", stability: "preview", spends: true },
  createSpeech: { scope: "speech", stability: "preview", spends: true },
  createTranscription: { scope: "transcriptions", stability: "preview", spends: true },
  createTranslation: { scope: "transcriptions", stability: "preview", spends: true },
  listTasks: { scope: "tasks", stability: "preview" },
  countTasks: { scope: "tasks", stability: "preview" },
  getTask: { scope: "tasks", stability: "preview" },
  getTaskRequest: { scope: "tasks", stability: "preview" },
  cancelTask: { scope: "tasks", stability: "preview" },
  streamTaskEvents: { scope: "tasks", stability: "preview" },
  createWebhookEndpoint: { scope: "webhooks", stability: "preview" },
  listWebhookEndpoints: { scope: "webhooks", stability: "preview" },
  getWebhookEndpoint: { scope: "webhooks", stability: "preview" },
  updateWebhookEndpoint: { scope: "webhooks", stability: "preview" },
  deleteWebhookEndpoint: { scope: "webhooks", stability: "preview" },
  rotateWebhookEndpointSecret: { scope: "webhooks", stability: "preview" },
  testWebhookEndpoint: { scope: "webhooks", stability: "preview" },
  listEndpointDeliveries: { scope: "webhooks", stability: "preview" },
  getWebhookSecret: { scope: "webhooks", stability: "preview" },
  rotateWebhookSecret: { scope: "webhooks", stability: "preview" },
  listEvents: { scope: "webhooks", stability: "preview" },
  listEventDeliveries: { scope: "webhooks", stability: "preview" },
  resendEvent: { scope: "webhooks", stability: "preview" },
  createWebhookSession: { scope: "webhooks", stability: "preview" },
  deleteWebhookSession: { scope: "webhooks", stability: "preview" },
  streamWebhookSession: { scope: "webhooks", stability: "preview" },
} as const satisfies Record<string, EndpointEntry>;

type EndpointEntry = {
  scope: string;
  /** The name in the request log, where several APIs share a scope. */
  wire?: string;
  stability: "beta" | "preview";
  spends?: true;
  /** Needs no database: cached callers are served while it is unavailable. */
  readsMemory?: true;
  /** Whether responses have Anthropic's form: always, or if the request has its headers. */
  anthropicForm?: "always" | "if-asked";
};

export type EndpointName = keyof typeof endpointTable;

/** The entry with its optional fields. */
export function getEndpoint(name: EndpointName): EndpointEntry {
  return endpointTable[name];
}

export const endpointScopes = [...new Set(Object.values(endpointTable).map(({ scope }) => scope))];

/** Scopes whose calls name a model: their keys may also list models and ask for quotes, as clients do before a call. */
const modelScopes: readonly string[] = [
  ...["chat", "images", "videos", "avatars", "dramas", "embeddings", "speech", "transcriptions"],
];

/** Whether a key that is limited to some scopes permits a call. */
export function permitsScope(granted: ReadonlySet<string>, scope: string): boolean {
  const isPreparation = scope === "models" || scope === "quotes";
  return granted.has(scope) || (isPreparation && modelScopes.some((name) => granted.has(name)));
}

/** The endpoint's name in the request log. */
export function getWire(name: EndpointName): string {
  const { wire, scope }: EndpointEntry = endpointTable[name];
  return wire ?? scope;
}

const entries: readonly EndpointEntry[] = Object.values(endpointTable);

export const endpointWires = [...new Set(entries.map(({ wire, scope }) => wire ?? scope))];

export const previewEndpoints = Object.entries(endpointTable)
  .filter(([, { stability }]) => stability === "preview")
  .map(([name]) => name);

/** Errors of every endpoint with an API key. */
const commonErrors = [
  "missing_api_key",
  "invalid_api_key",
  "revoked_api_key",
  "expired_api_key",
  "account_suspended",
  "access_blocked",
  "key_not_permitted",
  "rate_limit_exceeded",
  "internal_error",
  "overloaded",
  "shutting_down",
] as const satisfies readonly ErrorCode[];

/** Route options that derive from the table: `config` for the HTTP edge, the rest for the reference. */
export function describeEndpoint(name: EndpointName, errors: readonly ErrorCode[]) {
  const { stability, anthropicForm }: EndpointEntry = endpointTable[name];
  const ownErrors = stability === "preview" ? [...errors, "endpoint_not_released" as const] : errors;
  return {
    config: { endpoint: name },
    schema: { operationId: name, security: [{ api_key: [] }], "x-stability": stability },
    errors: errorAnswers([...ownErrors, ...commonErrors], { isAnthropic: anthropicForm === "always" }),
  };
}
