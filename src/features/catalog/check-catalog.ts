import { isIP } from "node:net";
import { parseMoney } from "../../lib/money.ts";
import { parseTimestamp } from "../../lib/timestamp.ts";
import { readReference } from "../../platform/config/secrets.ts";
import { providerKinds, servedByKind } from "../../providers/provider-definition.ts";
import type { CatalogFile, CatalogProblem, ModelEntry, PriceLine, ReportProblem } from "./catalog-file.ts";
import { checkStages } from "./check-stages.ts";
import { capabilitiesByType, limitsByType, listStageModels, type ModelType } from "./model.ts";
import { isLogo, ownLogos } from "./model-logos.ts";
import { amountNames, ownPriceNames, unitsByBillingType, unitsByType } from "./price.ts";

/** What a catalog may refer to outside of itself. */
export type CatalogSurroundings = {
  currency: string;
  planIds: ReadonlySet<string>;
  accountIds: ReadonlySet<string>;
  hasSecret(name: string): boolean;
  /** Why a package of the AI SDK cannot be used; `null` where it can. */
  findPackageFault(packageName: string): { message: string; remedy: string } | null;
};

const idPattern = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/;
const headerNamePattern = /^[A-Za-z0-9-]{1,100}$/;
const headerValuePattern = /^[\x20-\x7e]{1,4096}$/;
const packagePattern = /^(@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*$/;
const fieldPattern = /^[a-z][a-z0-9_]{0,63}$/;
const headerNameOptions = ["auth_header", "idempotency_header"] as const;
const openAiOptions = [
  ...headerNameOptions,
  "native_wires",
  "output_cap_field",
  "stream_usage",
  "system_role",
  "trace_context",
  "unsupported_fields",
] as const;
const passthroughKinds: readonly string[] = ["openai-compatible", "anthropic"];

/** Everything that is wrong with a catalog, beyond its form. */
export function checkCatalog(file: CatalogFile, surroundings: CatalogSurroundings): CatalogProblem[] {
  const problems: CatalogProblem[] = [];
  const report: ReportProblem = (path, message) => problems.push({ path, message });
  if (file.currency !== surroundings.currency) {
    report(["currency"], `The currency is ${file.currency}, but this deployment's is ${surroundings.currency}.`);
  }
  checkProviders(file, surroundings, report);
  checkModels(file, surroundings, report);
  checkPrices(file, surroundings, report);
  return problems;
}

function checkProviders({ providers }: CatalogFile, around: CatalogSurroundings, report: ReportProblem): void {
  const { hasSecret } = around;
  reportRepeated(providers, "providers", report);
  for (const [index, provider] of providers.entries()) {
    const path = ["providers", index];
    if (!idPattern.test(provider.id)) report([...path, "id"], `${provider.id} is no provider id.`);
    checkKind(provider, path, report);
    checkPackage(provider, path, { around, report });
    checkAddress(provider, path, report);
    for (const [position, reference] of (provider.api_keys ?? []).entries()) {
      const place = [...path, "api_keys", position];
      if (readReference(reference) !== null) checkSecret(reference, place, { hasSecret, report });
      else report(place, `A secret is never written here: name its environment variable, \${LIKE_THIS}.`);
    }
    for (const [name, value] of Object.entries(provider.headers ?? {})) {
      const place = [...path, "headers", name];
      if (!headerNamePattern.test(name)) report(place, `${name} is no name of a header.`);
      if (!headerValuePattern.test(value)) report(place, "A header has visible ASCII characters only.");
      checkSecret(value, place, { hasSecret, report });
    }
  }
}

/** What each kind of provider needs, and what would mean nothing to it. */
function checkKind(
  provider: CatalogFile["providers"][number],
  path: readonly (string | number)[],
  report: ReportProblem,
): void {
  const { id, kind } = provider;
  if (kind === "openai-compatible" && provider.base_url === undefined) {
    report(path, `The provider ${id} needs a base_url.`);
  }
  if (kind === "fal" && (provider.api_keys ?? []).length === 0) report(path, `The provider ${id} needs api_keys.`);
  if ((kind === "ai-sdk") !== (provider.package !== undefined)) {
    report(path, "A provider of the kind ai-sdk names its package, and no other does.");
  }
  for (const name of headerNameOptions) {
    const header = provider[name];
    if (header !== undefined && !headerNamePattern.test(header)) {
      report([...path, name], `${header} is no name of a header.`);
    }
  }
  if (provider.cache_marks !== undefined && kind !== "anthropic") {
    report([...path, "cache_marks"], "cache_marks is for providers of the kind anthropic.");
  }
  for (const name of openAiOptions) {
    if (kind === "openai-compatible" || provider[name] === undefined) continue;
    report([...path, name], `${name} is for providers of the kind openai-compatible.`);
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
    report(place, `${packageName} is no name of an npm package.`);
    return;
  }
  const fault = around.findPackageFault(packageName);
  if (fault !== null) report(place, `${fault.message} ${fault.remedy}`);
}

/** A text that is not a reference is itself. */
function checkSecret(
  text: string,
  place: readonly (string | number)[],
  { hasSecret, report }: { hasSecret: CatalogSurroundings["hasSecret"]; report: ReportProblem },
): void {
  const name = readReference(text);
  if (name !== null && !hasSecret(name)) report(place, `The environment has no variable ${name}.`);
}

function checkAddress(
  { base_url: address, allow_http: allowsHttp }: CatalogFile["providers"][number],
  path: readonly (string | number)[],
  report: ReportProblem,
): void {
  const url = address === undefined ? null : URL.parse(address);
  if (allowsHttp !== undefined && url?.protocol !== "http:") {
    report([...path, "allow_http"], "allow_http is for providers whose base_url begins with http://.");
  }
  if (address === undefined) return;
  const place = [...path, "base_url"];
  if (url === null || !["https:", "http:"].includes(url.protocol)) {
    report(place, "A base_url begins with https://, or with http:// on this machine or a private network.");
  } else if (url.username !== "" || url.password !== "") {
    report(place, "A base_url has no user name or password: use api_keys or headers.");
  } else if (url.hash !== "") {
    report(place, "A base_url has no fragment: upstreams never see what follows the #.");
  } else if (url.protocol === "http:" && allowsHttp !== true && !isOnThisMachine(url)) {
    report(place, "This http address is beyond this machine: use https, or add allow_http: true to the provider.");
  }
}

function isOnThisMachine({ hostname }: URL): boolean {
  return ["localhost", "[::1]"].includes(hostname) || (isIP(hostname) === 4 && hostname.startsWith("127."));
}

function checkModels(file: CatalogFile, around: CatalogSurroundings, report: ReportProblem): void {
  const { models, providers, prices } = file;
  reportRepeated(models, "models", report);
  const providerIds = new Set(providers.map(({ id }) => id));
  const pricedIds = new Set(prices.map(({ model }) => model));
  const partIds = new Set(models.flatMap(({ stages }) => listStageModels(stages).map(({ modelId }) => modelId)));
  for (const [index, model] of models.entries()) {
    const path = ["models", index];
    if (!idPattern.test(model.id)) {
      report(
        [...path, "id"],
        "A model id has 1 to 128 letters, digits, or . _ : / - and begins with a letter or digit.",
      );
    }
    for (const [position, capability] of model.capabilities.entries()) {
      const allowed: readonly string[] = capabilitiesByType[model.type];
      if (!allowed.includes(capability)) {
        report([...path, "capabilities", position], `A ${model.type} model can have: ${allowed.join(", ")}.`);
      }
    }
    for (const name of Object.keys(model.limits ?? {})) {
      const allowed: readonly string[] = limitsByType[model.type];
      if (!allowed.includes(name)) {
        report([...path, "limits", name], `The limits of a ${model.type} model are: ${allowed.join(", ")}.`);
      }
    }
    if ((model.logo ?? "") !== "" && !isLogo(model.logo ?? "")) {
      const own = [...ownLogos.keys()].join(", ");
      report([...path, "logo"], `A logo is a public https address, or one of these: ${own}.`);
    }
    for (const [position, plan] of (model.plans ?? []).entries()) {
      if (!around.planIds.has(plan)) report([...path, "plans", position], `There is no plan ${plan}.`);
    }
    for (const name of ["created_at", "deprecated_at", "shutdown_date"] as const) {
      if (model[name] !== undefined) checkTime(model[name], [...path, name], report);
    }
    if (model.shutdown_date !== undefined && model.deprecated_at === undefined) {
      report(
        [...path, "shutdown_date"],
        "A model that will be shut down says since when it is deprecated: deprecated_at.",
      );
    }
    if (isBefore(model.shutdown_date, model.deprecated_at)) {
      report([...path, "shutdown_date"], "A model is shut down after it is deprecated, not before.");
    }
    for (const [position, route] of (model.routes ?? []).entries()) {
      const place = [...path, "routes", position];
      if (!providerIds.has(route.provider)) {
        report([...place, "provider"], `There is no provider ${route.provider} in this file.`);
      }
      const kind = providers.find(({ id }) => id === route.provider)?.kind;
      // A drama has no routes at all, which is said elsewhere.
      if (kind !== undefined && model.type !== "drama") checkServed(model.type, kind, { place, report });
      if (route.passthrough !== undefined && kind !== undefined && !passthroughKinds.includes(kind)) {
        report([...place, "passthrough"], `Fields as they are go to the kinds ${passthroughKinds.join(" and ")} only.`);
      }
      for (const [field, name] of (route.passthrough ?? []).entries()) {
        if (!fieldPattern.test(name)) report([...place, "passthrough", field], `${name} is no name of a field.`);
      }
    }
    checkChatOptions(model, path, report);
    checkStages(model, path, { file, report });
    // A part of a drama that nobody is to call by itself needs no price.
    if ((model.routes ?? []).length > 0 && !pricedIds.has(model.id) && !partIds.has(model.id)) {
      report([...path, "routes"], `${model.id} has routes but no price; a free model has a price of "0".`);
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
  report(
    [...place, "provider"],
    `Providers of the kind ${kind} serve ${servedTypes.join(", ")}, not ${type}. These kinds serve ${type}: ${able.join(", ")}.`,
  );
}

function checkChatOptions(model: ModelEntry, path: readonly (string | number)[], report: ReportProblem): void {
  for (const name of ["usual_output_tokens", "hold", "extra_parameters"] as const) {
    if (model.type !== "chat" && model[name] !== undefined) report([...path, name], `${name} is for chat models.`);
  }
  const max = model.limits?.max_output_tokens;
  if (max !== undefined && model.usual_output_tokens !== undefined && model.usual_output_tokens > max) {
    report([...path, "usual_output_tokens"], `An answer never has more than max_output_tokens, ${max}.`);
  }
}

function checkPrices(
  { models, prices, currency }: CatalogFile,
  around: CatalogSurroundings,
  report: ReportProblem,
): void {
  const modelById = new Map(models.map((model) => [model.id, model]));
  const seen = new Map<string, number>();
  for (const [index, line] of prices.entries()) {
    const path = ["prices", index];
    const model = modelById.get(line.model);
    if (model === undefined) report([...path, "model"], `There is no model ${line.model} in this file.`);
    else if (line.capability !== undefined && !model.capabilities.includes(line.capability)) {
      report([...path, "capability"], `${line.model} does not have the capability ${line.capability}.`);
    }
    const units: readonly string[] = model === undefined ? [] : unitsByType[model.type];
    const isUnit = (unitsByBillingType[line.billing_type] as readonly string[]).includes(line.unit);
    if (model !== undefined && isUnit && !units.includes(line.unit)) {
      report([...path, "unit"], `A model for ${model.type} is priced by ${units.join(" or by ")}.`);
    }
    if (model?.type === "drama" && line.unit === "second" && line.capability !== "drama_video") {
      report([...path, "unit"], "Of a drama's stages only drama_video has a length: name it as the capability.");
    }
    if (line.currency !== undefined && line.currency !== currency) {
      report([...path, "currency"], `All prices of a catalog are in its currency, ${currency}.`);
    }
    if (line.plan !== undefined && line.account !== undefined) {
      report([...path, "account"], "A price is for a plan or for an account, not for both.");
    }
    if (line.plan !== undefined && !around.planIds.has(line.plan)) {
      report([...path, "plan"], `There is no plan ${line.plan}.`);
    }
    if (line.account !== undefined && !around.accountIds.has(line.account)) {
      report([...path, "account"], `There is no account ${line.account}.`);
    }
    if (line.effective_at !== undefined) checkTime(line.effective_at, [...path, "effective_at"], report);
    checkAmounts(line, path, { type: model?.type, report });
    const moment = line.effective_at === undefined ? null : parseTimestamp(line.effective_at);
    const scope = JSON.stringify([line.model, line.capability, line.plan, line.account, moment]);
    const first = seen.get(scope);
    if (first !== undefined) report(path, `This says the price of ${line.model} again, after prices[${first}].`);
    else seen.set(scope, index);
  }
}

function checkAmounts(
  line: PriceLine,
  path: readonly (string | number)[],
  { type, report }: { type: ModelType | undefined; report: ReportProblem },
): void {
  const units: readonly string[] = unitsByBillingType[line.billing_type];
  if (!units.includes(line.unit)) {
    report([...path, "unit"], `The unit of ${line.billing_type} is one of: ${units.join(", ")}.`);
  }
  const isToken = line.billing_type === "token";
  // An embedding model writes nothing that could be counted.
  const output = type === "embedding" ? [] : (["output_price"] as const);
  const required = isToken ? (["input_price", ...output] as const) : (["price"] as const);
  const foreign = isToken ? (["price"] as const) : (["input_price", "output_price", ...ownPriceNames] as const);
  for (const name of required) {
    if (line[name] === undefined) report(path, `A price by ${line.billing_type} needs ${name}.`);
  }
  if (type === "embedding" && parseMoney(line.output_price ?? "0") !== 0n) {
    report([...path, "output_price"], "An embedding model has no output to be paid for: leave output_price out.");
  }
  for (const name of foreign) {
    if (line[name] !== undefined) report([...path, name], `A price by ${line.billing_type} has no ${name}.`);
  }
  for (const name of amountNames) {
    const amount = line[name];
    if (amount === undefined || parseMoney(amount) !== null) continue;
    report([...path, name], `${amount} is no price: write a decimal from 0 with at most nine places, such as "0.15".`);
  }
}

function isBefore(time: string | undefined, other: string | undefined): boolean {
  const [moment, otherMoment] = [time, other].map((each) => (each === undefined ? null : parseTimestamp(each)));
  return Boolean(moment && otherMoment && moment < otherMoment);
}

function checkTime(time: string, path: readonly (string | number)[], report: ReportProblem): void {
  if (parseTimestamp(time) !== null) return;
  report(path, `${time} is no time: write it with its offset, such as 2026-11-01T00:00:00Z.`);
}

function reportRepeated(entries: readonly { id: string }[], name: string, report: ReportProblem): void {
  const seen = new Map<string, number>();
  for (const [index, { id }] of entries.entries()) {
    const first = seen.get(id);
    if (first === undefined) seen.set(id, index);
    else report([name, index, "id"], `${id} is the id of ${name}[${first}] already.`);
  }
}
