import { fieldsByKind, findModelFields } from "../../providers/fields-by-kind.ts";
import { listOptionNames, mediaOptions, type OptionValue } from "../../providers/media-options.ts";
import type { ProviderDefinition } from "../../providers/provider-definition.ts";
import type { FieldRules } from "../../providers/route-terms.ts";
import { findValueObstacle, listFields } from "../../providers/write-media-fields.ts";
import type { CatalogFile, ModelEntry, ReportProblem } from "./catalog-file.ts";
import type { ModelLimits } from "./model.ts";

type Path = readonly (string | number)[];
type RouteEntry = NonNullable<ModelEntry["routes"]>[number];
type MediaType = keyof typeof mediaTypes;

const mediaTypes = { image: true, video: true, avatar: true, speech: true } as const;
const routeOptions = ["fields", "parameters", "voices"] as const;

function isMedia(type: ModelEntry["type"]): type is MediaType {
  return type in mediaTypes;
}

/** Checks what only routes of media models have. */
export function checkMediaRoute(
  { model, route, kind }: { model: ModelEntry; route: RouteEntry; kind: ProviderDefinition["kind"] | undefined },
  place: Path,
  report: ReportProblem,
): void {
  const { type } = model;
  if (route.capability !== undefined && !model.capabilities.includes(route.capability)) {
    report(
      [...place, "capability"],
      `${model.id} does not have the capability ${route.capability}. Add it to the model, or remove it here.`,
    );
  }
  for (const name of routeOptions) {
    if (route[name] === undefined) continue;
    if (!isMedia(type)) report([...place, name], `${name} works only with models that make media. Remove it.`);
    else if (kind !== undefined && fieldsByKind[kind]?.[type] === undefined) {
      report([...place, name], `Providers of kind ${kind} have fixed fields for ${type}. Remove ${name}.`);
    }
  }
  if (!isMedia(type)) return;
  if (kind !== undefined && fieldsByKind[kind]?.[type] !== undefined) {
    const made = Object.keys(findModelFields(kind, route.upstream_model) ?? {});
    if (!made.includes(type)) {
      const instead = made.length === 0 ? "nothing that Sluice offers" : made.join(", ");
      report([...place, "upstream_model"], `${route.upstream_model} makes ${instead}, not ${type}. Name another one.`);
    }
  }
  const known = listFields(type);
  for (const name of Object.keys(route.fields ?? {})) {
    if (known.includes(name)) continue;
    report([...place, "fields", name], `${type} requests have no field ${name}. Use: ${known.join(", ")}.`);
  }
  for (const voice of Object.keys(route.voices ?? {})) {
    if (model.limits?.voices?.includes(voice) === true) continue;
    report([...place, "voices", voice], `${voice} is not among the model's limits.voices. Add it there, or remove it.`);
  }
}

/** Whatever a model offers, one of its routes must be able to do. */
export function checkOffers(
  model: ModelEntry,
  path: Path,
  { file, report }: { file: CatalogFile; report: ReportProblem },
): void {
  const { type, routes = [] } = model;
  if (!isMedia(type) || routes.length === 0) return;
  const ways = routes.flatMap((route) => {
    const kind = file.providers.find(({ id }) => id === route.provider)?.kind;
    const rules = kind === undefined ? undefined : findModelFields(kind, route.upstream_model)?.[type];
    // A kind without rules decides by itself.
    return kind === undefined ? [] : [{ route, rules }];
  });
  if (ways.length === 0) return;
  const canWrite = (name: string, value: OptionValue): boolean =>
    ways.some(
      ({ route, rules }) => rules === undefined || findValueObstacle(name, value, mergeRules(rules, route)) === null,
    );
  for (const { name, limit, value } of listOffers(type, model.limits ?? {})) {
    if (canWrite(name, value)) continue;
    report(
      [...path, "limits", limit],
      `No route of ${model.id} can do ${name} ${String(value)}. Map ${name} in the fields of a route, or remove it here.`,
    );
  }
  // A wrong capability of a route is a problem by itself.
  const isWrong = routes.some(
    (route) => route.capability !== undefined && !model.capabilities.includes(route.capability),
  );
  for (const [position, capability] of isWrong ? [] : model.capabilities.entries()) {
    const isServed = routes.some((route) => route.capability === undefined || route.capability === capability);
    if (!isServed)
      report([...path, "capabilities", position], `No route of ${model.id} serves ${capability}. Add one.`);
  }
}

function mergeRules(rules: FieldRules, route: RouteEntry): FieldRules {
  return { ...rules, ...(route.fields as FieldRules | undefined) };
}

type Offer = { name: string; limit: string; value: OptionValue };

/** Every value that callers may send, by field. */
function listOffers(type: MediaType, limits: NonNullable<ModelEntry["limits"]>): Offer[] {
  const listed = (name: string, limit: keyof ModelLimits): Offer[] =>
    ((limits[limit] ?? []) as readonly OptionValue[]).map((value) => ({ name, limit, value }));
  const options = listOptionNames(type).flatMap((name): Offer[] => {
    const offered = limits[name];
    if (offered === undefined) return [];
    if (mediaOptions[name].offer === "list") return listed(name, name);
    return [{ name, limit: name, value: "" }];
  });
  return [
    ...listed("size", "sizes"),
    ...listed("duration", "durations").filter(() => type === "video"),
    ...listed("aspect_ratio", "aspect_ratios").filter(() => type !== "image"),
    ...listed("voice", "voices"),
    ...listed("response_format", "response_formats"),
    ...(limits.last_image === true ? [{ name: "last_image", limit: "last_image", value: "" }] : []),
    ...options,
  ];
}
