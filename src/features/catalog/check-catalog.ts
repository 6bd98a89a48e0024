import { isIP } from "node:net";
import { parseMoney } from "../../lib/money.ts";
import { parseTimestamp } from "../../lib/timestamp.ts";
import { readReference } from "../../platform/config/secrets.ts";
import { accountSettingNames, accountSettings, listKindsWith } from "../../providers/accounts/account-settings.ts";
import { isMediaKind, providerKinds, servedByKind } from "../../providers/provider-definition.ts";
import { explainMissingSecret } from "../../providers/provider-setup.ts";
import { takesHookSecret } from "../../providers/queues/queue-vendors.ts";
import type { CatalogFile, CatalogProblem, ModelEntry, ReportProblem } from "./catalog-file.ts";
import { checkAliases } from "./check-aliases.ts";
import { checkMediaRoute, checkOffers } from "./check-media.ts";
import { checkFactoredPrices, checkMultipliers } from "./check-multipliers.ts";
import { checkCostSheets, checkPrices, checkTime, explainMissingPlan } from "./check-prices.ts";
import { checkStages } from "./check-stages.ts";
import type { SoldPlan } from "./list-quota-losses.ts";
import { capabilitiesByType, limitsByType, listStageModels, type ModelType } from "./model.ts";
import { isLogo, ownLogos } from "./model-logos.ts";

/** What a catalog may refer to outside the file. */
export type CatalogSurroundings = {
  currency: string;
  planIds: ReadonlySet<string>;
  /** The plans, to warn of quotas that can be sold below cost. */
  plans?: readonly SoldPlan[];
  accountIds: ReadonlySet<string>;
  hasSecret(name: string): boolean;
  /** Why an AI SDK package cannot be used; `null` if it can. */
  findPackageFault(packageName: string): { message: string; remedy: string } | null;
};

/** Kinds for other APIs of the same vendor. */
const vendorsByKind: Partial<Record<keyof typeof servedByKind, readonly (keyof typeof servedByKind)[]>> = {
  bedrock: ["bedrock-media"],
  google: ["google-media", "vertex-media"],
  vertex: ["vertex-media"],
  minimax: ["minimax-speech"],
  "minimax-speech": ["minimax"],
  "xai-media": ["xai-speech"],
  "xai-speech": ["xai-media"],
};

const idPattern = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/;
const headerNamePattern = /^[A-Za-z0-9-]{1,100}$/;
const headerValuePattern = /^[\x20-\x7e]{1,4096}$/;
const packagePattern = /^(@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*$/;
const fieldPattern = /^[a-z][a-z0-9_]{0,63}$/;
const idRule = "Use 1 to 128 letters, digits or . _ : / -, starting with a letter or digit.";
const headerNameOptions = ["auth_header", "idempotency_header"] as const;
const openAiOptions = [
  ...headerNameOptions,
  "dialect",
  "native_wires",
  "output_cap_field",
  "stream_usage",
  "system_role",
  "trace_context",
  "unsupported_fields",
] as const;
/** Azure's key has its own header. */
const azureOptions: readonly string[] = openAiOptions.filter((name) => name !== "auth_header");
const passthroughKinds: readonly string[] = ["openai-compatible", "azure", "anthropic"];

/** Checks what the schema cannot, and returns every problem. */
export function checkCatalog(file: CatalogFile, surroundings: CatalogSurroundings): CatalogProblem[] {
  const problems: CatalogProblem[] = [];
  const report: ReportProblem = (path, message) => problems.push({ path, message });
  if (file.currency !== surroundings.currency) {
    report(
      ["currency"],
      `The catalog's currency is ${file.currency}, but this deployment uses ${surroundings.currency}. Change currency here, or the setting SLUICE_CURRENCY.`,
    );
  }
  checkProviders(file, surroundings, report);
  checkModels(file, surroundings, report);
  for (const [index, model] of file.models.entries()) {
    checkCostSheets(model, ["models", index], { currency: file.currency, report });
  }
  checkPrices(file, surroundings, report);
  checkMultipliers(file, surroundings, report);
  if (problems.length === 0) checkFactoredPrices(file, report);
  return problems;
}

function checkProviders({ providers }: CatalogFile, around: CatalogSurroundings, report: ReportProblem): void {
  const { hasSecret } = around;
  reportRepeated(providers, "providers", report);
  for (const [index, provider] of providers.entries()) {
    const path = ["providers", index];
    if (!idPattern.test(provider.id)) report([...path, "id"], `"${provider.id}" is not a valid provider id. ${idRule}`);
    checkKind(provider, path, report);
    checkPackage(provider, path, { around, report });
    checkAddress(provider, path, report);
    for (const [position, reference] of (provider.api_keys ?? []).entries()) {
      const place = [...path, "api_keys", position];
      if (readReference(reference) !== null) checkSecret(reference, place, { hasSecret, report });
      else report(place, `Don't write a key here. Name a secret, such as \${OPENAI_API_KEY}.`);
    }
    const { webhook_secret: hook } = provider;
    if (hook !== undefined) {
      const place = [...path, "webhook_secret"];
      if (!takesHookSecret(provider.kind)) {
        report(
          place,
          `Kind ${provider.kind} does not sign callbacks with a secret of your account. Remove webhook_secret.`,
        );
      }
      if (readReference(hook) !== null) checkSecret(hook, place, { hasSecret, report });
      else report(place, `Don't write a secret here. Name one, such as \${REPLICATE_WEBHOOK_SECRET}.`);
    }
    const isLimited = provider.tasks_max !== undefined || provider.tasks_per_minute !== undefined;
    if (provider.task_limits_per !== undefined && !isLimited) {
      report([...path, "task_limits_per"], "Add the limit that it is for: tasks_max or tasks_per_minute.");
    }
    for (const [name, value] of Object.entries(provider.headers ?? {})) {
      const place = [...path, "headers", name];
      if (!headerNamePattern.test(name)) report(place, explainHeaderName(name));
      if (!headerValuePattern.test(value)) {
        report(place, `The value of the header ${name} must be 1 to 4096 visible ASCII characters.`);
      }
      checkSecret(value, place, { hasSecret, report });
    }
  }
}

/** Checks the options that each kind of provider requires, and rejects those it does not have. */
function checkKind(
  provider: CatalogFile["providers"][number],
  path: readonly (string | number)[],
  report: ReportProblem,
): void {
  const { id, kind } = provider;
  if (kind === "openai-compatible" && provider.base_url === undefined) {
    report(
      path,
      `Provider ${id} has no base_url. Add the address of the vendor's API, such as https://api.openai.com/v1.`,
    );
  }
  if ((isMediaKind(kind) || kind in accountSettings) && (provider.api_keys ?? []).length === 0) {
    report(path, `Provider ${id} has no api_keys. Name a secret, such as \${${nameKey(kind)}}.`);
  }
  checkAccount(provider, path, report);
  if (kind === "ai-sdk" && provider.package === undefined) {
    report(path, `Provider ${id} has no package. Name its npm package, such as "@ai-sdk/mistral".`);
  }
  if (kind !== "ai-sdk" && provider.package !== undefined) {
    report(path, `Provider ${id} names a package, which only kind ai-sdk has. Remove package or change kind.`);
  }
  for (const name of headerNameOptions) {
    const header = provider[name];
    if (header !== undefined && !headerNamePattern.test(header)) {
      report([...path, name], explainHeaderName(header));
    }
  }
  if (provider.cache_marks !== undefined && kind !== "anthropic") {
    report([...path, "cache_marks"], `cache_marks works only with kind anthropic. Remove it from provider ${id}.`);
  }
  for (const name of openAiOptions) {
    if (kind === "openai-compatible" || provider[name] === undefined) continue;
    if (kind === "azure" && azureOptions.includes(name)) continue;
    report([...path, name], `${name} works only with kind openai-compatible. Remove it from provider ${id}.`);
  }
}

/** Settings of `role_arn`. */
const roleSettings = ["external_id", "sts_url"] as const;

/** Checks the settings of the account at the vendor. */
function checkAccount(
  provider: CatalogFile["providers"][number],
  path: readonly (string | number)[],
  report: ReportProblem,
): void {
  const { id, kind, base_url: baseUrl, resource, api_version: version } = provider;
  for (const name of accountSettingNames) {
    const setting = accountSettings[kind]?.[name];
    const value = provider[name];
    if (setting === undefined) {
      if (value === undefined) continue;
      report(
        [...path, name],
        `${name} works only with kind ${listKindsWith(name).join(" or ")}. Remove it from provider ${id}.`,
      );
    } else if (value === undefined) {
      if (setting.isRequired !== true) continue;
      report(path, `Provider ${id} has no ${name}. Add ${setting.meaning}, such as ${setting.example}.`);
    } else if (!setting.pattern.test(value)) {
      report([...path, name], `"${value}" is not ${setting.meaning}. Write one such as ${setting.example}.`);
    }
  }
  for (const name of roleSettings) {
    if (provider[name] === undefined || provider.role_arn !== undefined || !(kind in accountSettings)) continue;
    report([...path, name], `${name} is for a role. Add role_arn, or remove ${name} from provider ${id}.`);
  }
  if (kind !== "azure") return;
  if (resource === undefined && baseUrl === undefined) {
    report(path, `Provider ${id} has no resource. Add the name of the Azure resource, such as my-resource.`);
  }
  if (resource !== undefined && baseUrl !== undefined) {
    report([...path, "base_url"], `Provider ${id} has resource and base_url. Remove one of them.`);
  }
  if (version !== undefined && resource === undefined) {
    report([...path, "api_version"], "api_version needs resource. Write it into base_url: …?api-version=2024-10-21.");
  }
}

function checkPackage(
  { package: packageName }: CatalogFile["providers"][number],
  path: readonly (string | number)[],
  { around, report }: { around: CatalogSurroundings; report: ReportProblem },
): void {
  if (packageName === undefined) return;
  const place = [...path, "package"];
  if (!packagePattern.test(packageName)) {
    report(place, `"${packageName}" is not a valid npm package name. Write one such as "@ai-sdk/mistral".`);
    return;
  }
  const fault = around.findPackageFault(packageName);
  if (fault !== null) report(place, `${fault.message} ${fault.remedy}`);
}

/** A text that is not a reference is a plain header value. */
function checkSecret(
  text: string,
  place: readonly (string | number)[],
  { hasSecret, report }: { hasSecret: CatalogSurroundings["hasSecret"]; report: ReportProblem },
): void {
  const name = readReference(text);
  if (name === null || hasSecret(name)) return;
  const { message, remedy } = explainMissingSecret(name);
  report(place, `${message} ${remedy}`);
}

function checkAddress(
  { base_url: address, allow_http: allowsHttp }: CatalogFile["providers"][number],
  path: readonly (string | number)[],
  report: ReportProblem,
): void {
  const url = address === undefined ? null : URL.parse(address);
  if (allowsHttp !== undefined && url?.protocol !== "http:") {
    report([...path, "allow_http"], "allow_http works only with a base_url that starts with http://. Remove it.");
  }
  if (address === undefined) return;
  const place = [...path, "base_url"];
  if (url === null || !["https:", "http:"].includes(url.protocol)) {
    report(place, "base_url must start with https://, or with http:// on this machine or a private network.");
  } else if (url.username !== "" || url.password !== "") {
    report(place, "base_url must not contain a user name or password. Use api_keys or headers.");
  } else if (url.hash !== "") {
    report(place, `base_url must not contain a fragment. Remove ${url.hash}, which is never sent.`);
  } else if (url.protocol === "http:" && allowsHttp !== true && !isOnThisMachine(url)) {
    report(place, `${url.origin} is not on this machine. Use https, or add allow_http: true to the provider.`);
  }
}

function nameKey(kind: string): string {
  return `${kind.toUpperCase().replaceAll("-", "_")}_KEY`;
}

function isOnThisMachine({ hostname }: URL): boolean {
  return ["localhost", "[::1]"].includes(hostname) || (isIP(hostname) === 4 && hostname.startsWith("127."));
}

function checkModels(file: CatalogFile, around: CatalogSurroundings, report: ReportProblem): void {
  const { models, providers, prices } = file;
  reportRepeated(models, "models", report);
  checkAliases(file, { idPattern, idRule }, report);
  const providerIds = new Set(providers.map(({ id }) => id));
  const pricedIds = new Set(prices.map(({ model }) => model));
  const partIds = new Set(models.flatMap(({ stages }) => listStageModels(stages).map(({ modelId }) => modelId)));
  for (const [index, model] of models.entries()) {
    const path = ["models", index];
    if (!idPattern.test(model.id)) {
      report([...path, "id"], `"${model.id}" is not a valid model id. ${idRule}`);
    }
    for (const [position, capability] of model.capabilities.entries()) {
      const allowed: readonly string[] = capabilitiesByType[model.type];
      if (!allowed.includes(capability)) {
        report(
          [...path, "capabilities", position],
          `${model.type} models don't have the capability ${capability}. Use: ${allowed.join(", ")}.`,
        );
      }
    }
    for (const name of Object.keys(model.limits ?? {})) {
      const allowed: readonly string[] = limitsByType[model.type];
      if (!allowed.includes(name)) {
        report(
          [...path, "limits", name],
          `${model.type} models don't have the limit ${name}. Use: ${allowed.join(", ")}.`,
        );
      }
    }
    if ((model.logo ?? "") !== "" && !isLogo(model.logo ?? "")) {
      const own = [...ownLogos.keys()].join(", ");
      report([...path, "logo"], `"${model.logo}" is not a valid logo. Use a public https address, or one of: ${own}.`);
    }
    for (const [position, plan] of (model.plans ?? []).entries()) {
      if (!around.planIds.has(plan)) report([...path, "plans", position], explainMissingPlan(plan));
    }
    for (const name of ["created_at", "deprecated_at", "shutdown_date"] as const) {
      if (model[name] !== undefined) checkTime(model[name], [...path, name], report);
    }
    if (model.shutdown_date !== undefined && model.deprecated_at === undefined) {
      report([...path, "shutdown_date"], `${model.id} has a shutdown_date but no deprecated_at. Add deprecated_at.`);
    }
    if (isBefore(model.shutdown_date, model.deprecated_at)) {
      report(
        [...path, "shutdown_date"],
        `shutdown_date ${model.shutdown_date} is before deprecated_at ${model.deprecated_at}. Set a later date.`,
      );
    }
    checkPolicy(model, path, report);
    for (const [position, route] of (model.routes ?? []).entries()) {
      const place = [...path, "routes", position];
      if (!providerIds.has(route.provider)) {
        report(
          [...place, "provider"],
          `There is no provider ${route.provider} in this file. Add it under providers, or correct the name.`,
        );
      }
      const kind = providers.find(({ id }) => id === route.provider)?.kind;
      // `checkStages` rejects all routes of a drama.
      if (kind !== undefined && model.type !== "drama") checkServed(model.type, kind, { place, report });
      if (route.passthrough !== undefined && kind !== undefined && !passthroughKinds.includes(kind)) {
        report(
          [...place, "passthrough"],
          `passthrough works only with the kinds ${passthroughKinds.join(", ")}, and ${route.provider} is ${kind}. Remove it.`,
        );
      }
      checkMediaRoute({ model, route, kind }, place, report);
      for (const [field, name] of (route.passthrough ?? []).entries()) {
        if (fieldPattern.test(name)) continue;
        report(
          [...place, "passthrough", field],
          `"${name}" is not a valid field name. Use lowercase letters, digits and underscores, starting with a letter.`,
        );
      }
    }
    checkOffers(model, path, { file, report });
    checkChatOptions(model, path, report);
    checkStages(model, path, { file, report });
    // A model that serves only as a stage of a drama needs no price.
    if ((model.routes ?? []).length > 0 && !pricedIds.has(model.id) && !partIds.has(model.id)) {
      report(
        [...path, "routes"],
        `${model.id} has routes but no price. Add one under prices; a free model has the price "0".`,
      );
    }
  }
}

/** A policy needs something to choose by. */
function checkPolicy(model: ModelEntry, path: readonly (string | number)[], report: ReportProblem): void {
  const { id, policy, routes = [] } = model;
  if (policy !== undefined && model.type === "drama") {
    report([...path, "policy"], `${id} is a drama, which has no routes. Set the policy of its stages' models.`);
  }
  for (const [position, { cost, cost_sheet: sheet }] of routes.entries()) {
    const place = [...path, "routes", position];
    if (cost !== undefined && parseMoney(cost) === null) {
      report([...place, "cost"], `"${cost}" is not a decimal with at most nine places, such as "0.002".`);
    } else if (cost !== undefined && (policy === undefined || policy === "fastest")) {
      report([...place, "cost"], "cost is only for a model with the policy cheapest or balanced. Remove it.");
    }
    if (cost === undefined && sheet === undefined && policy === "cheapest") {
      report(place, `${id} goes to its cheapest route. Give this route a cost, in the same unit as the others.`);
    }
  }
}

function checkServed(
  type: Exclude<ModelType, "drama">,
  kind: keyof typeof servedByKind,
  { place, report }: { place: readonly (string | number)[]; report: ReportProblem },
): void {
  const servedTypes: readonly string[] = servedByKind[kind];
  if (servedTypes.includes(type)) return;
  const able = providerKinds.filter((other) => (servedByKind[other] as readonly string[]).includes(type));
  const own = able.filter((other) => vendorsByKind[kind]?.includes(other));
  const advice =
    own.length > 0
      ? `For the same vendor's ${type}, add a provider of kind ${own.join(" or ")}.`
      : `For ${type}, use one of these kinds: ${able.join(", ")}.`;
  report([...place, "provider"], `Providers of kind ${kind} serve ${servedTypes.join(", ")}, not ${type}. ${advice}`);
}

function checkChatOptions(model: ModelEntry, path: readonly (string | number)[], report: ReportProblem): void {
  for (const name of ["usual_output_tokens", "hold", "extra_parameters"] as const) {
    if (model.type === "chat" || model[name] === undefined) continue;
    report([...path, name], `${name} works only with chat models. Remove it from ${model.id}.`);
  }
  const max = model.limits?.max_output_tokens;
  if (max !== undefined && model.usual_output_tokens !== undefined && model.usual_output_tokens > max) {
    report(
      [...path, "usual_output_tokens"],
      `usual_output_tokens ${model.usual_output_tokens} exceeds max_output_tokens ${max}. Lower it.`,
    );
  }
}

function isBefore(time: string | undefined, other: string | undefined): boolean {
  const [moment, otherMoment] = [time, other].map((each) => (each === undefined ? null : parseTimestamp(each)));
  return Boolean(moment && otherMoment && moment < otherMoment);
}

function reportRepeated(entries: readonly { id: string }[], name: string, report: ReportProblem): void {
  const seen = new Map<string, number>();
  for (const [index, { id }] of entries.entries()) {
    const first = seen.get(id);
    if (first === undefined) seen.set(id, index);
    else report([name, index, "id"], `${name}[${first}] already has the id ${id}. Choose another.`);
  }
}

function explainHeaderName(name: string): string {
  return `"${name}" is not a valid header name. Use letters, digits and hyphens, at most 100.`;
}
