import { type Static, Type } from "typebox";
import { filePurposes, type StoredFile, uploadPurposes } from "./file.ts";
import { fileIdPattern } from "./get-file.ts";

const fileId = (description: string) => Type.String({ examples: ["file_01kh2n8v7m3q5x9d4c6b8a0e2f"], description });

export const fileSchema = Type.Object({
  object: Type.Literal("file"),
  file_id: fileId("The file's id, for generation requests."),
  id: fileId("The same as `file_id`."),
  bytes: Type.Integer({ minimum: 1 }),
  content_type: Type.String({ description: "Detected from the content, not from the name.", examples: ["image/png"] }),
  filename: Type.String(),
  purpose: Type.Enum([...filePurposes], { description: "The purpose of the upload; `output` for outputs of tasks." }),
  created: Type.Integer({ description: "Unix time in seconds." }),
  created_at: Type.Integer({ description: "The same as `created`, for OpenAI's clients." }),
  status: Type.Literal("processed", { description: "Always `processed`: files are checked during the upload." }),
  expires_at: Type.String({ format: "date-time", description: "When the file is deleted." }),
});

export const fileListSchema = Type.Object({
  object: Type.Literal("list"),
  data: Type.Array(fileSchema),
  has_more: Type.Boolean(),
  next_cursor: Type.Union([Type.String(), Type.Null()], { description: "Send it as `after` to get the next page." }),
});

export const fileListQuerySchema = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
    after: Type.Optional(
      Type.String({ pattern: fileIdPattern.source, description: "The `next_cursor`, or the id of the last file." }),
    ),
    order: Type.Optional(
      Type.Enum(["asc", "desc"], { default: "desc", description: "By creation time: oldest or newest first." }),
    ),
    purpose: Type.Optional(Type.Enum([...filePurposes])),
  },
  { additionalProperties: false },
);

export const deletedFileSchema = Type.Object({
  id: fileId("The deleted file."),
  object: Type.Literal("file"),
  deleted: Type.Literal(true),
});

/** For the reference only: the body is a stream, checked as it is read. */
export const uploadSchema = Type.Object(
  {
    file: Type.String({
      format: "binary",
      description: "PNG, JPEG, WebP, GIF, MP3, WAV, M4A, OGG, FLAC, MP4, WebM, MOV or PDF.",
    }),
    purpose: Type.Enum([...uploadPurposes], { description: "`generation`, or a purpose of OpenAI's clients." }),
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
