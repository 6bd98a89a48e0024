import type { ProviderDefinition } from "../provider-definition.ts";
import { parseAwsCredentials } from "./aws-credentials.ts";
import { parseServiceAccount } from "./service-account.ts";

/** Whether a secret has the form that a kind of provider needs; a sentence for operators if not. */
export function findCredentialFault(
  { kind, role_arn: roleArn }: Pick<ProviderDefinition, "kind" | "role_arn">,
  { name, value }: { name: string; value: string },
): { message: string; remedy: string } | null {
  if (kind === "bedrock" || kind === "bedrock-media") {
    const credentials = parseAwsCredentials(value);
    if (credentials === null) {
      return {
        message: `The secret ${name} is neither a Bedrock API key nor AWS credentials in JSON.`,
        remedy: `Store one of them: aws configure export-credentials | npm run -s sluice -- secret set ${name}`,
      };
    }
    if (roleArn !== undefined && credentials.kind === "api-key") {
      return {
        message: `The secret ${name} is a Bedrock API key, which cannot assume the role ${roleArn}.`,
        remedy: `Store an access key: aws configure export-credentials | npm run -s sluice -- secret set ${name}. Or remove role_arn.`,
      };
    }
  }
  if (kind === "vertex" && parseServiceAccount(value) === null) {
    return {
      message: `The secret ${name} is not the key file of a service account.`,
      remedy: `Create a JSON key for the service account and store the file: npm run -s sluice -- secret set ${name} --file key.json`,
    };
  }
  return null;
}
