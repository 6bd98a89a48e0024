import { Type } from "typebox";
import type { AccountId, FileId } from "../../../lib/ids.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { describeValidationProblem } from "../../../platform/errors/validation-problem.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../../platform/http/endpoint-table.ts";
import { compileValidator } from "../../../platform/http/validation.ts";
import type { Files, FormDescription, FormEntry, FormFile } from "../../files/index.ts";
import { imageAnswerSchema, taskSchema } from "../read/task-schema.ts";
import { checkImage } from "./check-generation.ts";
import type { PrepareTask } from "./create-task.ts";
import { inlineErrors, type SubmissionRouteDependencies, submissionErrors } from "./generation-routes.ts";
import { type ImageBody, imageRequestSchema } from "./generation-schema.ts";
import { findInlineForm, type InlineForm } from "./openai-image-options.ts";

type EditRouteDependencies = SubmissionRouteDependencies & { files: Files };

/** The edit form in the JSON endpoint's fields; images are uploaded files or ids, in order. */
type EditForm = { fields: Record<string, unknown>; images: readonly (string | FormFile)[] };

const path = "/images/edits";
const imageFieldNames = ["image", "image[]"];
const wholeNumbers = ["n", "output_compression", "partial_images", "expires_after", "seed"];

const description = `Like \`POST /images/generations\` with \`input_images\`, for clients of OpenAI's API. Send the images in the form as \`image\` or
\`image[]\`; they are stored like uploads. Waits up to 120 seconds unless you send \`Prefer: respond-async\`. A \`mask\` is rejected.`;

const form: FormDescription = {
  names: "`model`, `prompt` and `image`",
  param: "image",
  filesMax: 32,
  fieldsMax: 32,
  // The longest prompt, in four-byte characters.
  fieldBytesMax: 400_000,
  fileNames: [...imageFieldNames, "mask"],
};

const { input_images: _, ...ownFields } = imageRequestSchema.properties;
/** For the reference only: the form's fields. The route itself validates the JSON endpoint's fields. */
const editSchema = Type.Unsafe<ImageBody>(
  Type.Object(
    { image: Type.Array(Type.String({ format: "binary" }), { minItems: 1 }), ...ownFields },
    { additionalProperties: false },
  ),
);

/** OpenAI's image edit endpoint. */
export function addImageEditRoutes(v1: HttpServer, dependencies: EditRouteDependencies): void {
  v1.register(async (http: HttpServer) => {
    await dependencies.files.acceptForms(http, form);
    addEditRoute(http, dependencies);
  });
}

function addEditRoute(http: HttpServer, { submit, prepareMedia, files }: EditRouteDependencies): void {
  const { config, schema, errors } = describeEndpoint("editImage", [
    ...submissionErrors,
    ...inlineErrors,
    "malformed_request",
  ]);
  http.post(
    path,
    {
      config,
      // The body schema is for the reference only: the body is a stream, checked as it is read.
      validatorCompiler: (given) => (given.httpPart === "body" ? () => true : compileValidator(given)),
      schema: {
        ...schema,
        summary: "Edit an image",
        description,
        tags: ["Images"],
        consumes: ["multipart/form-data"],
        headers: Type.Object({ "idempotency-key": Type.Optional(Type.String()), prefer: Type.Optional(Type.String()) }),
        body: editSchema,
        response: { 200: imageAnswerSchema, 202: taskSchema, ...errors },
      },
    },
    async (request, reply) => {
      const received = await files.receiveForm(request, reply, form);
      try {
        const edit = readEditForm(received.entries);
        // From here on, handled like a JSON request.
        request.body = parseBody(edit);
        if (request.headers["idempotency-key"] !== undefined) request.rawBody = describeEditForm(edit);
        const onKept = () => received.remove();
        const material = keepMaterial(files, edit, { prepareImage: prepareMedia(checkImage), onKept });
        return await submit<ImageBody>(request, reply, { path, ...material, findInlineForm: findEditForm });
      } finally {
        await received.remove();
      }
    },
  );
}

/** Converts a form's text values to the types of the JSON endpoint. Throws if it is not a valid edit form. */
function readEditForm(entries: readonly FormEntry[]): EditForm {
  const fields: Record<string, unknown> = {};
  const images: (string | FormFile)[] = [];
  for (const { name, value } of entries) {
    if (imageFieldNames.includes(name)) {
      images.push(value);
    } else if (name === "mask") {
      throw new AppError("unsupported_capability", "No model supports masks. Describe the change in the prompt.", {
        param: name,
      });
    } else if (Object.hasOwn(fields, name)) {
      throw new AppError("invalid_parameter", `Send \`${name}\` only once.`, { param: name });
    } else {
      fields[name] = readValue(name, String(value));
    }
  }
  if (images.length > 0) return { fields, images };
  throw new AppError("missing_parameter", "`image` is required.", { param: "image" });
}

function readValue(name: string, text: string): unknown {
  if (name === "stream" && /^(true|false)$/i.test(text)) return text.toLowerCase() === "true";
  return wholeNumbers.includes(name) && /^-?\d{1,9}$/.test(text) ? Number(text) : text;
}

/** Fingerprints a form by its contents: multipart boundaries differ between retries. */
function describeEditForm({ fields, images }: EditForm): Buffer {
  const contents = images.map((image) =>
    typeof image === "string" ? image : [image.filename, image.spooled.sha256.toString("hex")],
  );
  return Buffer.from(JSON.stringify([fields, contents]));
}

/** Only OpenAI clients use this endpoint. */
function findEditForm(...asked: Parameters<typeof findInlineForm>): InlineForm {
  return findInlineForm(...asked) ?? "url";
}

const validateBody = compileValidator({ schema: imageRequestSchema, method: "POST", url: path, httpPart: "body" });

function parseBody({ fields }: EditForm): ImageBody {
  if (validateBody(fields)) return fields as ImageBody;
  const { code, message, param } = describeValidationProblem(validateBody.errors ?? [], "body");
  throw new AppError(code, message, param === null ? {} : { param });
}

/** Stores the images once the rest of the request is valid, and deletes them if no task is created. */
function keepMaterial(
  files: Files,
  { images: sent }: EditForm,
  { prepareImage, onKept }: { prepareImage: PrepareTask<ImageBody>; onKept(): Promise<void> },
): { prepare: PrepareTask<ImageBody>; discard(): Promise<void> } {
  const kept: { accountId: AccountId; fileId: FileId }[] = [];

  async function prepare(asked: Parameters<PrepareTask<ImageBody>>[0]) {
    const { body, caller, offered } = asked;
    checkImage({ ...body, input_images: sent.map(() => "file_0") }, offered.model);
    const { accountId } = caller;
    const images: string[] = [];
    for (const [index, image] of sent.entries()) {
      if (typeof image === "string") {
        images.push(image);
        continue;
      }
      const wanted = { param: `input_images[${index}]`, kinds: ["image"] as const };
      const { signal } = new AbortController();
      const { id } = await files.keepUpload({ ...image, accountId, wanted, signal });
      kept.push({ accountId, fileId: id });
      images.push(id);
    }
    await onKept();
    return await prepareImage({ ...asked, body: { ...body, input_images: images } });
  }

  return {
    prepare: (asked) => prepare(asked).catch(nameFormField),
    async discard() {
      for (const { accountId, fileId } of kept.splice(0)) await files.deleteFile(accountId, fileId);
    },
  };
}

/** The JSON endpoint's `input_images` is `image` in the form. */
function nameFormField(error: unknown): never {
  if (!(error instanceof AppError) || !error.param?.startsWith("input_images")) throw error;
  const rename = (text: string): string => text.replaceAll("input_images", "image");
  throw new AppError(error.code, rename(error.message), { param: rename(error.param), cause: error });
}
