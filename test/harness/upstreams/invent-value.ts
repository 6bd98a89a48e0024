import { isRecord } from "./vendor-refusal.ts";

const depthMax = 8;

/** A value that fits a JSON schema; always the same one. */
export function inventValue(schema: unknown, depth = 0): unknown {
  if (!isRecord(schema) || depth > depthMax) return null;
  const [choice] = [schema.enum, schema.anyOf, schema.oneOf].filter(Array.isArray);
  if (choice !== undefined) return choice === schema.enum ? choice[0] : inventValue(choice[0], depth + 1);
  if (schema.const !== undefined) return schema.const;
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  // Gemini writes the names of types in capitals.
  switch (String(types[0]).toLowerCase()) {
    case "string":
      return "text";
    case "integer":
    case "number":
      return typeof schema.minimum === "number" ? schema.minimum : 1;
    case "boolean":
      return true;
    case "array":
      return [inventValue(schema.items, depth + 1)];
    case "null":
      return null;
    default: {
      const properties = isRecord(schema.properties) ? schema.properties : {};
      return Object.fromEntries(Object.entries(properties).map(([key, inner]) => [key, inventValue(inner, depth + 1)]));
    }
  }
}
