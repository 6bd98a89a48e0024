import { lazy, Suspense } from "react";
import { SelectField, type SelectOption } from "./select-field.tsx";

/** As many as are seen at once. */
const optionsSeenMax = 12;

/** Loaded where there are so many. */
const Combobox = lazy(async () => ({ default: (await import("./combobox.tsx")).Combobox }));

type ChoiceFieldProps = {
  label: string;
  options: readonly SelectOption[];
  value: string;
  onChange(value: string): void;
};

/** A filter above a list: the browser's own choice of a few, and of many one that can be searched. */
export function ChoiceField(props: ChoiceFieldProps) {
  const select = <SelectField isCompact {...props} />;
  if (props.options.length <= optionsSeenMax) return select;
  return (
    <Suspense fallback={select}>
      <Combobox {...props} />
    </Suspense>
  );
}
