import type { VendorErrors } from "../read-vendor-reply.ts";
import type { FieldRules } from "../route-terms.ts";

/** A vendor that answers a text with its audio in one response. */
export type SpeechVendor = VendorErrors & {
  baseUrl: string;
  auth: { name: string; prefix: string };
  /** What only callers with a key may read; absent if the vendor has nothing of that kind. */
  keyPath?: string;
  /**
   * With the query. Written fields in braces, such as `{voice}`, are part of the path and not of the body; a parameter
   * of the query without its field is left out.
   */
  path: string | ((fields: Readonly<Record<string, unknown>>) => string);
  fields: FieldRules;
  /** The field with the upstream model; absent if the vendor has none. */
  modelField?: string;
  /** Sent with every request. */
  fixed?: Readonly<Record<string, unknown>>;
  /** Puts written fields where the vendor expects them, if names alone cannot. */
  arrange?(fields: Readonly<Record<string, unknown>>): Record<string, unknown>;
  /** The audio as text in JSON, and its place. Absent: the response is the audio. */
  encoded?: { at: string; as: "hex" | "base64" };
};
