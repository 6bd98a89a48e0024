import { AppError } from "../../../platform/errors/app-error.ts";
import type { FormEntry, FormFile } from "../../files/index.ts";

/** The form of an edit in the words of the JSON endpoint; its images in order, sent as files or named. */
export type EditForm = { fields: Record<string, unknown>; pictures: readonly (string | FormFile)[] };

export const pictureNames = ["image", "image[]"];
const wholeNumbers = ["n", "output_compression", "partial_images", "expires_after"];

/** What a form can say only as text becomes what the JSON endpoint would be sent. Throws for what is no form of an edit. */
export function readEditForm(entries: readonly FormEntry[]): EditForm {
  const fields: Record<string, unknown> = {};
  const pictures: (string | FormFile)[] = [];
  for (const { name, value } of entries) {
    if (pictureNames.includes(name)) {
      pictures.push(value);
    } else if (name === "mask") {
      throw new AppError("unsupported_capability", "No model here takes a mask: say in the prompt what is to change.", {
        param: name,
      });
    } else if (Object.hasOwn(fields, name)) {
      throw new AppError("invalid_parameter", `Send \`${name}\` once only.`, { param: name });
    } else {
      fields[name] = readValue(name, String(value));
    }
  }
  if (pictures.length > 0) return { fields, pictures };
  throw new AppError("missing_parameter", "`image` is required.", { param: "image" });
}

function readValue(name: string, text: string): unknown {
  if (name === "stream" && /^(true|false)$/i.test(text)) return text.toLowerCase() === "true";
  return wholeNumbers.includes(name) && /^-?\d{1,9}$/.test(text) ? Number(text) : text;
}

/** What makes two forms the same request: what is in them, not what lies between their parts. */
export function describeEditForm({ fields, pictures }: EditForm): Buffer {
  const contents = pictures.map((picture) =>
    typeof picture === "string" ? picture : [picture.filename, picture.spooled.sha256.toString("hex")],
  );
  return Buffer.from(JSON.stringify([fields, contents]));
}
