import { Ajv2020 } from "ajv/dist/2020.js";

const formats: Record<string, (text: string) => boolean> = {
  date: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)),
  "date-time": (text) => /^\d{4}-\d{2}-\d{2}T.*Z$/.test(text) && !Number.isNaN(Date.parse(text)),
  email: (text) => /^[^@\s]+@[^@\s]+\.[a-z]+$/.test(text),
  uri: (text) => URL.canParse(text),
  uuid: (text) => /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(text),
};

export function addSchemaFormats(validator: Ajv2020): void {
  for (const [name, isValid] of Object.entries(formats)) validator.addFormat(name, isValid);
}

const ajv = new Ajv2020({ strict: false, logger: false });
addSchemaFormats(ajv);

/** The violations of a JSON Schema by a third-party validator; `null` when the value is valid. */
export function checkBySchema(schema: object, value: unknown): string | null {
  return ajv.validate(schema, value) ? null : ajv.errorsText();
}
