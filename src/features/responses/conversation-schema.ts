import { Type } from "typebox";
import { metadataSchema } from "./response-request-schema.ts";

const anyObject = Type.Record(Type.String(), Type.Unknown());
/** The limit of OpenAI's API. */
const itemsAtOnceMax = 20;

const itemsSchema = Type.Array(anyObject, {
  maxItems: itemsAtOnceMax,
  description: "Messages, tool calls and their outputs, and reasoning, as in the `input` of a response.",
});

export const conversationRequestSchema = Type.Object(
  {
    items: Type.Optional(Type.Union([itemsSchema, Type.Null()])),
    metadata: Type.Optional(Type.Union([metadataSchema, Type.Null()])),
  },
  { additionalProperties: false, examples: [{ metadata: { topic: "travel" } }] },
);

export const conversationUpdateSchema = Type.Object(
  { metadata: Type.Union([metadataSchema, Type.Null()]) },
  { additionalProperties: false, examples: [{ metadata: { topic: "food" } }] },
);

export const itemsRequestSchema = Type.Object(
  { items: itemsSchema },
  { additionalProperties: false, examples: [{ items: [{ role: "user", content: "My name is Anna." }] }] },
);

export const conversationSchema = Type.Object({
  id: Type.String(),
  object: Type.Literal("conversation"),
  created_at: Type.Integer({ description: "Unix time in seconds." }),
  metadata: Type.Record(Type.String(), Type.String()),
});

export const deletedConversationSchema = Type.Object({
  id: Type.String(),
  object: Type.Literal("conversation.deleted"),
  deleted: Type.Literal(true),
});

export const itemSchema = Type.Object(
  { id: Type.String(), type: Type.String() },
  { additionalProperties: true, description: "An item, as you sent it or as the model wrote it." },
);
