import { type Static, Type } from "typebox";
import type { ReadContent } from "./read-content.ts";
import { contentStates, type KeptBody } from "./request-content.ts";

const count = (description: string) => Type.Integer({ minimum: 0, description });

const bodySchema = Type.Object({
  content_type: Type.Union([Type.String(), Type.Null()], { description: "`null` where there was no body." }),
  bytes: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
    description: "How long the whole body was; `null` where it was not counted.",
  }),
  text: Type.Union([Type.String(), Type.Null()], {
    description:
      "The body as it was sent, events included, without secrets. `null` where it was no text: a file, a form, sound.",
  }),
  truncated: Type.Boolean({ description: "Whether `text` is only its beginning: up to 262144 bytes are kept." }),
  left_out: count("How many characters of encoded files were left out of `text`; each place says so."),
  hidden: count(
    "In how many places of `text` something was taken out that looks like a secret, or a part of one; `[hidden]` stands there.",
  ),
});

const maybeBody = Type.Union([bodySchema, Type.Null()], { description: "`null` unless `state` is `kept`." });

export const contentSchema = Type.Object({
  object: Type.Literal("request_content"),
  id: Type.String({ examples: ["req_01kh2n8v7m3q5x9d4c6b8a0e2f"], description: "The request." }),
  state: Type.Enum(contentStates, {
    description: `\`kept\`; \`lost\` where too much was to be written at once; \`deleted\` by somebody of the account.`,
  }),
  expires_at: Type.String({ format: "date-time", description: "From then on it cannot be read any more." }),
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
