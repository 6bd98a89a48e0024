import { expect, test } from "vitest";
import type { ProviderDefinition } from "../provider-definition.ts";
import { findAccountAddress, findStsAddress } from "./account-address.ts";

type Fields = Omit<ProviderDefinition, "id">;

const project = { kind: "vertex", project: "p-12345" } as const;

test.for<[Fields, string | undefined]>([
  [{ kind: "azure", resource: "mine" }, "https://mine.openai.azure.com/openai/v1"],
  [
    { kind: "azure", resource: "mine", api_version: "2024-10-21" },
    "https://mine.openai.azure.com/openai/deployments/{model}?api-version=2024-10-21",
  ],
  [{ kind: "azure", base_url: "https://proxy.example/v1" }, "https://proxy.example/v1"],
  [{ kind: "bedrock", region: "eu-west-1" }, "https://bedrock-runtime.eu-west-1.amazonaws.com"],
  [{ kind: "bedrock-media", region: "us-west-2" }, "https://bedrock-runtime.us-west-2.amazonaws.com"],
  [{ kind: "bedrock", region: "cn-north-1" }, "https://bedrock-runtime.cn-north-1.amazonaws.com.cn"],
  [{ kind: "bedrock", region: "eusc-de-east-1" }, "https://bedrock-runtime.eusc-de-east-1.amazonaws.eu"],
  [
    { ...project, location: "global" },
    "https://aiplatform.googleapis.com/v1beta1/projects/p-12345/locations/global/publishers/google",
  ],
  [
    { ...project, location: "eu" },
    "https://aiplatform.eu.rep.googleapis.com/v1beta1/projects/p-12345/locations/eu/publishers/google",
  ],
  [
    { ...project, location: "us-east5", publisher: "anthropic" },
    "https://us-east5-aiplatform.googleapis.com/v1/projects/p-12345/locations/us-east5/publishers/anthropic",
  ],
  [
    { ...project, location: "global", base_url: "https://private.example/v1/" },
    "https://private.example/v1/projects/p-12345/locations/global/publishers/google",
  ],
  [{ kind: "openai-compatible", base_url: "https://api.example/v1" }, undefined],
])("%o has the address %s", ([fields, address]) => {
  expect(findAccountAddress({ id: "one", ...fields })).toBe(address);
});

test.for<[Fields, string]>([
  [{ kind: "bedrock", region: "eu-west-1" }, "https://sts.eu-west-1.amazonaws.com/"],
  [{ kind: "bedrock-media", region: "cn-north-1" }, "https://sts.cn-north-1.amazonaws.com.cn/"],
  [{ kind: "bedrock", region: "eu-west-1", sts_url: "https://vpce.example" }, "https://vpce.example"],
])("roles of %o are assumed at %s", ([fields, address]) => {
  expect(findStsAddress({ id: "one", ...fields })).toBe(address);
});
