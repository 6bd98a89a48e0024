import type { Clock } from "../lib/clock.ts";
import { readReference, type SecretReader } from "../platform/config/secrets.ts";
import { readWhole } from "../platform/net/guarded-client.ts";
import { probeAddress } from "../platform/net/probe-address.ts";
import { findAccountAddress, resolveAzure } from "./accounts/account-address.ts";
import { createAwsAccess, createBedrockSigner, readAwsAccount } from "./accounts/aws-access.ts";
import { anthropicUrl, googleBaseUrl } from "./ai-sdk/create-ai-sdk-chat.ts";
import { readBaseUrl } from "./base-url.ts";
import { type ChatProvider, ProviderError, type ProviderErrorKind } from "./contract.ts";
import { describeFailure } from "./failures/describe-failure.ts";
import { falBaseUrl } from "./fal/create-fal-generation.ts";
import {
  createMediaClient,
  type MediaClient,
  type MediaClientOptions,
  type MediaRequest,
  readRefusal,
} from "./media-client.ts";
import { parseJson } from "./openai-compatible/json-value.ts";
import { isQueueKind, isVoiceKind, type ProviderDefinition } from "./provider-definition.ts";
import type { ProviderRegistry } from "./provider-registry.ts";
import { findSetupFault, readApiKey } from "./provider-setup.ts";
import { emptyInvocation, placeModel } from "./queues/bedrock-media.ts";
import type { QueueVendor } from "./queues/queue-vendor.ts";
import { queueVendors } from "./queues/queue-vendors.ts";
import { isRefusal, readReplyError, type VendorErrors } from "./read-vendor-reply.ts";
import { adviceByFailure, adviseConnection, adviseRole } from "./upstream-advice.ts";
import type { SpeechVendor } from "./voices/speech-vendor.ts";
import { speechVendors } from "./voices/speech-vendors.ts";

/** One line of an examination. */
export type UpstreamFinding = { check: string; isOk: boolean; message: string; remedy?: string };

/** The model of the test call; `null` for the model types that would cost more than a fraction of a cent. */
export type TestedModel = { upstreamModel: string; type: "chat" | "embedding" | null; dimensionsMax: number };

type Examination = {
  provider: ProviderDefinition;
  /** Called if the operator asked for it, or if nothing cheaper checks the key. */
  model: (TestedModel & { isAsked: boolean }) | null;
  registry: ProviderRegistry;
  secrets: SecretReader;
  packagesFolder: string | null;
  clock: Clock;
  timeoutMs: number;
};

type Keyed = Examination & { apiKeyReference: string | null };

/** How to check a key without using a model. */
type Access = {
  baseUrl: string | undefined;
  auth: MediaClientOptions["auth"];
  headers?: Readonly<Record<string, string>>;
  /** Only callers with a key may read it. */
  path: string;
  /** A request that is refused, at no cost, and the refusals that prove the key. */
  refused?: { body: string; kinds: readonly ProviderErrorKind[] };
  /** Whether the path is a job that does not exist, so that any answer but a refusal proves the key. */
  isMissingJob?: true;
  /** How the vendor's own errors are read: some have the status 200. */
  errors?: VendorErrors;
};

const connectMsMax = 10_000;
const outputTokensMax = 16;
/** No vendor has it. */
const absentModel = "sluice.absent-v1:0";
/** A longer list of models proves the key as well, and its content is not needed. */
const listBytesMax = 1024 * 1024;

/** How to reach a vendor's own endpoints with a key; `null` for kinds where only a call proves one. */
export function findAccess({ kind, base_url: baseUrl, auth_header: authHeader }: ProviderDefinition): Access | null {
  if (isQueueKind(kind)) {
    const vendor: QueueVendor = queueVendors[kind];
    const { baseUrl: usual, auth, headers = {}, poll, keyPath } = vendor;
    const access = { baseUrl: baseUrl ?? usual, auth, headers, errors: vendor };
    if (keyPath !== undefined) return { ...access, path: keyPath };
    const path = typeof poll.path === "string" ? poll.path : poll.path("{id}");
    return { ...access, path: path.replace("{id}", "00000000-0000-4000-8000-000000000000"), isMissingJob: true };
  }
  if (isVoiceKind(kind)) {
    const { baseUrl: usual, auth, keyPath }: SpeechVendor = speechVendors[kind];
    return keyPath === undefined ? null : { baseUrl: baseUrl ?? usual, auth, path: keyPath };
  }
  switch (kind) {
    case "openai-compatible":
      return {
        ...{ baseUrl, path: "models" },
        auth:
          authHeader === undefined ? { name: "authorization", prefix: "Bearer " } : { name: authHeader, prefix: "" },
      };
    case "anthropic":
      return {
        ...{ baseUrl: baseUrl ?? anthropicUrl, path: "models", auth: { name: "x-api-key", prefix: "" } },
        headers: { "anthropic-version": "2023-06-01" },
      };
    case "google":
      return { baseUrl: baseUrl ?? googleBaseUrl, path: "models", auth: { name: "x-goog-api-key", prefix: "" } };
    case "fal":
      return {
        ...{
          baseUrl: baseUrl ?? falBaseUrl,
          auth: { name: "authorization", prefix: "Key " },
          isMissingJob: true,
        },
        path: "fal-ai/flux/requests/00000000-0000-4000-8000-000000000000/status",
      };
    // None of these has a list that a key alone may read. A call shows whether key, place and model fit.
    case "azure":
    case "bedrock":
    case "bedrock-media":
    case "vertex":
    case "ai-sdk":
    case "sandbox":
      return null;
  }
}

/** Bedrock checks the signature, the model and then the request, so an empty one checks both at no cost. */
function findInvocation({ provider, model, clock }: Keyed): Access {
  const { path, body } = emptyInvocation;
  const owned = { clock, account: readAwsAccount(provider) };
  return {
    baseUrl: findAccountAddress(provider),
    auth: createBedrockSigner(createAwsAccess(owned), owned),
    path: placeModel(path, model?.upstreamModel ?? absentModel),
    refused: { body, kinds: model === null ? ["rejected", "model-unavailable"] : ["rejected"] },
  };
}

function findAddress(provider: ProviderDefinition): string | undefined {
  return findAccountAddress(provider) ?? findAccess(provider)?.baseUrl ?? provider.base_url;
}

/** Makes the cheapest real calls that show whether a provider works, with each of its keys. Throws nothing. */
export async function examineUpstream(asked: Examination): Promise<UpstreamFinding[]> {
  const provider = resolveAzure(asked.provider);
  const examination = { ...asked, provider };
  const { timeoutMs } = examination;
  const address = findAddress(provider);
  const findings: UpstreamFinding[] = [];
  if (address !== undefined) {
    const steps = await probeAddress(new URL(address), { timeoutMs: Math.min(timeoutMs, connectMsMax) });
    for (const { step: check, ...rest } of steps) {
      const { isOk, message } = rest;
      findings.push(
        rest.isOk
          ? { check, isOk, message }
          : { check, isOk, message, remedy: adviseConnection({ step: check, ...rest }) },
      );
    }
  }
  if (findings.some(({ isOk }) => !isOk)) return findings;
  for (const apiKeyReference of provider.api_keys ?? [null]) {
    findings.push(...(await examineKey({ ...examination, apiKeyReference })));
  }
  return findings;
}

async function examineKey(keyed: Keyed): Promise<UpstreamFinding[]> {
  const { provider, model, packagesFolder } = keyed;
  const fault = findSetupFault(keyed, packagesFolder);
  if (fault !== null) return [{ check: "setup", isOk: false, message: fault.message, remedy: fault.remedy }];
  if (provider.kind === "bedrock-media") return await checkInvocation(keyed);
  const access = findAccess(provider);
  const found = access === null ? [] : await checkKey(keyed, access);
  if (found.some(({ isOk }) => !isOk)) return found;
  const isProven = found.some(({ check }) => check === "key");
  if (model === null) {
    const remedy = "Name a chat or embedding model: --model <upstream model>.";
    return isProven
      ? found
      : [...found, { check: "key", isOk: false, message: "Nothing has checked the key.", remedy }];
  }
  if (isProven && !model.isAsked) return found;
  if (model.type === null) {
    const message = `${model.upstreamModel} was not called: only chat and embedding models cost a fraction of a cent.`;
    return [...found, { check: "model", isOk: true, message }];
  }
  return [...found, await callModel(keyed, model)];
}

async function checkInvocation(keyed: Keyed): Promise<UpstreamFinding[]> {
  const { model } = keyed;
  const found = await checkKey(keyed, findInvocation(keyed));
  if (model === null || found.some(({ isOk }) => !isOk)) return found;
  const message = `${model.upstreamModel} may be called: it refused an empty request, which costs nothing.`;
  return [...found, { check: "model", isOk: true, message }];
}

/** A finding with the check `key` only if the key is proven or refused. */
async function checkKey(keyed: Keyed, access: Access): Promise<UpstreamFinding[]> {
  const { provider, secrets } = keyed;
  const { origin, pathOf } = readBaseUrl(access.baseUrl ?? "");
  const secretHeaders = Object.entries(provider.headers ?? {}).map(([name, text]) => [name, secrets.find(text) ?? ""]);
  const client = createMediaClient({
    ...{ origin, auth: access.auth, connectionsMax: 2 },
    headers: { ...access.headers, ...Object.fromEntries(secretHeaders) },
  });
  const path = pathOf(access.path);
  try {
    const { errors = {}, refused } = access;
    const asked =
      refused === undefined
        ? ({ method: "GET", body: null } as const)
        : ({ method: "POST", body: refused.body } as const);
    const answer = await ask(client, keyed, { ...asked, path, apiKey: readApiKey(keyed) });
    const http = {
      check: "http",
      isOk: true,
      message: `${asked.method} ${path.split("?")[0]} answered with status ${answer.status}`,
    };
    const error = isRefusal(errors, answer)
      ? readReplyError(errors, answer, { now: keyed.clock.now(), findParam: () => null })
      : null;
    if (error !== null && accountFaults.has(error.kind)) return [http, explain(error, keyed)];
    if (refused !== undefined) {
      const isProven = error === null || refused.kinds.includes(error.kind);
      return [
        http,
        isProven ? accept(keyed, "The vendor accepts it.") : explain(error, keyed, keyed.model?.upstreamModel),
      ];
    }
    if (access.isMissingJob === true) return [http, accept(keyed, "The vendor accepts it.")];
    if (error !== null && (answer.status === 404 || answer.status === 405) && error.kind !== "misconfigured") {
      return [{ ...http, message: `${http.message}: this server has no list of models` }];
    }
    if (error !== null) return [http, explain(error, keyed)];
    return [http, ...(await proveKey(client, keyed, path))];
  } catch (error) {
    return [explain(error, keyed)];
  } finally {
    await client.close();
  }
}

const accountFaults: ReadonlySet<string> = new Set(["key-refused", "out-of-credit", "quota-exceeded", "rate-limited"]);

/** A list that is open to everyone proves nothing about the key. */
async function proveKey(client: MediaClient, keyed: Keyed, path: string): Promise<UpstreamFinding[]> {
  if (keyed.apiKeyReference === null) return [accept(keyed, "The provider is called without a key.")];
  const { status } = await ask(client, keyed, { method: "GET", body: null, path, apiKey: null });
  return status < 300 ? [] : [accept(keyed, "The vendor accepts it.")];
}

async function ask(
  client: MediaClient,
  { timeoutMs }: Keyed,
  { body, ...request }: Pick<MediaRequest, "method" | "path" | "apiKey" | "body">,
) {
  const signal = AbortSignal.timeout(timeoutMs);
  const headers: Record<string, string> = body === null ? {} : { "content-type": "application/json" };
  const answer = await client.send({ ...request, body, headers, signal, timeoutMs });
  const { status } = answer;
  if (status >= 300) return { status, headers: answer.headers, body: await readRefusal(answer, signal) };
  const text = String(await readWhole(answer, { bytesMax: listBytesMax }).catch(() => ""));
  return { status, headers: answer.headers, body: parseJson(text) };
}

async function callModel(keyed: Keyed, model: TestedModel): Promise<UpstreamFinding> {
  const { provider, registry, timeoutMs } = keyed;
  const { upstreamModel, type, dimensionsMax } = model;
  try {
    const apiKey = readApiKey(keyed);
    if (type === "chat") {
      await chatOnce(registry.getChat(provider), { upstreamModel, apiKey, timeoutMs });
    } else {
      const signal = AbortSignal.timeout(timeoutMs);
      const request = {
        input: { kind: "texts", texts: ["Hi"] },
        dimensions: null,
        encoding: "float",
        user: null,
      } as const;
      const call = { request, dimensionsMax, upstreamModel, apiKey, timeoutMs, signal };
      await registry.getEmbedding(provider)?.embed(call);
    }
    return { check: "model", isOk: true, message: `${upstreamModel} answers${nameKey(keyed)}.` };
  } catch (error) {
    return explain(error, keyed, upstreamModel);
  }
}

function chatOnce(
  chat: ChatProvider,
  { upstreamModel, apiKey, timeoutMs }: { upstreamModel: string; apiKey: string | null; timeoutMs: number },
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timeouts = { connectMs: connectMsMax, firstByteMs: timeoutMs, idleMs: timeoutMs, totalMs: timeoutMs };
  const request = { model: upstreamModel, messages: [{ role: "user" as const, content: "Hi" }] };
  chat.startChat(
    { request, upstreamModel, apiKey, outputTokensMax, timeouts },
    {
      ...{ onAccepted: () => {}, onPieces: () => {}, onError: reject },
      onEnd: () => resolve(),
      onAnswer: () => resolve(),
    },
  );
  return promise;
}

function accept(keyed: Keyed, message: string): UpstreamFinding {
  const { apiKeyReference } = keyed;
  const name = apiKeyReference === null ? null : readReference(apiKeyReference);
  return { check: "key", isOk: true, message: name === null ? message : `${name}: ${message}` };
}

function explain(cause: unknown, keyed: Keyed, upstreamModel = ""): UpstreamFinding {
  const error = cause instanceof ProviderError ? cause : new ProviderError("timeout", "No answer in time.", { cause });
  const { apiKeyReference, provider } = keyed;
  const keyName = apiKeyReference === null ? "NAME" : (readReference(apiKeyReference) ?? "NAME");
  const address = findAddress(provider) ?? "the package's own";
  const advice = adviseRole(error, keyName) ?? adviceByFailure[error.kind]({ keyName, upstreamModel, address });
  const { check, message, remedy } = advice;
  const { status, said } = describeFailure(error, keyed);
  const quoted = said === null || said === "" ? "" : ` It says: ${said}`;
  const code = status === null ? "" : ` (status ${status})`;
  return { check, isOk: false, message: `${message}${code}${nameKey(keyed)}${quoted}`, remedy };
}

/** Only if there are several keys. */
function nameKey({ apiKeyReference, provider }: Keyed): string {
  if (apiKeyReference === null || (provider.api_keys ?? []).length < 2) return "";
  return ` with ${readReference(apiKeyReference)}`;
}
