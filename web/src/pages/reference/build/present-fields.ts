import type { Field, Variant } from "../../../api/reference-document.ts";
import type { Schema } from "./openapi-source.ts";

/** The fields of a body, by variant if it has several. */
export function presentBody(schema: Schema): { fields: Field[]; variants?: Variant[] } {
  const inner = presentInside(schema);
  return { fields: inner.fields ?? [], ...(inner.variants === undefined ? {} : { variants: inner.variants }) };
}

export function presentField(name: string, schema: Schema, { isRequired = false } = {}): Field {
  const facts = listFacts(schema);
  const values = listValues(schema);
  const text = schema.description ?? findOwn(schema)?.description;
  return {
    name,
    type: nameType(schema),
    ...(isRequired ? { isRequired: true as const } : {}),
    ...(text === undefined ? {} : { text: text.replaceAll("\n", " ") }),
    ...(facts.length === 0 ? {} : { facts }),
    ...(values.length === 0 ? {} : { values }),
    ...presentInside(schema),
  };
}

/** Nested fields: of an object, of the objects in a list, or of each variant. */
function presentInside(schema: Schema): Pick<Field, "fields" | "variants"> {
  const forms = listForms(schema);
  const objects = forms.flatMap((form) => findObjects(form));
  if (objects.length > 1) {
    return {
      variants: objects.map((object, index) => ({
        title: nameForm(object, index),
        fields: presentProperties(object),
        ...(object.description === undefined ? {} : { text: object.description.replaceAll("\n", " ") }),
      })),
    };
  }
  const [object] = objects;
  return object === undefined ? {} : { fields: presentProperties(object) };
}

/** The object schemas within a value or its lists. */
function findObjects(schema: Schema): Schema[] {
  if (schema.properties !== undefined && Object.keys(schema.properties).length > 0) return [schema];
  if (schema.items !== undefined) return listForms(schema.items).flatMap(findObjects);
  if (typeof schema.additionalProperties === "object")
    return listForms(schema.additionalProperties).flatMap(findObjects);
  return [];
}

function presentProperties({ properties = {}, required = [] }: Schema): Field[] {
  return Object.entries(properties).map(([name, schema]) =>
    presentField(name, schema, { isRequired: required.includes(name) }),
  );
}

/** A variant is named by its discriminator: a field with a single allowed value. */
function nameForm({ title, properties = {} }: Schema, index: number): string {
  if (title !== undefined) return title;
  const marks = Object.entries(properties).filter(([, field]) => field.enum?.length === 1);
  const [name, mark] = marks.find(([field]) => ["type", "role", "object"].includes(field)) ?? marks[0] ?? [];
  return name === undefined || mark === undefined ? `Form ${index + 1}` : `${name}: ${JSON.stringify(mark.enum?.[0])}`;
}

/** The alternatives of a value, without `null`. */
function listForms(schema: Schema): Schema[] {
  const forms = schema.anyOf ?? schema.oneOf;
  return forms === undefined ? [schema] : forms.filter((form) => form.type !== "null").flatMap(listForms);
}

/** The only alternative of a nullable value. */
function findOwn(schema: Schema): Schema | undefined {
  const forms = listForms(schema);
  return forms.length === 1 ? forms[0] : undefined;
}

function nameType(schema: Schema): string {
  const names = [...new Set(listForms(schema).map((form) => nameOne(form)))];
  const withNull = isNullable(schema) ? [...names.filter((name) => name !== "null"), "null"] : names;
  return withNull.join(" or ");
}

function isNullable(schema: Schema): boolean {
  const forms = schema.anyOf ?? schema.oneOf;
  if (forms !== undefined) return forms.some(isNullable);
  return schema.type === "null" || (Array.isArray(schema.type) && schema.type.includes("null"));
}

function nameOne({ type, format, items, properties, additionalProperties, enum: values }: Schema): string {
  const [name] = (Array.isArray(type) ? type.filter((word) => word !== "null") : [type]) as [string | undefined];
  if (format === "binary") return "file";
  if (name === "array") return items === undefined ? "list" : `list of ${nameMany(nameType(items))}`;
  if (name === "object" && properties === undefined && typeof additionalProperties === "object") {
    return `map of ${nameMany(nameType(additionalProperties))}`;
  }
  return name ?? (values === undefined ? "any value" : typeof values[0]);
}

function nameMany(name: string): string {
  return name.includes(" ") ? name.replace(/^(\S+?)s?( |$)/, "$1s$2") : `${name}s`;
}

function listValues(schema: Schema): string[] {
  const forms = listForms(schema).map((form) => (form.type === "array" ? (form.items ?? {}) : form));
  return forms.flatMap((form) => form.enum ?? []).map((value) => JSON.stringify(value));
}

/** Default and limits, from whichever alternative has them. */
function listFacts(schema: Schema): string[] {
  const facts = listForms(schema).flatMap((form) => [
    ...boundNumbers(form),
    ...boundCount(form.minLength, form.maxLength, "character"),
    ...boundCount(form.minItems, form.maxItems, "item"),
    ...(form.maxProperties === undefined ? [] : [`at most ${form.maxProperties} entries`]),
    ...(form.format === undefined || form.format === "binary" ? [] : [`format ${form.format}`]),
    ...(form.pattern === undefined ? [] : [`matches ${form.pattern}`]),
  ]);
  const given = schema.default === undefined ? [] : [`default ${JSON.stringify(schema.default)}`];
  return [...new Set([...given, ...facts])];
}

function boundNumbers({ minimum, maximum, exclusiveMinimum }: Schema): string[] {
  if (exclusiveMinimum !== undefined)
    return [`above ${exclusiveMinimum}${maximum === undefined ? "" : `, to ${maximum}`}`];
  if (minimum !== undefined && maximum !== undefined) return [`${minimum} to ${maximum}`];
  if (minimum !== undefined) return [`at least ${minimum}`];
  return maximum === undefined ? [] : [`at most ${maximum}`];
}

function boundCount(min: number | undefined, max: number | undefined, unit: string): string[] {
  const units = (count: number): string => `${count} ${unit}${count === 1 ? "" : "s"}`;
  if (min !== undefined && max !== undefined) return [min === max ? units(max) : `${min} to ${units(max)}`];
  if (max !== undefined) return [`at most ${units(max)}`];
  // "Required" already implies at least one.
  return min === undefined || min === 1 ? [] : [`at least ${units(min)}`];
}
