import type { ProviderDefinition } from "../provider-definition.ts";

/** In the base URL of an OpenAI-compatible upstream: the place of the upstream model. */
const modelPlace = "{model}";

const awsDomains: readonly [prefix: string, domain: string][] = [
  ["cn-", "amazonaws.com.cn"],
  ["eusc-", "amazonaws.eu"],
];

/** The base URL of a kind whose address follows from the account's settings; `undefined` for other kinds. */
export function findAccountAddress(definition: ProviderDefinition): string | undefined {
  const { kind, base_url: baseUrl } = definition;
  switch (kind) {
    case "azure":
      return baseUrl ?? findAzureAddress(definition);
    case "bedrock":
    case "bedrock-media":
      return baseUrl ?? findBedrockAddress(definition);
    case "vertex":
      return findVertexAddress(definition);
    default:
      return undefined;
  }
}

/** Azure serves OpenAI's API: a provider of the kind `azure` is called as an OpenAI-compatible one. */
export function resolveAzure(definition: ProviderDefinition): ProviderDefinition {
  if (definition.kind !== "azure") return definition;
  const baseUrl = findAccountAddress(definition);
  return {
    ...definition,
    ...{ kind: "openai-compatible", auth_header: "api-key" },
    ...(baseUrl === undefined ? {} : { base_url: baseUrl }),
  };
}

/** The deployment is the upstream model. Versions with a date have it in the path. */
function findAzureAddress({ resource, api_version: version }: ProviderDefinition): string | undefined {
  if (resource === undefined) return undefined;
  const origin = `https://${resource}.openai.azure.com`;
  return version === undefined
    ? `${origin}/openai/v1`
    : `${origin}/openai/deployments/${modelPlace}?api-version=${version}`;
}

function findBedrockAddress({ region = "" }: ProviderDefinition): string {
  return `https://bedrock-runtime.${region}.${findAwsDomain(region)}`;
}

/** Of the service that issues the credentials of roles. */
export function findStsAddress({ region = "", sts_url: stsUrl }: ProviderDefinition): string {
  return stsUrl ?? `https://sts.${region}.${findAwsDomain(region)}/`;
}

function findAwsDomain(region: string): string {
  const [, domain] = awsDomains.find(([prefix]) => region.startsWith(prefix)) ?? ["", "amazonaws.com"];
  return domain;
}

/** `base_url` replaces host and version: the project is part of the path. */
function findVertexAddress({
  base_url: baseUrl,
  location = "",
  project,
  publisher = "google",
}: ProviderDefinition): string {
  const version = publisher === "google" ? "v1beta1" : "v1";
  const base = baseUrl?.replace(/\/+$/, "") ?? `https://${findVertexHost(location)}/${version}`;
  return `${base}/projects/${project}/locations/${location}/publishers/${publisher}`;
}

function findVertexHost(location: string): string {
  if (location === "global") return "aiplatform.googleapis.com";
  return location === "us" || location === "eu"
    ? `aiplatform.${location}.rep.googleapis.com`
    : `${location}-aiplatform.googleapis.com`;
}
