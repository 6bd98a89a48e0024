import { expect, test } from "vitest";
import type { ModelDetail } from "../../api/fetch-catalog.ts";
import { usualSettings } from "./chat-settings.ts";
import { fitSettings, listIgnoredValues, mergeFields } from "./fit-settings.ts";
import { listMediaFields } from "./media-fields.ts";

type Part = Pick<ModelDetail, "type" | "capabilities" | "limits">;

const large: Part = {
  type: "image",
  capabilities: ["text_to_image", "image_to_image"],
  limits: { sizes: ["1024x1024", "512x512"], max_n: 4, max_prompt_length: 4000 },
};
const small: Part = {
  type: "image",
  capabilities: ["text_to_image"],
  limits: { sizes: ["256x256", "512x512"], max_prompt_length: 100 },
};

test("a chat model gets the settings it supports, with remarks about the others", () => {
  const model: Pick<ModelDetail, "capabilities" | "limits"> = {
    capabilities: ["chat"],
    limits: { max_output_tokens: 10 },
  };
  const settings = { ...usualSettings, effort: "high", hasTools: true, tokensMax: "50" };
  const fitted = fitSettings(settings, model, { hasImages: true });
  expect(fitted.settings.tokensMax).toBe("10");
  expect(fitted.remarks.join(" ")).toMatch(/effort.*Tools.*Images.*10/);
  expect(fitSettings(usualSettings, model, { hasImages: false }).remarks).toEqual([]);
});

test("the form has the fields of all models", () => {
  const shared = mergeFields([listMediaFields(large), listMediaFields(small)]);
  expect(shared.map(({ name }) => name)).toEqual(["prompt", "size", "n", "input_images"]);
  expect(shared[0]).toMatchObject({ charactersMax: 4000 });
  expect(shared[1]).toMatchObject({ options: [{ value: "1024x1024" }, { value: "512x512" }, { value: "256x256" }] });
});

test("remarks name the fields that a model does not support", () => {
  const shared = mergeFields([listMediaFields(large), listMediaFields(small)]);
  const own = listMediaFields(small);
  expect(listIgnoredValues(shared, own, { size: "1024x1024", n: "3" })).toEqual([
    "Size is 256 × 256: the only one supported.",
    "Number of images is not sent.",
  ]);
  expect(listIgnoredValues(shared, own, { size: "512x512" })).toEqual([]);
});
