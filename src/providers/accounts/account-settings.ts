import type { ProviderDefinition } from "../provider-definition.ts";

export const accountSettingNames = [
  ...(["resource", "api_version", "region", "role_arn", "external_id", "sts_url"] as const),
  ...(["project", "location", "publisher"] as const),
] as const;
type AccountSettingName = (typeof accountSettingNames)[number];

type AccountSetting = {
  pattern: RegExp;
  /** For operators: what it is, and a valid value. */
  meaning: string;
  example: string;
  isRequired?: true;
};

const awsSettings = {
  region: {
    pattern: /^[a-z]{2,4}(?:-[a-z]+){1,3}-\d{1,2}$/,
    meaning: "the AWS region",
    example: "us-east-1",
    isRequired: true,
  },
  role_arn: {
    pattern: /^arn:aws(?:-[a-z]+){0,3}:iam::\d{12}:role\/[\w+=,.@/-]{1,576}$/,
    meaning: "the ARN of the role to assume",
    example: "arn:aws:iam::123456789012:role/sluice",
  },
  external_id: {
    pattern: /^[\w+=,.@:/-]{2,1224}$/,
    meaning: "the external ID that the role's trust policy requires",
    example: "sluice-7f3a",
  },
  sts_url: {
    pattern: /^(?:https:\/\/[\w.-]+(?::\d+)?|http:\/\/127\.0\.0\.1:\d+)\/?$/,
    meaning: "the address of AWS STS, such as that of a VPC endpoint",
    example: "https://sts.us-east-1.amazonaws.com",
  },
} as const satisfies Partial<Record<AccountSettingName, AccountSetting>>;

/** What a kind of provider must know about the operator's account besides a key. */
export const accountSettings: Partial<
  Record<ProviderDefinition["kind"], Partial<Record<AccountSettingName, AccountSetting>>>
> = {
  azure: {
    resource: {
      pattern: /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/,
      meaning: "the name of the Azure resource",
      example: "my-resource",
    },
    api_version: {
      pattern: /^20\d\d-\d\d-\d\d(?:-preview)?$/,
      meaning: "the version of Azure's older API",
      example: "2024-10-21",
    },
  },
  bedrock: awsSettings,
  "bedrock-media": awsSettings,
  vertex: {
    project: {
      pattern: /^(?:[a-z0-9.-]{1,100}:)?[a-z0-9][a-z0-9-]{4,61}[a-z0-9]$/,
      meaning: "the id of the Google Cloud project",
      example: "my-project-123",
      isRequired: true,
    },
    location: {
      pattern: /^(?:global|us|eu|[a-z]+(?:-[a-z]+)+\d{1,2})$/,
      meaning: "the Google Cloud location",
      example: "global",
      isRequired: true,
    },
    publisher: { pattern: /./, meaning: "whose models the provider serves", example: "anthropic" },
  },
};

/** The kinds that have a setting. */
export function listKindsWith(name: AccountSettingName): string[] {
  return Object.entries(accountSettings).flatMap(([kind, settings]) => (name in settings ? [kind] : []));
}
