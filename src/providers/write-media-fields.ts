import type { GenerationInput, GenerationRequest, ObstacleSearch } from "./generation.ts";
import { listOptionNames, type OptionValue } from "./media-options.ts";
import type { FieldRule, FieldRules, RouteTerms } from "./route-terms.ts";

/** The fields that a route may map, by type. */
const ownFields = {
  image: ["prompt", "n", "size", "width", "height", "input_images"],
  video: ["prompt", "duration", "aspect_ratio", "input_images", "last_image"],
  avatar: ["avatar_image", "avatar_video", "audio_file", "aspect_ratio"],
  speech: ["input", "voice", "response_format", "speed"],
} as const satisfies Record<GenerationRequest["type"], readonly string[]>;

export function listFields(type: GenerationRequest["type"]): string[] {
  return [...ownFields[type], ...listOptionNames(type)];
}

/** The callers' names of fields that have another name here. */
const paramsByField: Readonly<Record<string, string>> = {
  avatar_image: "avatar_file_id",
  avatar_video: "avatar_file_id",
  audio_file: "audio_file_id",
  width: "size",
  height: "size",
};

type Value = OptionValue | readonly string[];
/** An input and the address where the vendor finds it. */
export type PlacedInput = Pick<GenerationInput, "role" | "contentType"> & { address: string };

/** The values of a request, by our fields. */
export function listValues(request: GenerationRequest, inputs: readonly PlacedInput[]): Record<string, Value> {
  const options = request.options ?? {};
  const addressesOf = (role: GenerationInput["role"]): string[] =>
    inputs.filter((input) => input.role === role).map(({ address }) => address);
  const images = addressesOf("image");
  const [lastImage] = addressesOf("last-image");
  const given = {
    ...(images.length === 0 ? {} : { input_images: images }),
    ...(lastImage === undefined ? {} : { last_image: lastImage }),
  };
  switch (request.type) {
    case "image": {
      const { prompt, count, width, height } = request;
      return { prompt, n: count, size: `${width}x${height}`, width, height, ...given, ...options };
    }
    case "video": {
      const { prompt, durationSeconds, aspectRatio } = request;
      const text = prompt === "" ? {} : { prompt };
      return { ...text, duration: durationSeconds, aspect_ratio: aspectRatio, ...given, ...options };
    }
    case "avatar": {
      const person = inputs.find(({ role }) => role === "person");
      const name = person?.contentType.startsWith("video/") === true ? "avatar_video" : "avatar_image";
      const [voice] = addressesOf("audio");
      return {
        ...(person === undefined ? {} : { [name]: person.address }),
        ...(voice === undefined ? {} : { audio_file: voice }),
        aspect_ratio: request.aspectRatio,
        ...options,
      };
    }
    case "speech": {
      const { text, voice, format, speed } = request;
      return { input: text, voice, response_format: format, ...(speed === 1 ? {} : { speed }), ...options };
    }
  }
}

type Obstacle = { param: string; message: string };

/** The first value that the rules cannot write; `null` if there is none. */
export function findFieldObstacle(
  values: Readonly<Record<string, Value>>,
  rules: FieldRules,
  { fields = {}, voices }: RouteTerms = {},
): Obstacle | null {
  const all: FieldRules = { ...rules, ...fields };
  for (const [name, value] of Object.entries(values)) {
    const obstacle = findValueObstacle(name, value, all);
    if (obstacle !== null) return obstacle;
  }
  const voice = values.voice;
  if (voices !== undefined && voice !== undefined && !Object.hasOwn(voices, String(voice))) {
    return { param: "voice", message: `\`voice\` must be one of these: ${Object.keys(voices).join(", ")}.` };
  }
  return null;
}

/** Why a value cannot be written; `null` if it can. */
export function findValueObstacle(name: string, value: Value, rules: FieldRules): Obstacle | null {
  const param = paramsByField[name] ?? name;
  const found = listRules(rules, name);
  if (found.length === 0) {
    // A size is written as one field or as two.
    const isElsewhere = isSide(name) || (name === "size" && "width" in rules && "height" in rules);
    return isElsewhere ? null : { param, message: `This model does not support \`${param}\`. Remove it.` };
  }
  const allowed = found.map((rule) => listAllowed(rule)).find((list) => list !== null && !includes(list, value));
  if (allowed) {
    return { param, message: `\`${param}\` must be one of these for this request: ${allowed.join(", ")}.` };
  }
  if (Array.isArray(value) && value.length > 1 && found.every((rule) => readRule(rule).as === "first")) {
    return { param, message: `\`${param}\` can have one image for this model.` };
  }
  return null;
}

/** The first thing in a request that a vendor, with rules for each type that it makes, cannot do on a route. */
export function findRequestObstacle(
  request: GenerationRequest,
  { inputs, route }: ObstacleSearch,
  rulesByType: Partial<Record<GenerationRequest["type"], FieldRules>>,
): Obstacle | null {
  const rules = rulesByType[request.type];
  if (rules === undefined) return { param: "model", message: `This model does not make ${nouns[request.type]}.` };
  // Whether the person is an image or a video is not known yet; the rules of both are checked when it is sent.
  const known = inputs.filter(({ role }) => role !== "person");
  const placed = known.map(({ role }): PlacedInput => ({ role, contentType: "", address: "" }));
  return findFieldObstacle(listValues(request, placed), rules, route);
}

const nouns = { image: "images", video: "videos", avatar: "avatars", speech: "speech" } as const;

function isSide(name: string): boolean {
  return name === "width" || name === "height";
}

function listRules(rules: FieldRules, name: string): readonly FieldRule[] {
  const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
  return rule === undefined ? [] : ([rule].flat() as FieldRule[]);
}

function readRule(rule: FieldRule): Exclude<FieldRule, string> {
  return typeof rule === "string" ? { field: rule } : rule;
}

function listAllowed(rule: FieldRule): readonly OptionValue[] | null {
  const { only, values } = readRule(rule);
  return only ?? (values === undefined ? null : Object.keys(values));
}

function includes(list: readonly OptionValue[], value: Value): boolean {
  return list.some((one) => one === value || String(one) === String(value));
}

/** The vendor's fields for a request: the rules of the vendor, changed by those of the route, and its parameters. */
export function writeFields(
  values: Readonly<Record<string, Value>>,
  rules: FieldRules,
  { fields = {}, parameters = {}, voices = {} }: RouteTerms = {},
): Record<string, unknown> {
  const all: FieldRules = { ...rules, ...fields };
  const body: Record<string, unknown> = structuredClone(parameters);
  for (const [name, value] of Object.entries(values)) {
    const told = (name === "voice" ? findWord(voices, value) : undefined) ?? value;
    for (const rule of listRules(all, name).map(readRule)) {
      const written = writeValue(told, rule);
      if (rule.field !== undefined && written !== undefined) placeField(body, rule.field, written);
    }
  }
  return body;
}

/** The vendor's word for a value. A caller may send any text, such as `constructor`. */
function findWord<T>(words: Readonly<Record<string, T>>, value: Value): T | undefined {
  const name = String(value);
  return Object.hasOwn(words, name) ? words[name] : undefined;
}

function writeValue(value: Value, rule: Exclude<FieldRule, string>): unknown {
  const word = findWord(rule.values ?? {}, value);
  if (word !== undefined) return word;
  switch (rule.as) {
    case undefined:
      return value;
    case "text":
      return String(value);
    case "seconds":
      return `${String(value)}s`;
    case "milliseconds":
      return Number(value) * 1000;
    case "frames":
      return Number(value) * (rule.frames_per_second ?? 1) + (rule.extra_frames ?? 0);
    case "object": {
      const [width, height] = String(value).split("x").map(Number);
      return { width, height };
    }
    case "star":
      return String(value).replace("x", "*");
    case "colon":
      return String(value).replace("x", ":");
    case "first":
      return Array.isArray(value) ? value[0] : value;
    case "sole":
      return Array.isArray(value) && value.length > 1 ? undefined : [value].flat()[0];
  }
}

/** Writes a field of the body; dots separate nested objects. */
export function placeField(body: Record<string, unknown>, field: string, value: unknown): void {
  place(body, field.split("."), value);
}

function place(body: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [name = "", ...rest] = path;
  if (rest.length === 0) {
    body[name] = value;
    return;
  }
  const inner = body[name];
  const next = typeof inner === "object" && inner !== null && !Array.isArray(inner) ? inner : {};
  body[name] = next;
  place(next as Record<string, unknown>, rest, value);
}

/** The caller's name of a field that a vendor complains about; `null` if it is none of the caller's. */
export function findParam(vendorField: string, rules: FieldRules, { fields = {} }: RouteTerms = {}): string | null {
  const all: FieldRules = { ...rules, ...fields };
  const name = Object.keys(all).find((own) => listRules(all, own).some((rule) => readRule(rule).field === vendorField));
  return name === undefined ? null : (paramsByField[name] ?? name);
}
