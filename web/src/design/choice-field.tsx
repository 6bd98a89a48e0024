import { lazy, Suspense } from "react";
import { SelectField, type SelectOption } from "./select-field.tsx";

/** As many as fit into an open select. */
const optionsSeenMax = 12;

/** Loaded only for long lists. */
const Combobox = lazy(async () => ({ default: (await import("./combobox.tsx")).Combobox }));

type ChoiceFieldProps = {
  label: string;
  options: readonly SelectOption[];
  value: string;
  onChange(value: string): void;
};

/** A filter: a native select for a few options, a searchable combobox for many. */
export function ChoiceField(props: ChoiceFieldProps) {
  const select = <SelectField isCompact {...props} />;
  if (props.options.length <= optionsSeenMax) return select;
  return (
    <Suspense fallback={select}>
      <Combobox {...props} />
    </Suspense>
  );
}
