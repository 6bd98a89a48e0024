import { describe, expect, test } from "vitest";
import { fieldsByKind, findModelFields } from "./fields-by-kind.ts";
import { servedByKind } from "./provider-definition.ts";
import { findValueObstacle, listFields, writeFields } from "./write-media-fields.ts";

/** A value that every rule for the field can write. */
const samples: Record<string, string | number | boolean | string[]> = {
  size: "1024x1024",
  n: 1,
  duration: 5,
  aspect_ratio: "16:9",
  input_images: ["https://example.com/1.png"],
  resolution: "720p",
  audio: true,
  frame_rate: 24,
  seed: 7,
};

/** Models with other fields than the first of their kind. */
const families = ["stability.sd3-5-large-v1:0", "stability.stable-image-core-v1:1"].map(
  (model) => ["bedrock-media", findModelFields("bedrock-media", model) ?? {}, model] as const,
);

const all = [
  ...Object.entries(fieldsByKind).map(([kind, types]) => [kind, types, "any"] as const),
  ...families,
].flatMap(([kind, types, model]) =>
  Object.entries(types).map(([type, rules]) => ({ kind: kind as keyof typeof servedByKind, type, rules, model })),
);

describe.each(all)("$kind, $type, model $model", ({ kind, type, rules }) => {
  const fields = listFields(type as Parameters<typeof listFields>[0]);

  test("has rules for known fields only, and is listed as served", () => {
    expect(Object.keys(rules).filter((name) => !fields.includes(name))).toEqual([]);
    expect(servedByKind[kind]).toContain(type);
  });

  test.each(fields)("%s is written, or refused: never accepted and dropped", (name) => {
    const rule = [rules[name] ?? []].flat();
    const value = samples[name] ?? "x";
    const obstacle = findValueObstacle(name, value, rules);
    const written = writeFields({ [name]: value }, rules);
    const isSilent = rule.every((one) => typeof one !== "string" && one.field === undefined);
    if (obstacle === null && !isSilent) expect(Object.keys(written).length).toBeGreaterThan(0);
    // Otherwise the field is refused, has the only value that the vendor makes, or is sent as a file or as another field.
    if (Object.keys(written).length > 0) return;
    const isFixed = rule.some((one) => typeof one !== "string" && one.only !== undefined);
    const isFile = ["openai-compatible", "azure"].includes(kind) && name === "input_images";
    const isElsewhere = ["size", "width", "height"].includes(name) || isFile;
    expect(obstacle !== null || isFixed || isElsewhere).toBe(true);
  });
});
