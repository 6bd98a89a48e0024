import { type Static, Type } from "typebox";
import type { ReadContent } from "./read-content.ts";
import { contentStates, type KeptBody } from "./request-content.ts";

const count = (description: string) => Type.Integer({ minimum: 0, description });

const bodySchema = Type.Object({
  content_type: Type.Union([Type.String(), Type.Null()], { description: "`null` if there was no body." }),
  bytes: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
    description: "The length of the whole body; `null` if it was not counted.",
  }),
  text: Type.Union([Type.String(), Type.Null()], {
    description:
      "The body as sent, including events, without secrets. `null` if it was not text: a file, a form, audio.",
  }),
  truncated: Type.Boolean({ description: "Whether `text` is only the beginning: up to 262144 bytes are stored." }),
  left_out: count("How many characters of encoded files were removed from `text`; each place is marked."),
  hidden: count("In how many places of `text` a possible secret, or a part of one, was replaced by `[hidden]`."),
});

const maybeBody = Type.Union([bodySchema, Type.Null()], { description: "`null` unless `state` is `kept`." });

export const contentSchema = Type.Object({
  object: Type.Literal("request_content"),
  id: Type.String({ examples: ["req_01kh2n8v7m3q5x9d4c6b8a0e2f"], description: "The request." }),
  state: Type.Enum(contentStates, {
    description: `\`kept\`; \`lost\` if the log was overloaded; \`deleted\` by a member of the account.`,
  }),
  expires_at: Type.String({ format: "date-time", description: "When the content expires." }),
  request: maybeBody,
  answer: maybeBody,
});

export function presentContent({ id, state, expiresAt, content }: ReadContent): Static<typeof contentSchema> {
  return {
    object: "request_content",
    ...{ id, state },
    expires_at: expiresAt.toISOString(),
    request: content === null ? null : presentBody(content.request),
    answer: content === null ? null : presentBody(content.answer),
  };
}

function presentBody(body: KeptBody): Static<typeof bodySchema> {
  return {
    content_type: body.contentType,
    bytes: body.bytes,
    text: body.text,
    truncated: body.isTruncated,
    left_out: body.leftOut,
    hidden: body.hidden,
  };
}
