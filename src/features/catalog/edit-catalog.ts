import { type Document, isSeq } from "yaml";
import type { CatalogFile } from "./catalog-file.ts";
import { editCatalogText } from "./imports/edit-catalog-text.ts";
import { type LocatedProblem, parseCatalog } from "./parse-catalog.ts";

export type CatalogEdit =
  /** Of the price for everybody, in the file's unit. */
  | { kind: "set_price"; model: string; amounts: Readonly<Record<string, string>> }
  | {
      kind: "add_model";
      provider: string;
      upstreamModel: string;
      id: string;
      name: string;
      maxOutputTokens: number;
      inputPrice: string;
      outputPrice: string;
    }
  /** The lowest priority is tried first; weights share the load among equals. */
  | { kind: "set_route"; model: string; provider: string; upstreamModel: string; priority: number; weight: number }
  /** With its prices. */
  | { kind: "remove_model"; model: string };

export type EditOutcome =
  | { kind: "malformed"; problems: LocatedProblem[] }
  | { kind: "refused"; param: string; message: string }
  | { kind: "edited"; catalog: string };

/** Changes a catalog file as a form asks. Comments and everything else stay. The result is not checked. */
export function editCatalog(catalog: string, edit: CatalogEdit): EditOutcome {
  const parsed = parseCatalog(catalog);
  if (parsed.kind === "malformed") return parsed;
  const { file, document } = parsed;
  switch (edit.kind) {
    case "set_price":
      return setPrice({ catalog, file, document }, edit);
    case "add_model":
      return addModel({ catalog, file, document }, edit);
    case "set_route":
      return setRoute({ catalog, file, document }, edit);
    case "remove_model":
      return removeModel(document, file, edit.model);
  }
}

type Parsed = { catalog: string; file: CatalogFile; document: Document };
type Edit<K extends CatalogEdit["kind"]> = Extract<CatalogEdit, { kind: K }>;

function setPrice({ catalog, file, document }: Parsed, { model, amounts }: Edit<"set_price">): EditOutcome {
  const position = file.prices.findIndex(
    (line) =>
      line.model === model &&
      line.plan === undefined &&
      line.account === undefined &&
      line.capability === undefined &&
      line.effective_at === undefined,
  );
  const line = file.prices[position];
  if (line === undefined) {
    return refuse("model", `The file has no price of ${model} for everybody. Add one under prices.`);
  }
  if (line.items !== undefined) {
    return refuse("model", `The price of ${model} has items. Change them in the file.`);
  }
  const editor = editCatalogText(catalog, document);
  for (const [name, amount] of Object.entries(amounts)) {
    if (!/^(?:[a-z_0-9]+_)?price$/.test(name)) return refuse("amounts", `A price has no amount ${name}.`);
    editor.setAmount(position, name, amount);
  }
  return { kind: "edited", catalog: editor.write() };
}

function addModel({ catalog, file, document }: Parsed, edit: Edit<"add_model">): EditOutcome {
  const { id, name, provider, upstreamModel, maxOutputTokens, inputPrice, outputPrice } = edit;
  if (!file.providers.some((one) => one.id === provider)) {
    return refuse("provider", `The file has no provider ${provider}.`);
  }
  if (file.models.some((model) => model.id === id || model.aliases?.includes(id) === true)) {
    return refuse("id", `The file has a model ${id} already.`);
  }
  const editor = editCatalogText(catalog, document);
  editor.append("models", {
    ...{ id, name, type: "chat", capabilities: ["chat", "streaming"] },
    limits: { max_output_tokens: maxOutputTokens },
    routes: [{ provider, upstream_model: upstreamModel }],
  });
  editor.append("prices", {
    ...{ model: id, billing_type: "token", unit: "1M tokens" },
    ...{ input_price: inputPrice, output_price: outputPrice },
  });
  return { kind: "edited", catalog: editor.write() };
}

function setRoute(
  { catalog, file, document }: Parsed,
  { model: id, provider, upstreamModel, ...asked }: Edit<"set_route">,
): EditOutcome {
  const modelAt = file.models.findIndex((model) => model.id === id);
  const routes = file.models[modelAt]?.routes;
  if (routes === undefined) return refuse("model", `The file has no model ${id} with routes.`);
  const leadsThere = (route: (typeof routes)[number]): boolean =>
    route.provider === provider && route.upstream_model === upstreamModel;
  const routeAt = routes.findIndex(leadsThere);
  const route = routes[routeAt];
  if (route === undefined) return refuse("provider", `${id} has no route to ${provider}/${upstreamModel}.`);
  if (routes.filter(leadsThere).length > 1) {
    return refuse("provider", `${id} has several routes to ${provider}/${upstreamModel}. Change them in the file.`);
  }
  const editor = editCatalogText(catalog, document);
  const present = { priority: route.priority ?? 0, weight: route.weight ?? 1 };
  for (const name of ["priority", "weight"] as const) {
    if (asked[name] !== present[name]) editor.setNumber(["models", modelAt, "routes", routeAt], name, asked[name]);
  }
  return { kind: "edited", catalog: editor.write() };
}

function removeModel(document: Document, file: CatalogFile, id: string): EditOutcome {
  if (!file.models.some((model) => model.id === id)) return refuse("model", `The file has no model ${id}.`);
  keepOnly(document, "models", (position) => file.models[position]?.id !== id);
  keepOnly(document, "prices", (position) => file.prices[position]?.model !== id);
  return { kind: "edited", catalog: document.toString({ lineWidth: 120 }) };
}

function keepOnly(document: Document, list: "models" | "prices", isKept: (position: number) => boolean): void {
  const items = document.get(list, true);
  if (isSeq(items)) items.items = items.items.filter((_, position) => isKept(position));
}

function refuse(param: string, message: string): EditOutcome {
  return { kind: "refused", param, message };
}
