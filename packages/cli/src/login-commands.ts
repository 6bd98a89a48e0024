import { hostname } from "node:os";
import { createApiClient } from "./api-client.ts";
import { ApiError } from "./api-error.ts";
import { authorizeInBrowser } from "./authorize-browser.ts";
import { authorizeDevice } from "./authorize-device.ts";
import { CliError, createMisuse, type ExitCode, exitCodes } from "./cli-error.ts";
import type { CommandDefinition, CommandInput } from "./command-definition.ts";
import { forgetProfile, keepProfile, nameCredentialsFile, type Profile } from "./credentials-file.ts";
import { chooseSite, createProfileClient } from "./open-api.ts";
import { cleanText } from "./paint.ts";
import { readKey } from "./read-key.ts";
import { parseSite } from "./site-address.ts";

export const loginCommands: readonly CommandDefinition[] = [
  {
    name: "login",
    summary: "Sign in through your browser and store a key on this machine.",
    details: `Stores one key per server in a file that only you can read. The console lists it as BA:<client>. Signing in again
replaces it.`,
    options: {
      device: { explains: "For a machine without a browser: show a code to enter on another device." },
      key: { explains: "Read an existing key from standard input." },
      "no-browser": { explains: "Print the URL without opening it." },
      client: {
        placeholder: "name",
        explains: "The key's name in the console. Default: the name of this machine.",
      },
      api: { placeholder: "url", explains: "The base URL of the API. Default: the site's URL with /v1." },
    },
    examples: [
      { line: "sluice login", does: "a server on this machine" },
      { line: "sluice login --site https://sluice.example.com", does: "another server" },
      { line: "sluice login --device", does: "over ssh" },
      { line: "sluice login --key < key.txt", does: "with a key from the console" },
    ],
    run: logIn,
  },
  {
    name: "logout",
    summary: "Delete the key stored on this machine.",
    examples: [{ line: "sluice logout", does: "the server you signed in to last" }],
    run: logOut,
  },
];

async function logIn(input: CommandInput): Promise<ExitCode> {
  const { options, terminal, environment, interruption } = input;
  const { site } = await chooseSite(input);
  const api = options.text("api");
  // Validate arguments first.
  const apiUrl = api === undefined ? `${site}/v1` : parseSite(api);
  const profile: Profile = { site, apiUrl, key: await obtainKey(input, site) };
  // Store the key only after the server accepts it: a failed sign-in keeps the old one.
  const models = await checkKey(input, profile);
  interruption.signal.throwIfAborted();
  await keepProfile(environment.configFolder, profile);
  const { key } = profile;
  const file = nameCredentialsFile(environment.configFolder);
  if (terminal.isJson) terminal.printJson({ site, api_url: profile.apiUrl, last_four: key.slice(-4), file });
  else {
    terminal.print(
      `${terminal.paint.green("✓")} Signed in to ${site} with the key …${key.slice(-4)}, kept in ${file}.`,
    );
    terminal.print(`  ${models}`);
  }
  return exitCodes.done;
}

async function obtainKey(input: CommandInput, site: string): Promise<string> {
  const { options, terminal, interruption } = input;
  const { signal } = interruption;
  if (options.has("key")) return await readKey(terminal, signal);
  const siteApi = createApiClient({ baseUrl: site, key: null, onRetry: terminal.tell });
  const client = chooseClient(options.text("client"));
  const wanted = { site, siteApi, client, terminal, signal };
  if (options.has("device")) return await authorizeDevice(wanted);
  return await authorizeInBrowser(wanted, { opensBrowser: !options.has("no-browser") });
}

const clientPattern = /^[A-Za-z0-9._-]{2,64}$/;

/** One key per machine: signing in on one machine does not revoke another's key. */
function chooseClient(given: string | undefined): string {
  if (given === undefined) return `sluice-cli-${hostname().replaceAll(/[^A-Za-z0-9._-]+/g, "-")}`.slice(0, 64);
  if (clientPattern.test(given)) return given;
  throw createMisuse("--client takes 2 to 64 letters, digits, dots, underscores and hyphens.");
}

/** Throws if the server rejects the key; otherwise returns a line about its models. */
async function checkKey(input: CommandInput, profile: Profile): Promise<string> {
  const { signal } = input.interruption;
  const client = createProfileClient(profile, input);
  try {
    const answer = await client.ask<{ data?: unknown } | null>({ method: "GET", path: "/models", signal });
    if (!Array.isArray(answer?.data)) {
      const remedy = "Check --site. If the API has its own URL, set --api.";
      throw new CliError(`${profile.apiUrl} is not a Sluice server.`, { remedy });
    }
    return `${answer.data.length} models available: sluice models`;
  } catch (error) {
    // The key is valid but may not list models.
    if (error instanceof ApiError && error.code === "key_not_permitted") return cleanText(error.message);
    throw error;
  }
}

async function logOut(input: CommandInput): Promise<ExitCode> {
  const { terminal, environment } = input;
  const { site } = await chooseSite(input);
  const wasThere = await forgetProfile(environment.configFolder, site);
  if (terminal.isJson) terminal.printJson({ site, forgotten: wasThere });
  else if (!wasThere) terminal.print(`No key for ${site} on this machine.`);
  else {
    terminal.print(`${terminal.paint.green("✓")} Deleted the key for ${site} from this machine.`);
    terminal.print(`  The key itself is still valid. Revoke it in the console: ${site}/console`);
  }
  return exitCodes.done;
}
