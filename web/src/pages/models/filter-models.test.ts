import { expect, test } from "vitest";
import type { Model } from "../../api/fetch-catalog.ts";
import { filterModels } from "./filter-models.ts";

const common: Omit<Model, "id" | "name" | "type" | "description" | "capabilities"> = {
  object: "model",
  created: 0,
  owned_by: "sluice",
  logo: "",
  status: "available",
  advantages: [],
  scenarios: [],
};
const models: Model[] = [
  { ...common, id: "quick", name: "Quick", type: "chat", description: "Answers fast", capabilities: ["chat", "tools"] },
  { ...common, id: "brush", name: "Brush", type: "image", description: "Paints", capabilities: ["text_to_image"] },
];

test.each([
  [{}, ["quick", "brush"]],
  [{ type: "image" }, ["brush"]],
  [{ capability: "tools" }, ["quick"]],
  [{ type: "image", capability: "tools" }, []],
  [{ q: "ANSWERS quick" }, ["quick"]],
  [{ q: "text to image" }, ["brush"]],
  [{ q: "quick brush" }, []],
  [{ q: "  " }, ["quick", "brush"]],
])("%j finds %j", (filter, ids) => {
  expect(filterModels(models, filter).map(({ id }) => id)).toEqual(ids);
});
