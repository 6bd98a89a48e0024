import type { Model } from "../../api/ask-catalog.ts";
import { FieldFrame, inputClasses } from "../../design/text-field.tsx";
import { nameType, typeNames } from "../../parts/format/model-words.ts";

type ModelChooserProps = { models: readonly Model[]; chosenId: string; onChoose(id: string): void };

/** The account's models, by what they make. */
export function ModelChooser({ models, chosenId, onChoose }: ModelChooserProps) {
  return (
    <FieldFrame label="Model">
      {({ inputId }) => (
        <select
          id={inputId}
          name="model"
          value={chosenId}
          onChange={(event) => onChoose(event.target.value)}
          className={`${inputClasses} border-line-strong`}
        >
          {Object.keys(typeNames)
            .filter((type) => models.some((model) => model.type === type))
            .map((type) => (
              <optgroup key={type} label={nameType(type)}>
                {models
                  .filter((model) => model.type === type)
                  .map((model) => (
                    <option key={model.id} value={model.id}>
                      {describeModel(model)}
                    </option>
                  ))}
              </optgroup>
            ))}
        </select>
      )}
    </FieldFrame>
  );
}

function describeModel({ name, status }: Model): string {
  return status === "available" ? name : `${name} (${status})`;
}
