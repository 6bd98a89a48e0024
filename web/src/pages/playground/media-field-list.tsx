import type { Dropped } from "./file-field.tsx";
import { MediaFieldView } from "./media-field-view.tsx";
import type { MediaField } from "./media-fields.ts";
import type { MediaValue, MediaValues } from "./media-values.ts";

type MediaFieldListProps = {
  fields: readonly MediaField[];
  values: MediaValues;
  /** A file dropped outside the fields, and the field that accepts it. */
  dropped?: (Dropped & { name: string }) | null;
  errorAt(name: string): string | null;
  onChange(name: string, value: MediaValue): void;
};

/** Short fields stand side by side. */
export function MediaFieldList({ fields, values, dropped = null, errorAt, onChange }: MediaFieldListProps) {
  return (
    <div className="grid items-start gap-5 sm:grid-cols-2">
      {fields.map((field) => (
        <div key={field.name} className={field.kind === "choice" || field.kind === "number" ? "" : "sm:col-span-2"}>
          <MediaFieldView
            field={field}
            values={values}
            error={errorAt(field.name)}
            dropped={dropped?.name === field.name ? dropped : null}
            onChange={(value) => onChange(field.name, value)}
          />
        </div>
      ))}
    </div>
  );
}
