import { AppError } from "../../../platform/errors/app-error.ts";
import type { FormEntry, FormFile } from "../../files/index.ts";

/** The edit form in the JSON endpoint's fields; images are uploaded files or ids, in order. */
export type EditForm = { fields: Record<string, unknown>; images: readonly (string | FormFile)[] };

export const imageFieldNames = ["image", "image[]"];
const wholeNumbers = ["n", "output_compression", "partial_images", "expires_after"];

/** Converts a form's text values to the types of the JSON endpoint. Throws if it is not a valid edit form. */
export function readEditForm(entries: readonly FormEntry[]): EditForm {
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
export function describeEditForm({ fields, images }: EditForm): Buffer {
  const contents = images.map((image) =>
    typeof image === "string" ? image : [image.filename, image.spooled.sha256.toString("hex")],
  );
  return Buffer.from(JSON.stringify([fields, contents]));
}
