import type { Clock } from "../../lib/clock.ts";
import { ProviderError } from "../contract.ts";
import type { RequestSigner } from "../media-client.ts";
import type { ProviderDefinition } from "../provider-definition.ts";
import { findStsAddress } from "./account-address.ts";
import { type AwsRole, assumeRole } from "./assume-role.ts";
import { type AwsCredentials, parseAwsCredentials } from "./aws-credentials.ts";
import { createCredentialCache } from "./credential-cache.ts";
import { signAwsRequest } from "./sign-aws-request.ts";

/** The account that an AWS provider is called with. */
export type AwsAccount = { region: string; role: AwsRole | null };

/** The credentials that calls carry: those that are stored, or the role's. */
export type AwsAccess = {
  get(secret: string | null): Promise<AwsCredentials>;
  /** Drops a role's session that AWS refused: it may have been revoked. */
  forgetRefused(error: unknown, secret: string | null): void;
  close(): Promise<void>;
};

export function readAwsAccount(definition: ProviderDefinition): AwsAccount {
  const { region = "", role_arn: arn, external_id: externalId = null } = definition;
  if (arn === undefined) return { region, role: null };
  return { region, role: { arn, externalId, region, stsUrl: findStsAddress(definition) } };
}

export function createAwsAccess({ clock, account: { role } }: { clock: Clock; account: AwsAccount }): AwsAccess {
  const sessions = createCredentialCache({
    clock,
    async issue(secret, signal) {
      const key = parseAwsCredentials(secret);
      if (role === null || key?.kind !== "access-key") {
        throw new ProviderError("key-refused", "Only an access key can assume a role.");
      }
      return await assumeRole(key, { role, clock, signal });
    },
  });
  return {
    async get(secret) {
      const credentials = secret === null ? null : parseAwsCredentials(secret);
      if (secret === null || credentials === null) {
        throw new ProviderError("key-refused", "The provider has no AWS credentials.");
      }
      return role === null ? credentials : await sessions.get(secret);
    },
    forgetRefused(error, secret) {
      if (secret !== null && error instanceof ProviderError && error.kind === "key-refused") sessions.forget(secret);
    },
    close: () => sessions.close(),
  };
}

/** Signs requests to Bedrock, or sends its API key. Closes the access. */
export function createBedrockSigner(
  access: AwsAccess,
  { clock, account }: { clock: Clock; account: AwsAccount },
): RequestSigner {
  return {
    async sign(request, secret) {
      const credentials = await access.get(secret);
      if (credentials.kind === "api-key") return { authorization: `Bearer ${credentials.apiKey}` };
      return await signAwsRequest(credentials, {
        ...request,
        ...{ service: "bedrock", region: account.region, now: clock.now() },
      });
    },
    close: () => access.close(),
  };
}
