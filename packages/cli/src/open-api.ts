import { type ApiClient, createApiClient } from "./api-client.ts";
import { CliError, exitCodes } from "./cli-error.ts";
import type { CommandInput } from "./command-definition.ts";
import { loadCredentials, type Profile } from "./credentials-file.ts";
import { parseSite, siteUsual } from "./site-address.ts";

export type SignedIn = { profile: Profile; api: ApiClient };

type Surroundings = Pick<CommandInput, "options" | "environment" | "terminal">;

/** The site from `--site` or the environment, else the last one signed in to. */
export async function chooseSite({ options, environment }: Pick<CommandInput, "options" | "environment">) {
  const named = options.text("site") ?? environment.site;
  const { current, profiles } = await loadCredentials(environment.configFolder);
  return { site: named === null ? (current ?? siteUsual) : parseSite(named), profiles };
}

/** Opens an authenticated client; without a key, throws an error that names the login command. */
export async function openApi(input: Surroundings): Promise<SignedIn> {
  const { site, profiles } = await chooseSite(input);
  const known = profiles.find((profile) => profile.site === site);
  const key = input.environment.key ?? known?.key;
  if (key === undefined) {
    throw new CliError(`You are not signed in to ${site}.`, {
      exitCode: exitCodes.notSignedIn,
      remedy: site === siteUsual ? "Run: sluice login" : `Run: sluice login --site ${site}`,
    });
  }
  const profile: Profile = { site, apiUrl: known?.apiUrl ?? `${site}/v1`, key };
  return { profile, api: createProfileClient(profile, input) };
}

export function createProfileClient({ apiUrl, key }: Profile, { terminal }: Pick<CommandInput, "terminal">): ApiClient {
  return createApiClient({ baseUrl: apiUrl, key, onRetry: (sentence) => terminal.tell(sentence) });
}
