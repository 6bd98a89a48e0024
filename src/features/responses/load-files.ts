import { buffer } from "node:stream/consumers";
import type { AccountId } from "../../lib/ids.ts";
import { isUnread } from "../../lib/unread-json.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { Conversation } from "./prepare-response.ts";
import type { ResponseDependencies } from "./response-dependencies.ts";
import { isObject, type JsonObject, type ResponseRequest } from "./response-request.ts";

/** The parts that can name an uploaded file, the kind it must have, and the field for its content. */
const fileParts = {
  input_image: { kinds: ["image"], field: "image_url" },
  input_file: { kinds: ["pdf"], field: "file_data" },
} as const;

type FilePart = JsonObject & { type: keyof typeof fileParts; file_id: string };

/** The fields of items with parts: of a message, and of a tool's output. */
const partFields = ["content", "output"] as const;

/** Whether a request names uploaded files. */
export function hasFiles(request: ResponseRequest): boolean {
  // An outline has none.
  if (isUnread(request, "input")) return false;
  const { input } = request;
  if (!Array.isArray(input)) return false;
  return input.some((item) => partFields.some((field) => listParts(item, field).some(isFilePart)));
}

function listParts(item: JsonObject, field: (typeof partFields)[number]): unknown[] {
  const parts = item[field];
  return Array.isArray(parts) ? parts : [];
}

function isFilePart(part: unknown): part is FilePart {
  if (!isObject(part) || typeof part.file_id !== "string") return false;
  return typeof part.type === "string" && Object.hasOwn(fileParts, part.type);
}

/**
 * Puts the content of uploaded files into a conversation, because upstreams don't have them. What is stored keeps the ids.
 * Throws if a file is missing or has another kind, or if all are larger than a request may be.
 */
export async function loadFiles(
  { files, itemLimits }: Pick<ResponseDependencies, "files" | "itemLimits">,
  accountId: AccountId,
  conversation: Conversation,
): Promise<Conversation> {
  let bytes = 0;

  async function load(part: FilePart, place: string): Promise<JsonObject> {
    const { kinds, field } = fileParts[part.type];
    const param = `${place}.file_id`;
    const file = await files.getFile(accountId, part.file_id, { param, kinds });
    bytes += Math.ceil(file.bytes / 3) * 4;
    if (conversation.bytesBefore + bytes > itemLimits.bytesMax) {
      const message = "The files are larger than a request may be. Send fewer or smaller ones.";
      throw new AppError("context_length_exceeded", message, { param });
    }
    const content = await buffer(await files.openFile(file));
    const { file_id: _, ...rest } = part;
    const name = field === "file_data" ? { filename: file.filename } : {};
    return { ...name, ...rest, [field]: `data:${file.contentType};base64,${content.toString("base64")}` };
  }

  const items: Conversation["items"][number][] = [];
  for (const { item, place } of conversation.items) {
    const field = partFields.find((name) => listParts(item, name).some(isFilePart));
    if (field === undefined) {
      items.push({ item, place });
      continue;
    }
    const parts: unknown[] = [];
    for (const [index, part] of listParts(item, field).entries()) {
      parts.push(isFilePart(part) ? await load(part, `${place}.${field}[${index}]`) : part);
    }
    items.push({ item: { ...item, [field]: parts }, place });
  }
  return { ...conversation, items, bytesBefore: conversation.bytesBefore + bytes };
}
