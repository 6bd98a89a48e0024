import { type Static, Type } from "typebox";
import { type Model, modelStatuses, modelTypes } from "./model.ts";

const modelSchema = Type.Object({
  id: Type.String({ description: "Stable; goes into `model` of every call." }),
  object: Type.Literal("model"),
  created: Type.Integer({ description: "Unix time in seconds." }),
  owned_by: Type.String(),
  name: Type.String(),
  type: Type.Enum([...modelTypes]),
  logo: Type.String({ description: "The address of a picture, or empty." }),
  description: Type.String(),
  advantages: Type.Array(Type.String()),
  scenarios: Type.Array(Type.String()),
  status: Type.Enum([...modelStatuses]),
  capabilities: Type.Array(Type.String()),
});

export const modelListSchema = Type.Object(
  { object: Type.Literal("list"), data: Type.Array(modelSchema) },
  { description: "The models that the account may use." },
);

export function presentModelList(models: readonly Model[]): Static<typeof modelListSchema> {
  return { object: "list", data: models.map(presentModel) };
}

function presentModel(model: Model): Static<typeof modelSchema> {
  return {
    id: model.id,
    object: "model",
    created: Math.floor(model.createdAt.getTime() / 1000),
    owned_by: "sluice",
    name: model.name,
    type: model.type,
    logo: model.logo,
    description: model.description,
    advantages: [...model.advantages],
    scenarios: [...model.scenarios],
    status: model.status,
    capabilities: [...model.capabilities],
  };
}
