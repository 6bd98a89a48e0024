import { existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { isMap, isScalar, isSeq, LineCounter, parseDocument } from "yaml";
import { OperatorError } from "../errors/operator-error.ts";
import { scrubSecrets } from "../observability/scrub-secrets.ts";
import { isLoopbackHost } from "./setting-kinds.ts";
import {
  getEnvironmentName,
  getSettingEntry,
  type SettingName,
  settingNames,
  settingsTable,
} from "./settings-table.ts";

type SettingValue<N extends SettingName> = (typeof settingsTable)[N] extends {
  kind: { parse(raw: unknown): infer T | undefined };
}
  ? T
  : never;

type GivenSettings = { [N in SettingName]?: SettingValue<N> };

/** All settings, with defaults and derived values filled in. */
export type Settings = { [N in Exclude<SettingName, OptionalSetting>]: SettingValue<N> } & {
  [N in OptionalSetting]: SettingValue<N> | undefined;
};

/** Settings without a default. */
type OptionalSetting =
  | "database_url"
  | "redis_url"
  | "smtp_url"
  | "support_contact"
  | "stripe_secret_key"
  | "stripe_webhook_secret"
  | "tls_cert_file"
  | "tls_key_file"
  | "otlp_endpoint"
  | "otlp_headers"
  | "brand_logo_file"
  | "brand_accent"
  | "brand_accent_dark"
  | "terms_url"
  | "privacy_url"
  | "status_url"
  | "announcement"
  | "announcement_url";

/** `place` is the file position or variable, for error messages. */
type Source = { name: string; place: string; value: unknown };

const defaultFileName = "sluice.yaml";
const variablePrefix = "SLUICE_";
const fileVariable = "SLUICE_CONFIG";
/** `SLUICE_SECRET_KEY_FILE` names a file that contains the value. */
const contentSuffix = "_FILE";
const formHint = "Write one `name: value` on each line; sluice.example.yaml shows them all.";

/** Reads the settings file and the environment, which takes precedence. */
export function loadSettings(
  input: { environment: NodeJS.ProcessEnv; directory: string; cores?: number } = {
    environment: process.env,
    directory: process.cwd(),
  },
): Settings {
  const given: GivenSettings = {};
  for (const source of [...readFileSources(input), ...readEnvironmentSources(input.environment)]) {
    const name = settingNames.find((known) => known === source.name);
    if (name === undefined) throw createUnknownSettingError(source);
    const { kind } = getSettingEntry(name);
    const value = kind.parse(source.value);
    if (value === undefined) {
      throw new OperatorError(
        `The setting ${source.place} is ${presentWrongValue(name, source.value)}.`,
        `Write ${kind.expected}.`,
      );
    }
    Object.assign(given, { [name]: value });
  }
  return completeSettings(given, { directory: input.directory, cores: input.cores ?? availableParallelism() });
}

function completeSettings(given: GivenSettings, { directory, cores }: { directory: string; cores: number }): Settings {
  const defaults = Object.fromEntries(settingNames.map((name) => [name, settingsTable[name].default]));
  const merged = { ...defaults, ...given } as GivenSettings & Settings;
  const hasTls = hasCertificate(given);
  const siteUrl = given.site_url ?? new URL(`${hasTls ? "https" : "http"}://localhost:${merged.port}`).origin;
  if (hasTls && !siteUrl.startsWith("https:")) {
    throw new OperatorError(
      `tls_cert_file enables HTTPS, but site_url is ${siteUrl}.`,
      "Change site_url to https, or remove tls_cert_file and tls_key_file.",
    );
  }
  const isLocal = isLoopbackUrl(siteUrl);
  if (given.sandbox === "on" && !isLocal) {
    throw new OperatorError(
      `The sandbox is on, but site_url is ${siteUrl}, which is not a localhost address.`,
      "Set sandbox to off, or site_url to a localhost address.",
    );
  }
  if (isLocal) requireUnexposed(merged, siteUrl);
  const sandbox = given.sandbox ?? (isLocal ? "on" : "off");
  return {
    ...merged,
    site_url: siteUrl,
    base_url: given.base_url ?? `${siteUrl}/v1`,
    sandbox,
    welcome_credit: given.welcome_credit ?? (sandbox === "on" ? "5" : "0"),
    sign_up: given.sign_up ?? (isLocal ? "open" : "closed"),
    mail_from: given.mail_from ?? presentSender(merged.brand_name, new URL(siteUrl).hostname),
    data_dir: resolve(directory, merged.data_dir),
    packages_dir: resolve(directory, given.packages_dir ?? join(merged.data_dir, "packages")),
    tls_cert_file: given.tls_cert_file && resolve(directory, given.tls_cert_file),
    tls_key_file: given.tls_key_file && resolve(directory, given.tls_key_file),
    brand_logo_file: given.brand_logo_file && resolve(directory, given.brand_logo_file),
    processes: given.processes ?? countProcesses(cores, given.database_url === undefined),
  };
}

/** RFC 5322: quote a display name that contains other characters. */
function presentSender(name: string, host: string): string {
  return `${/^[\w .-]+$/.test(name) ? name : JSON.stringify(name)} <no-reply@${host}>`;
}

/** Leaves one core to the rest of the machine and one to an embedded database. */
function countProcesses(cores: number, isDatabaseEmbedded: boolean): number {
  return Math.max(1, cores - (isDatabaseEmbedded ? 2 : 1));
}

function hasCertificate({ tls_cert_file, tls_key_file }: GivenSettings): boolean {
  if ((tls_cert_file === undefined) === (tls_key_file === undefined)) return tls_cert_file !== undefined;
  const [set, missing] =
    tls_key_file === undefined ? ["tls_cert_file", "tls_key_file"] : ["tls_key_file", "tls_cert_file"];
  throw new OperatorError(
    `${set} is set, but ${missing} is not. HTTPS needs both.`,
    `Set ${missing} too, or remove ${set}.`,
  );
}

/** With a localhost site_url, sign-up is open and calls to private addresses are allowed: never expose that. */
function requireUnexposed(
  { host, trusted_proxies }: Pick<Settings, "host" | "trusted_proxies">,
  siteUrl: string,
): void {
  const remedy = "Set site_url to the public URL, such as https://ai.example.com";
  if (!isLoopbackHost(host)) {
    throw new OperatorError(
      `host is ${host}, which other machines can reach, but site_url is ${siteUrl}, a localhost address.`,
      `${remedy}, or set host to localhost.`,
    );
  }
  if (trusted_proxies.length > 0) {
    throw new OperatorError(
      `trusted_proxies is set, so other machines can reach this gateway, but site_url is ${siteUrl}, a localhost address.`,
      `${remedy}, or remove trusted_proxies.`,
    );
  }
}

function readFileSources(input: { environment: NodeJS.ProcessEnv; directory: string }): Source[] {
  const named = input.environment[fileVariable] || undefined;
  const path = resolve(input.directory, named ?? defaultFileName);
  if (!existsSync(path)) {
    if (named === undefined) return [];
    throw new OperatorError(
      `The settings file ${path} does not exist.`,
      `Create it, or correct or remove ${fileVariable}.`,
    );
  }
  const lines = new LineCounter();
  const document = parseDocument(readSettingsFile(path), { lineCounter: lines });
  const placeOf = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${path}:${line}:${col}`;
  };
  const [mistake] = document.errors;
  if (mistake?.code === "DUPLICATE_KEY") {
    throw new OperatorError(`A setting is written twice (${placeOf(mistake.pos[0])}).`, "Remove one of the two.");
  }
  if (mistake !== undefined) {
    throw new OperatorError(`The settings file is not valid YAML at ${placeOf(mistake.pos[0])}.`, formHint);
  }
  const { contents } = document;
  if (contents === null || (isScalar(contents) && contents.value === null)) return [];
  if (!isMap(contents)) throw new OperatorError(`The settings file ${path} contains no settings.`, formHint);
  return contents.items.map(({ key, value }) => {
    const name = isScalar(key) ? String(key.value) : "";
    const place = `${name} (${placeOf(isScalar(key) ? (key.range?.[0] ?? 0) : 0)})`;
    // Maps and YAML aliases become null, which no setting accepts.
    return { name, place, value: isScalar(value) || isSeq(value) ? value.toJSON() : null };
  });
}

function readSettingsFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new OperatorError(
      `Cannot read the settings file ${path}.`,
      "Make it a regular file that your user can read.",
      {
        cause: error,
      },
    );
  }
}

function readEnvironmentSources(environment: NodeJS.ProcessEnv): Source[] {
  const nameByVariable = new Map<string, SettingName>();
  for (const name of settingNames) {
    const { alias } = getSettingEntry(name);
    if (alias !== undefined) nameByVariable.set(alias, name);
  }
  // Our own variables come last, so that SLUICE_DATABASE_URL takes precedence over DATABASE_URL.
  for (const name of settingNames) nameByVariable.set(getEnvironmentName(name), name);

  const sources = [...nameByVariable].flatMap(([variable, name]) => {
    const [value = "", path = ""] = [environment[variable], environment[variable + contentSuffix]];
    if (value !== "" && path !== "") throw createTwiceSetError(variable);
    if (path !== "") return [{ name, place: variable + contentSuffix, value: readContent(variable, path) }];
    return value === "" ? [] : [{ name, place: variable, value }];
  });
  const isKnown = (variable: string): boolean =>
    variable === fileVariable ||
    nameByVariable.has(variable) ||
    (variable.endsWith(contentSuffix) && nameByVariable.has(variable.slice(0, -contentSuffix.length)));
  const unknown = Object.keys(environment)
    .filter((variable) => variable.startsWith(variablePrefix) && !isKnown(variable))
    .map((variable) => ({ name: variable, place: variable, value: undefined }));
  return [...sources, ...unknown];
}

/** Container platforms mount secrets as files. */
function readContent(variable: string, path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    throw new OperatorError(
      `Cannot read the file ${path} of ${variable}${contentSuffix}.`,
      `Create it with read permission for the user that runs Sluice, or set ${variable} instead.`,
      { cause: error },
    );
  }
}

function createTwiceSetError(variable: string): OperatorError {
  return new OperatorError(`Both ${variable} and ${variable}${contentSuffix} are set.`, "Remove one of the two.");
}

function createUnknownSettingError(source: Source): OperatorError {
  const isVariable = source.name.startsWith(variablePrefix);
  const known = isVariable ? [...settingNames.map(getEnvironmentName), fileVariable] : settingNames;
  const nearest = known.toSorted((a, b) => countEdits(source.name, a) - countEdits(source.name, b))[0] ?? "";
  const remedy =
    countEdits(source.name, nearest) <= 2
      ? `Did you mean ${nearest}?`
      : "Remove it; sluice.example.yaml shows every setting.";
  return new OperatorError(`Unknown setting: ${source.place}.`, remedy);
}

/** Addresses may contain passwords: never print them. */
function presentWrongValue(name: SettingName, value: unknown): string {
  if (name === "database_url" || name === "redis_url" || name === "smtp_url") return "not a valid address";
  if (name === "secret_key" || name === "s3_secret_access_key" || name.startsWith("stripe_")) return "not valid";
  if (name === "oidc" || name === "otlp_headers") return "not a valid list";
  return scrubSecrets(typeof value === "number" ? String(value) : JSON.stringify(value));
}

export function isLoopbackUrl(address: string): boolean {
  return isLoopbackHost(new URL(address).hostname);
}

/** The Levenshtein distance. */
function countEdits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [fromIndex, fromLetter] of [...from].entries()) {
    const next = [fromIndex + 1];
    for (const [toIndex, toLetter] of [...to].entries()) {
      const replaced = (row[toIndex] ?? 0) + (fromLetter === toLetter ? 0 : 1);
      next.push(Math.min(replaced, (row[toIndex + 1] ?? 0) + 1, (next[toIndex] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
