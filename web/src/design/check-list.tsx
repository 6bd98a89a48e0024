import { useId } from "react";
import { CheckField } from "./check-field.tsx";
import { InlineCodeText } from "./inline-code-text.tsx";

type CheckListProps = {
  legend: string;
  /** What an empty selection means. */
  allLabel: string;
  isLimited: boolean;
  onLimit(isLimited: boolean): void;
  options: readonly { value: string; label: string; hint?: string }[];
  chosen: readonly string[];
  onChoose(chosen: string[]): void;
  error?: string | null;
};

/** All items, or only the checked ones. */
export function CheckList(props: CheckListProps) {
  const { legend, allLabel, isLimited, onLimit, options, chosen, onChoose, error = null } = props;
  const errorId = useId();
  const toggle = (value: string, isChosen: boolean) => {
    const others = chosen.filter((each) => each !== value);
    onChoose(isChosen ? [...others, value] : others);
  };
  return (
    <fieldset className="flex min-w-0 flex-col gap-2" aria-describedby={error === null ? undefined : errorId}>
      <legend className="mb-1.5 text-sm font-medium">{legend}</legend>
      <CheckField label={allLabel} isChecked={!isLimited} onChange={(isAll) => onLimit(!isAll)} />
      {isLimited && (
        <ul className="grid max-h-60 gap-x-4 gap-y-2 overflow-y-auto rounded-md border border-line p-3 sm:grid-cols-2">
          {options.map(({ value, label, hint }) => (
            <li key={value}>
              <CheckField
                label={label}
                isChecked={chosen.includes(value)}
                onChange={(isChosen) => toggle(value, isChosen)}
                {...(hint === undefined ? {} : { hint })}
              />
            </li>
          ))}
        </ul>
      )}
      {error !== null && (
        <p id={errorId} className="text-sm text-danger">
          <InlineCodeText text={error} />
        </p>
      )}
    </fieldset>
  );
}
