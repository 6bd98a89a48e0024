import type { Model, PriceList } from "../../api/fetch-catalog.ts";
import { Button } from "../../design/button.tsx";
import { Icon } from "../../design/icon.tsx";
import { gridOf } from "./compare-grid.ts";
import { comparedMax } from "./comparison.ts";
import { ModelPicker } from "./model-picker.tsx";

type ComparedModelsProps = {
  models: readonly Model[];
  prices: PriceList | undefined;
  chosenIds: readonly string[];
  onChange(ids: string[]): void;
};

/** The compared models; each can be replaced or removed. */
export function ComparedModels({ models, prices, chosenIds, onChange }: ComparedModelsProps) {
  const free = models.find(({ id }) => !chosenIds.includes(id));
  return (
    <div className="flex flex-col gap-3">
      <ul aria-label="Compared models" className={gridOf(chosenIds.length)}>
        {chosenIds.map((chosenId, index) => (
          <li key={chosenId} className="flex min-w-0 items-end gap-1">
            <div className="min-w-0 flex-1">
              <ModelPicker
                label={`Model ${index + 1}`}
                models={models.filter(({ id }) => id === chosenId || !chosenIds.includes(id))}
                prices={prices}
                chosenId={chosenId}
                onChoose={(id) => onChange(chosenIds.with(index, id))}
              />
            </div>
            <button
              type="button"
              aria-label={`Remove model ${index + 1}`}
              onClick={() => onChange(chosenIds.filter((id) => id !== chosenId))}
              className="flex size-10 shrink-0 items-center justify-center self-end rounded-md text-ink-soft hover:bg-sunken hover:text-ink"
            >
              <Icon name="close" />
            </button>
          </li>
        ))}
      </ul>
      <div className="flex flex-wrap gap-3">
        {free !== undefined && chosenIds.length < comparedMax && (
          <Button onClick={() => onChange([...chosenIds, free.id])}>
            <Icon name="plus" />
            Add a model
          </Button>
        )}
        <Button look="quiet" onClick={() => onChange(chosenIds.slice(0, 1))}>
          End comparison
        </Button>
      </div>
    </div>
  );
}
