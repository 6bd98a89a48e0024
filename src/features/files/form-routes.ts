import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../platform/errors/app-error.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { getCaller } from "../../platform/http/request-context.ts";
import { type SpooledFile, TooManyBytesError } from "../../platform/storage/create-spool.ts";
import type { FileDependencies } from "./file-dependencies.ts";
import { cleanFilename } from "./filename.ts";
import { withUploadSlot } from "./limit-uploads.ts";
import type { FormPart } from "./read-upload-form.ts";
import { acceptForms, checkHead, readParts, watchCaller } from "./upload-routes.ts";

export type FormFile = { filename: string; spooled: SpooledFile };
export type FormEntry = { name: string; value: string | FormFile };

/** A fully read form. Its files are on the local disk until `remove`. */
type ReceivedForm = { entries: readonly FormEntry[]; remove(): Promise<void> };

/** A form's limits, and its field names for error messages. */
export type FormDescription = {
  names: string;
  param: string;
  filesMax: number;
  fieldsMax: number;
  fieldBytesMax: number;
  /** The parts that may be files. */
  fileNames: readonly string[];
};

export type ReceiveForm = (
  request: FastifyRequest,
  reply: FastifyReply,
  form: FormDescription,
) => Promise<ReceivedForm>;

/** For routes of other features with file forms of their own. */
export async function acceptFileForms(
  http: HttpServer,
  { limits: { uploadBytesMax } }: FileDependencies,
  { filesMax, fieldsMax, fieldBytesMax }: FormDescription,
): Promise<void> {
  await acceptForms(http, {
    fields: fieldsMax,
    files: filesMax,
    parts: filesMax + fieldsMax,
    fieldSize: fieldBytesMax,
    fileSize: uploadBytesMax + 1,
  });
}

/** Reads a form like an upload; all of its files together may be as large as one upload. */
export async function receiveForm(
  dependencies: FileDependencies,
  { request, reply, form }: { request: FastifyRequest; reply: FastifyReply; form: FormDescription },
): Promise<ReceivedForm> {
  const { accountId } = getCaller(request);
  checkHead(request, dependencies.limits.uploadBytesMax);
  return await withUploadSlot(dependencies.counters, { accountId, requestId: request.id }, () =>
    readForm(dependencies, { form, sent: readParts(request, form), signal: watchCaller(reply) }),
  );
}

async function readForm(
  { spool, limits: { uploadBytesMax } }: FileDependencies,
  { form, sent, signal }: { form: FormDescription; sent: AsyncIterable<FormPart>; signal: AbortSignal },
): Promise<ReceivedForm> {
  const entries: FormEntry[] = [];
  const listFiles = () => entries.flatMap(({ value }) => (typeof value === "string" ? [] : [value.spooled]));
  const remove = async (): Promise<void> => {
    for (const spooled of listFiles()) await spooled.remove();
  };
  async function readPart(part: FormPart): Promise<FormEntry> {
    const name = part.fieldname;
    if (part.type === "field") return { name, value: String(part.value) };
    if (!form.fileNames.includes(name)) {
      throw new AppError("unknown_parameter", `\`${name}\` is not a file field of this request.`, { param: name });
    }
    const bytesMax = listFiles().reduce((left, { bytes }) => left - bytes, uploadBytesMax);
    const spooled = await spool.write(part.file, { bytesMax, signal });
    return { name, value: { filename: cleanFilename(part.filename), spooled } };
  }

  try {
    for await (const part of sent) entries.push(await readPart(part));
    return { entries, remove };
  } catch (error) {
    await remove();
    throw error instanceof TooManyBytesError ? createTooLarge(uploadBytesMax, form) : error;
  }
}

function createTooLarge(bytesMax: number, { param }: FormDescription): AppError {
  return new AppError("payload_too_large", `The files exceed ${bytesMax} bytes in total.`, { param });
}
