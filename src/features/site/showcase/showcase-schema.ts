import { Type } from "typebox";
import { capabilities, modelStatuses, modelTypes, priceEntrySchema } from "../../catalog/index.ts";

const state = Type.Enum(["ok", "degraded", "down"]);

export const showcaseSchema = Type.Object({
  object: Type.Literal("showcase"),
  models: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      type: Type.Enum([...modelTypes]),
      description: Type.String(),
      capabilities: Type.Array(Type.Enum([...capabilities])),
      status: Type.Enum([...modelStatuses]),
      prices: Type.Array(priceEntrySchema, { description: "Prices of a new account." }),
    }),
  ),
  currency: Type.String({ description: "ISO 4217; all amounts are in it." }),
  status: Type.Object({
    state,
    models_available: Type.Integer({ minimum: 0 }),
    models_total: Type.Integer({ minimum: 0 }),
  }),
  base_url: Type.String({ description: "The API's base URL for clients." }),
  sign_up: Type.Enum(["open", "invite", "closed"]),
});

export const statusSchema = Type.Object({
  object: Type.Literal("status"),
  state,
  checks: Type.Array(
    Type.Object({
      name: Type.Enum(["api", "database", "workers", ...modelTypes], {
        description: "A system component or a model type.",
      }),
      state,
    }),
  ),
});
