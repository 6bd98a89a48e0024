import { AppError } from "../../platform/errors/app-error.ts";
import { type Spool, type SpooledFile, TooManyBytesError } from "../../platform/storage/create-spool.ts";
import { type UploadPurpose, uploadPurposes } from "./file.ts";
import { cleanFilename } from "./filename.ts";

/** A part of a multipart form, as it arrives. */
export type FormPart =
  | { type: "file"; fieldname: string; filename: string | undefined; file: AsyncIterable<Uint8Array> }
  | { type: "field"; fieldname: string; value: unknown };

type FormFile = { filename: string; spooled: SpooledFile };
export type UploadForm = FormFile & { purpose: UploadPurpose };

/** `refuse` creates the error for a larger file. */
type ReadLimits = { bytesMax: number; refuse: () => AppError; signal: AbortSignal };

/** Reads a form with one file and its purpose, in either order. Throws for anything else and leaves nothing behind. */
export async function readUploadForm(
  spool: Spool,
  parts: AsyncIterable<FormPart>,
  limits: ReadLimits,
): Promise<UploadForm> {
  let form: FormFile | null = null;
  let purpose: UploadPurpose | null = null;
  try {
    for await (const part of parts) {
      if (part.fieldname === "file") {
        if (form !== null) throw createProblem("file", "Send only one file.");
        form = await spoolFile(spool, part, limits);
      } else if (part.fieldname === "purpose") {
        if (purpose !== null) throw createProblem("purpose", "Send `purpose` only once.");
        purpose = readPurpose(part);
      } else {
        throw new AppError("unknown_parameter", `\`${part.fieldname}\` is not a field of this request.`, {
          param: part.fieldname,
        });
      }
    }
    if (form === null) throw createMissing("file");
    if (purpose === null) throw createMissing("purpose");
    return { ...form, purpose };
  } catch (error) {
    await form?.spooled.remove();
    throw error;
  }
}

function readPurpose(part: FormPart): UploadPurpose {
  const purpose = uploadPurposes.find((known) => part.type === "field" && part.value === known);
  if (purpose !== undefined) return purpose;
  const message = `\`purpose\` must be one of: ${uploadPurposes.join(", ")}. Only images, audio, video and PDFs are stored.`;
  throw createProblem("purpose", message);
}

async function spoolFile(spool: Spool, part: FormPart, limits: ReadLimits): Promise<FormFile> {
  if (part.type !== "file") throw createProblem("file", "`file` must be sent as a file, with a filename.");
  try {
    return { filename: cleanFilename(part.filename), spooled: await spool.write(part.file, limits) };
  } catch (error) {
    throw error instanceof TooManyBytesError ? limits.refuse() : error;
  }
}

export function createTooLarge(bytesMax: number): AppError {
  return new AppError("payload_too_large", `The file is larger than ${bytesMax} bytes.`, { param: "file" });
}

function createProblem(param: string, message: string): AppError {
  return new AppError("invalid_parameter", message, { param });
}

function createMissing(param: string): AppError {
  return new AppError("missing_parameter", `\`${param}\` is missing.`, { param });
}
