import { type Static, Type } from "typebox";
import { filePurposes, type StoredFile, uploadPurposes } from "./file.ts";
import { fileIdPattern } from "./get-file.ts";

const fileId = (description: string) => Type.String({ examples: ["file_01kh2n8v7m3q5x9d4c6b8a0e2f"], description });

export const fileSchema = Type.Object({
  object: Type.Literal("file"),
  file_id: fileId("What generation requests call the file."),
  id: fileId("The same as `file_id`."),
  bytes: Type.Integer({ minimum: 1 }),
  content_type: Type.String({ description: "Decided by the content, not by the name.", examples: ["image/png"] }),
  filename: Type.String(),
  purpose: Type.Enum([...filePurposes], { description: "As the upload said; `output` for what tasks made." }),
  created: Type.Integer({ description: "Unix time in seconds." }),
  created_at: Type.Integer({ description: "The same as `created`, where OpenAI's clients look for it." }),
  status: Type.Literal("processed", { description: "What is here was checked and can be used." }),
  expires_at: Type.String({ format: "date-time", description: "Until when the file is kept." }),
});

export const fileListSchema = Type.Object({
  object: Type.Literal("list"),
  data: Type.Array(fileSchema),
  has_more: Type.Boolean(),
  next_cursor: Type.Union([Type.String(), Type.Null()], { description: "Send it as `after` to get what follows." }),
});

export const fileListQuerySchema = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
    after: Type.Optional(
      Type.String({ pattern: fileIdPattern.source, description: "The `next_cursor`, or the id of the last file." }),
    ),
    order: Type.Optional(
      Type.Enum(["asc", "desc"], { default: "desc", description: "By age: the oldest first, or the newest." }),
    ),
    purpose: Type.Optional(Type.Enum([...filePurposes])),
  },
  { additionalProperties: false },
);

export const deletedFileSchema = Type.Object({
  id: fileId("The file that is gone."),
  object: Type.Literal("file"),
  deleted: Type.Literal(true),
});

/** For the reference: the body is read as a stream, and checked as it comes. */
export const uploadSchema = Type.Object(
  {
    file: Type.String({
      format: "binary",
      description: "PNG, JPEG, WebP, GIF, MP3, WAV, M4A, OGG, FLAC, MP4, WebM or MOV.",
    }),
    purpose: Type.Enum([...uploadPurposes], { description: "`generation`, or what OpenAI's clients call it." }),
  },
  { additionalProperties: false },
);

export function presentFile(file: StoredFile): Static<typeof fileSchema> {
  return {
    object: "file",
    file_id: file.id,
    id: file.id,
    bytes: file.bytes,
    content_type: file.contentType,
    filename: file.filename,
    purpose: file.purpose,
    created: Math.floor(file.createdAt.getTime() / 1000),
    created_at: Math.floor(file.createdAt.getTime() / 1000),
    status: "processed",
    expires_at: file.expiresAt.toISOString(),
  };
}

export function presentFileList(files: readonly StoredFile[], limit: number): Static<typeof fileListSchema> {
  const shown = files.slice(0, limit);
  const hasMore = files.length > limit;
  return {
    object: "list",
    data: shown.map(presentFile),
    has_more: hasMore,
    next_cursor: hasMore ? (shown.at(-1)?.id ?? null) : null,
  };
}
