import type { OptionValue } from "./media-options.ts";

/** How a value is written for a vendor. */
export const fieldForms = [
  /** A number as text: `"5"`. */
  "text",
  /** Seconds with their unit: `"5s"`. */
  "seconds",
  "milliseconds",
  /** Seconds as a number of frames, at `frames_per_second`, and `extra_frames` more. */
  "frames",
  /** `1024x768` as `{"width": 1024, "height": 768}`. */
  "object",
  /** `1024x768` as `1024*768`. */
  "star",
  /** `1024x768` as `1024:768`. */
  "colon",
  /** The only image. A request with several cannot use the route. */
  "first",
  /** The image if there is exactly one; several are written by another rule. */
  "sole",
] as const;
type FieldForm = (typeof fieldForms)[number];

/** How a field of a request is written for a vendor. A string is the vendor's name of the field. */
export type FieldRule =
  | string
  | {
      /** The vendor's name; dots separate nested objects. Absent: the vendor does it without being told. */
      field?: string;
      as?: FieldForm;
      frames_per_second?: number;
      extra_frames?: number;
      /** The vendor's word for each of our values. Others are not supported. */
      values?: Readonly<Record<string, OptionValue>>;
      /** The supported values; absent means all. */
      only?: readonly OptionValue[];
    };

/** The rules of a vendor, by our fields. Several rules of a field are all applied. */
export type FieldRules = Readonly<Record<string, FieldRule | readonly FieldRule[]>>;

/** What a route changes about its vendor's rules. */
export type RouteTerms = {
  fields?: Readonly<Record<string, FieldRule>>;
  /** Sent with every request, as they are. */
  parameters?: Readonly<Record<string, unknown>>;
  /** The vendor's name of each of our voices. */
  voices?: Readonly<Record<string, string>>;
};
